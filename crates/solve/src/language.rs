//! Regular languages: the strings that meet several literals at once (patterns, lists of words, bounds
//! in alphabetical order, lengths), each wanted or not wanted.
//!
//! Characters that no literal tells apart form one class. Every literal is a machine over these
//! classes, made deterministic on the way (Rabin and Scott 1959); the language is the product of the
//! machines. Look-around assertions are decided between two characters, where both are known, so `^`,
//! `$`, `\b` and their multi-line forms mean what they mean to the `regex` crate. What has no
//! counterpart here, or takes too many states, is [`Unfit`], never a smaller language.

mod alphabet;
mod machine;

use ioco_sts::{BinaryOp, Pattern};
use rustc_hash::FxHashMap;

use crate::outcome::Deadline;
use alphabet::{Alphabet, Sets, rank, readable};
use machine::{Component, Kind};

/// States of the product, and nodes of one pattern.
const MAX_STATES: usize = 4_000;
const MAX_NODES: usize = 8_000;
/// Sets of characters that are told apart.
const MAX_SETS: usize = 400;

/// Of longer words only one is made.
const MAX_LISTED_LENGTH: usize = 200;
/// Characters of one class that are tried in one place.
const MAX_CHARACTERS: usize = 64;

/// What a string is tested by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Matches(Pattern),
    /// It is one of these.
    OneOf(Vec<String>),
    /// It comes before or after this one: `<`, `<=`, `>` or `>=`.
    Ordered(BinaryOp, String),
    /// Its length is between these.
    Length(i64, i64),
}

/// `prefix + s + suffix` passes the test, or does not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Literal {
    pub prefix: String,
    pub suffix: String,
    pub test: Test,
    pub want: bool,
}

/// There is no such language here: too many states, or an assertion that is not understood.
#[derive(Debug)]
pub(crate) struct Unfit;

type Ranges = Vec<(u32, u32)>;

/// The product machine; state 0 is where words begin.
pub(crate) struct Language {
    classes: Vec<Ranges>,
    /// By state and class.
    next: Vec<Vec<u32>>,
    accepts: Vec<bool>,
    /// By number of characters left: the states that can accept after exactly so many.
    exact: Vec<Vec<bool>>,
    /// Some word can be made longer without end.
    pub infinite: bool,
}

impl Language {
    pub fn new(literals: &[Literal], deadline: &Deadline<'_>) -> Result<Language, Unfit> {
        let mut sets = Sets::default();
        let mut machines = Vec::new();
        for literal in literals {
            for c in literal.prefix.chars().chain(literal.suffix.chars()) {
                sets.character(c)?;
            }
            let kind = Kind::new(&literal.test, &mut sets)?;
            machines.push((kind, literal));
        }
        let (classes, members) = sets.classes(deadline)?;
        let alphabet = Alphabet { classes, members };
        let mut components = Vec::new();
        for (kind, literal) in machines {
            components.push(Component::new(kind, literal, &alphabet));
        }
        let cost: u64 = 1 + components.iter().map(Component::cost).sum::<u64>();
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let start: Vec<u32> = components.iter_mut().map(|c| c.start(&alphabet)).collect();
        numbers.insert(start.clone(), 0);
        let mut states = vec![start];
        let mut next: Vec<Vec<u32>> = Vec::new();
        let mut accepts = Vec::new();
        while next.len() < states.len() {
            let state = states[next.len()].clone();
            let mut row = Vec::with_capacity(alphabet.classes.len());
            for class in 0..alphabet.classes.len() {
                if !deadline.spend(cost) {
                    return Err(Unfit);
                }
                let target: Vec<u32> = components
                    .iter_mut()
                    .zip(&state)
                    .map(|(c, s)| c.step(*s, class, &alphabet))
                    .collect();
                let count = states.len() as u32;
                let number = *numbers.entry(target).or_insert_with_key(|target| {
                    states.push(target.clone());
                    count
                });
                row.push(number);
            }
            next.push(row);
            let all = components.iter_mut().zip(&state);
            accepts.push(all.fold(true, |all, (c, s)| c.accepts(*s, &alphabet) && all));
            if states.len() > MAX_STATES {
                return Err(Unfit);
            }
        }
        let mut language = Language {
            classes: alphabet.classes,
            exact: vec![accepts.clone()],
            next,
            accepts,
            infinite: false,
        };
        language.infinite = language.has_cycle();
        Ok(language)
    }

    /// States from which a word can still be finished.
    fn live(&self) -> Vec<bool> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.next.len()];
        for (state, row) in self.next.iter().enumerate() {
            for target in row {
                before[*target as usize].push(state as u32);
            }
        }
        let mut live = self.accepts.clone();
        let mut open: Vec<u32> = (0..live.len() as u32)
            .filter(|s| live[*s as usize])
            .collect();
        while let Some(state) = open.pop() {
            for source in &before[state as usize] {
                if !std::mem::replace(&mut live[*source as usize], true) {
                    open.push(*source);
                }
            }
        }
        live
    }

    pub fn is_empty(&self) -> bool {
        !self.live()[0]
    }

    /// Whether live states lie on a cycle: all of them are reachable. Kahn's algorithm.
    fn has_cycle(&self) -> bool {
        let live = self.live();
        let mut incoming = vec![0_u32; self.next.len()];
        let edges = |state: usize| {
            let mut targets: Vec<u32> = self.next[state].clone();
            targets.sort_unstable();
            targets.dedup();
            targets.retain(|t| live[*t as usize]);
            targets
        };
        for state in (0..self.next.len()).filter(|s| live[*s]) {
            for target in edges(state) {
                incoming[target as usize] += 1;
            }
        }
        let mut open: Vec<usize> = (0..self.next.len())
            .filter(|s| live[*s] && incoming[*s] == 0)
            .collect();
        let mut left = live.iter().filter(|l| **l).count();
        while let Some(state) = open.pop() {
            left -= 1;
            for target in edges(state) {
                incoming[target as usize] -= 1;
                if incoming[target as usize] == 0 {
                    open.push(target as usize);
                }
            }
        }
        left > 0
    }

    /// Longer words than this repeat a state: a finite language has none.
    pub fn longest(&self) -> usize {
        self.next.len()
    }

    /// Whether there is a word of this length; false also where the steps ran out.
    pub fn has_length(&mut self, length: usize, deadline: &Deadline<'_>) -> bool {
        while self.exact.len() <= length {
            if !deadline.spend(1 + self.next.len() as u64 / 64) {
                return false;
            }
            let Some(last) = self.exact.last() else {
                return false;
            };
            let row = |row: &Vec<u32>| row.iter().any(|t| last[*t as usize]);
            let before = self.next.iter().map(row).collect();
            self.exact.push(before);
        }
        self.exact[length][0]
    }

    /// Adds words of one length, at most `most`; whether these are all there are. `below` picks where
    /// to begin among the choices; zero takes them in order.
    pub fn words(
        &mut self,
        length: usize,
        most: usize,
        below: &mut dyn FnMut(u32) -> u32,
        deadline: &Deadline<'_>,
        found: &mut Vec<String>,
    ) -> bool {
        if !self.has_length(length, deadline) {
            return !deadline.is_over();
        }
        let most = found.len() + most;
        let mut text = String::new();
        if length > MAX_LISTED_LENGTH {
            return self.long_word(length, below, deadline, found);
        }
        self.extend(0, length, most, below, deadline, &mut text, found)
    }

    /// Adds one word, character by character: long words are not listed, nor is there stack for it.
    fn long_word(
        &self,
        length: usize,
        below: &mut dyn FnMut(u32) -> u32,
        deadline: &Deadline<'_>,
        found: &mut Vec<String>,
    ) -> bool {
        let (mut state, mut text) = (0_u32, String::new());
        for left in (0..length).rev() {
            if !deadline.step() {
                return false;
            }
            let row = &self.next[state as usize];
            let fitting = (0..row.len()).filter(|c| self.exact[left][row[*c] as usize]);
            let classes: Vec<usize> = fitting.collect();
            let turn = below(classes.len() as u32) as usize;
            let Some(class) = classes.get(turn) else {
                return false;
            };
            let (mut characters, _) = readable(&self.classes[*class]);
            characters.sort_by_key(|c| rank(*c));
            let turn = below(characters.len() as u32) as usize;
            text.extend(characters.get(turn));
            state = row[*class];
        }
        found.push(text);
        false
    }

    #[allow(clippy::too_many_arguments, reason = "one walk with all it needs")]
    fn extend(
        &self,
        state: u32,
        left: usize,
        most: usize,
        below: &mut dyn FnMut(u32) -> u32,
        deadline: &Deadline<'_>,
        text: &mut String,
        found: &mut Vec<String>,
    ) -> bool {
        if found.len() >= most || !deadline.step() {
            return false;
        }
        if left == 0 {
            found.push(text.clone());
            return true;
        }
        let row = &self.next[state as usize];
        let fitting: Vec<usize> = (0..row.len())
            .filter(|c| self.exact[left - 1][row[*c] as usize])
            .collect();
        // Letters before digits before the rest, so that words are readable.
        let mut choices: Vec<(char, u32)> = Vec::new();
        let mut all = true;
        for class in &fitting {
            let (characters, complete) = readable(&self.classes[*class]);
            all &= complete;
            choices.extend(characters.into_iter().map(|c| (c, row[*class])));
        }
        choices.sort_by_key(|(c, _)| rank(*c));
        let turn = below(choices.len() as u32) as usize;
        choices.rotate_left(turn);
        for (c, target) in choices {
            text.push(c);
            all &= self.extend(target, left - 1, most, below, deadline, text, found);
            text.pop();
        }
        all
    }
}

#[cfg(test)]
mod tests;
