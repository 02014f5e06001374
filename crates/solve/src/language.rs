//! Regular languages: the strings that meet several literals at once (patterns, lists of words, bounds
//! in alphabetical order, lengths), each wanted or not wanted.
//!
//! Characters that no literal tells apart form one class. Every literal is a machine over these
//! classes, made deterministic on the way (Rabin and Scott 1959); the language is the product of the
//! machines. Look-around assertions are decided between two characters, where both are known, so `^`,
//! `$`, `\b` and their multi-line forms mean what they mean to the `regex` crate. What has no
//! counterpart here, or takes too many states, is [`Unfit`], never a smaller language.

use ioco_sts::{BinaryOp, Pattern};
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use rustc_hash::FxHashMap;

use crate::outcome::Deadline;

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

fn rank(c: char) -> (u8, char) {
    let group = match c {
        'a'..='z' => 0,
        '0'..='9' => 1,
        'A'..='Z' => 2,
        ' '..='~' => 3,
        _ => 4,
    };
    (group, c)
}

/// Some characters of a class, and whether these are all.
fn readable(ranges: &Ranges) -> (Vec<char>, bool) {
    let most = MAX_CHARACTERS;
    let mut found: Vec<char> = Vec::new();
    let size: u64 = ranges.iter().map(|(a, b)| u64::from(b - a) + 1).sum();
    if size <= most as u64 {
        let all = ranges.iter().flat_map(|(a, b)| *a..=*b);
        found.extend(all.filter_map(char::from_u32));
        return (found, true);
    }
    for wanted in [('a', 'z'), ('0', '9'), ('A', 'Z'), (' ', '~')] {
        for (low, high) in ranges {
            let (low, high) = (
                (*low).max(u32::from(wanted.0)),
                (*high).min(u32::from(wanted.1)),
            );
            let rest = most.saturating_sub(found.len());
            let some = (low..=high).filter_map(char::from_u32);
            let new: Vec<char> = some.filter(|c| !found.contains(c)).take(rest).collect();
            found.extend(new);
        }
    }
    for (low, high) in ranges {
        let rest = most.saturating_sub(found.len());
        let some = (*low..=*high).filter_map(char::from_u32);
        let new: Vec<char> = some
            .filter(|c| !c.is_ascii() || c.is_ascii_control())
            .take(rest)
            .collect();
        found.extend(new);
    }
    (found, false)
}

/// The sets of characters that literals speak of.
#[derive(Default)]
struct Sets {
    sets: Vec<Ranges>,
}

impl Sets {
    fn add(&mut self, ranges: Ranges) -> Result<usize, Unfit> {
        if let Some(known) = self.sets.iter().position(|s| *s == ranges) {
            return Ok(known);
        }
        if self.sets.len() >= MAX_SETS {
            return Err(Unfit);
        }
        self.sets.push(ranges);
        Ok(self.sets.len() - 1)
    }

    fn character(&mut self, c: char) -> Result<usize, Unfit> {
        self.add(vec![(u32::from(c), u32::from(c))])
    }

    /// The classes of characters that are in the same sets, and by set which classes are in it.
    fn classes(self, deadline: &Deadline<'_>) -> Result<(Vec<Ranges>, Vec<Vec<bool>>), Unfit> {
        let mut cuts: Vec<u32> = vec![0, 0xD800, 0xE000, 0x11_0000];
        for (low, high) in self.sets.iter().flatten() {
            cuts.extend([*low, high + 1]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        let work = cuts.len() as u64 * (1 + self.sets.len() as u64);
        if !deadline.spend(work / 64) {
            return Err(Unfit);
        }
        let mut found: FxHashMap<Vec<bool>, usize> = FxHashMap::default();
        let mut classes: Vec<Ranges> = Vec::new();
        let mut signatures: Vec<Vec<bool>> = Vec::new();
        for pair in cuts.windows(2) {
            let (low, high) = (pair[0], pair[1] - 1);
            // Half of a surrogate pair is no character.
            if low == 0xD800 {
                continue;
            }
            let within = |set: &Ranges| {
                let after = set.partition_point(|(start, _)| *start <= low);
                after > 0 && set[after - 1].1 >= low
            };
            let signature: Vec<bool> = self.sets.iter().map(within).collect();
            let class = *found.entry(signature).or_insert_with_key(|signature| {
                signatures.push(signature.clone());
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[class].push((low, high));
        }
        let members = (0..self.sets.len())
            .map(|set| signatures.iter().map(|s| s[set]).collect())
            .collect();
        Ok((classes, members))
    }
}

struct Alphabet {
    classes: Vec<Ranges>,
    members: Vec<Vec<bool>>,
}

impl Alphabet {
    fn class_of(&self, c: char) -> usize {
        let code = u32::from(c);
        let holds = |ranges: &Ranges| ranges.iter().any(|(a, b)| *a <= code && code <= *b);
        self.classes.iter().position(holds).unwrap_or_default()
    }
}

/// A node of a pattern's machine.
#[derive(Clone, Debug)]
enum Node {
    Set(usize, u32),
    Split(Vec<u32>),
    Look(Look, u32),
    Match,
}

/// The sets that assertions look for.
#[derive(Clone, Copy, Default)]
struct LookSets {
    newline: Option<usize>,
    word: Option<usize>,
    ascii_word: Option<usize>,
}

/// A literal as a machine: what its states are and where they lead.
enum Kind {
    Pattern {
        nodes: Vec<Node>,
        start: u32,
        looks: LookSets,
    },
    /// By word its characters, as sets.
    OneOf(Vec<Vec<usize>>),
    /// The word's characters, as sets, with the sets of the characters below them.
    Ordered(BinaryOp, Vec<(usize, usize)>),
    Length(i64, i64),
}

impl Kind {
    fn new(test: &Test, sets: &mut Sets) -> Result<Kind, Unfit> {
        Ok(match test {
            Test::Matches(pattern) => {
                let hir = regex_syntax::parse(pattern.text()).map_err(|_| Unfit)?;
                let mut program = Program {
                    nodes: vec![Node::Match],
                    sets,
                    looks: LookSets::default(),
                };
                let start = program.add(&hir, 0)?;
                let Program { nodes, looks, .. } = program;
                Kind::Pattern {
                    nodes,
                    start,
                    looks,
                }
            }
            Test::OneOf(words) => Kind::OneOf(
                words
                    .iter()
                    .map(|w| w.chars().map(|c| sets.character(c)).collect())
                    .collect::<Result<_, _>>()?,
            ),
            Test::Ordered(op, word) => {
                let mut letters = Vec::new();
                for c in word.chars() {
                    let below = match u32::from(c) {
                        0 => Vec::new(),
                        code => vec![(0, code - 1)],
                    };
                    letters.push((sets.character(c)?, sets.add(below)?));
                }
                Kind::Ordered(*op, letters)
            }
            Test::Length(min, max) => Kind::Length(*min, *max),
        })
    }
}

struct Program<'s> {
    nodes: Vec<Node>,
    sets: &'s mut Sets,
    looks: LookSets,
}

impl Program<'_> {
    fn node(&mut self, node: Node) -> Result<u32, Unfit> {
        if self.nodes.len() >= MAX_NODES {
            return Err(Unfit);
        }
        self.nodes.push(node);
        Ok((self.nodes.len() - 1) as u32)
    }

    /// The node that starts `hir` and goes on at `after`.
    fn add(&mut self, hir: &Hir, after: u32) -> Result<u32, Unfit> {
        match hir.kind() {
            HirKind::Empty => Ok(after),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).map_err(|_| Unfit)?;
                let mut next = after;
                for c in text.chars().rev() {
                    let set = self.sets.character(c)?;
                    next = self.node(Node::Set(set, next))?;
                }
                Ok(next)
            }
            HirKind::Class(class) => {
                let class = match class {
                    Class::Unicode(class) => class.clone(),
                    Class::Bytes(class) => class.to_unicode_class().ok_or(Unfit)?,
                };
                let ranges = class.ranges().iter();
                let ranges = ranges.map(|r| (u32::from(r.start()), u32::from(r.end())));
                let set = self.sets.add(ranges.collect())?;
                self.node(Node::Set(set, after))
            }
            HirKind::Look(look) => {
                match look {
                    Look::Start | Look::End => {}
                    Look::StartLF | Look::EndLF => {
                        self.looks.newline = Some(self.sets.character('\n')?);
                    }
                    Look::WordAscii | Look::WordAsciiNegate => {
                        let word = [(48, 57), (65, 90), (95, 95), (97, 122)];
                        self.looks.ascii_word = Some(self.sets.add(word.to_vec())?);
                    }
                    Look::WordUnicode | Look::WordUnicodeNegate => {
                        let hir = regex_syntax::parse(r"\w").map_err(|_| Unfit)?;
                        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
                            return Err(Unfit);
                        };
                        let ranges = class.ranges().iter();
                        let word = ranges.map(|r| (u32::from(r.start()), u32::from(r.end())));
                        self.looks.word = Some(self.sets.add(word.collect())?);
                    }
                    _ => return Err(Unfit),
                }
                self.node(Node::Look(*look, after))
            }
            HirKind::Capture(capture) => self.add(&capture.sub, after),
            HirKind::Concat(parts) => {
                let mut next = after;
                for part in parts.iter().rev() {
                    next = self.add(part, next)?;
                }
                Ok(next)
            }
            HirKind::Alternation(parts) => {
                let starts = parts
                    .iter()
                    .map(|p| self.add(p, after))
                    .collect::<Result<Vec<_>, _>>()?;
                self.node(Node::Split(starts))
            }
            HirKind::Repetition(repetition) => {
                let mut next = match repetition.max {
                    None => {
                        let turn = self.node(Node::Split(Vec::new()))?;
                        let again = self.add(&repetition.sub, turn)?;
                        self.nodes[turn as usize] = Node::Split(vec![again, after]);
                        turn
                    }
                    Some(max) => {
                        let mut next = after;
                        for _ in repetition.min..max {
                            let once = self.add(&repetition.sub, next)?;
                            next = self.node(Node::Split(vec![once, after]))?;
                        }
                        next
                    }
                };
                for _ in 0..repetition.min {
                    let before = self.nodes.len();
                    next = self.add(&repetition.sub, next)?;
                    if self.nodes.len() == before {
                        break;
                    }
                }
                Ok(next)
            }
        }
    }
}

/// A state: the nodes that are waiting with what the last character was, how far words agree, or how
/// many characters there were. `MATCHED` accepts whatever follows.
type Key = Vec<u32>;

const MATCHED: u32 = u32::MAX;
const LESS: u32 = u32::MAX - 1;
const GREATER: u32 = u32::MAX - 2;
/// Where no character was yet.
const NO_CHARACTER: u32 = u32::MAX - 3;

struct Component<'l> {
    kind: Kind,
    literal: &'l Literal,
    numbers: FxHashMap<Key, u32>,
    keys: Vec<Key>,
    /// By state and class, where it was asked for.
    steps: FxHashMap<(u32, u32), u32>,
    accepting: FxHashMap<u32, bool>,
    suffix: Vec<usize>,
    prefix: Vec<usize>,
}

impl<'l> Component<'l> {
    fn new(kind: Kind, literal: &'l Literal, alphabet: &Alphabet) -> Component<'l> {
        let classes = |text: &str| text.chars().map(|c| alphabet.class_of(c)).collect();
        Component {
            kind,
            literal,
            numbers: FxHashMap::default(),
            keys: Vec::new(),
            steps: FxHashMap::default(),
            accepting: FxHashMap::default(),
            suffix: classes(&literal.suffix),
            prefix: classes(&literal.prefix),
        }
    }

    /// What one step of the machine counts for.
    fn cost(&self) -> u64 {
        match &self.kind {
            Kind::Pattern { nodes, .. } => 1 + nodes.len() as u64 / 64,
            _ => 1,
        }
    }

    fn number(&mut self, key: Key) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    fn start(&mut self, alphabet: &Alphabet) -> u32 {
        let key = match &self.kind {
            Kind::Pattern { start, .. } => vec![NO_CHARACTER, *start],
            Kind::OneOf(words) => {
                let mut key = vec![0];
                key.extend(0..words.len() as u32);
                key
            }
            Kind::Ordered(..) | Kind::Length(..) => vec![0],
        };
        let mut state = self.number(key);
        for class in self.prefix.clone() {
            state = self.step(state, class, alphabet);
        }
        state
    }

    fn step(&mut self, state: u32, class: usize, alphabet: &Alphabet) -> u32 {
        if let Some(known) = self.steps.get(&(state, class as u32)) {
            return *known;
        }
        let key = self.stepped(&self.keys[state as usize], class, alphabet);
        let target = self.number(key);
        self.steps.insert((state, class as u32), target);
        target
    }

    fn stepped(&self, key: &Key, class: usize, alphabet: &Alphabet) -> Key {
        let within = |set: usize| alphabet.members[set][class];
        match &self.kind {
            Kind::Pattern { nodes, start, .. } => {
                if key[0] == MATCHED {
                    return key.clone();
                }
                let Some(reached) = self.closure(key, Some(class), alphabet) else {
                    return vec![MATCHED];
                };
                // A match may begin at every character.
                let mut targets: Vec<u32> = vec![*start];
                for node in reached {
                    if let Node::Set(set, next) = &nodes[node as usize]
                        && within(*set)
                    {
                        targets.push(*next);
                    }
                }
                targets.sort_unstable();
                targets.dedup();
                let mut next = vec![self.remembered(class, alphabet)];
                next.extend(targets);
                next
            }
            Kind::OneOf(words) => {
                let position = key[0] as usize;
                let mut next = vec![key[0].saturating_add(1)];
                let agrees = |w: &&u32| {
                    words[**w as usize]
                        .get(position)
                        .is_some_and(|s| within(*s))
                };
                next.extend(key[1..].iter().filter(agrees));
                if next.len() == 1 {
                    // No word is left: how many characters there were does not matter.
                    next[0] = u32::MAX;
                }
                next
            }
            Kind::Ordered(_, letters) => match key[0] {
                LESS | GREATER => key.clone(),
                position => vec![match letters.get(position as usize) {
                    None => GREATER,
                    Some((same, _)) if within(*same) => position + 1,
                    Some((_, below)) if within(*below) => LESS,
                    Some(_) => GREATER,
                }],
            },
            Kind::Length(min, max) => {
                // Beyond the last bound all lengths are alike.
                let last = if *max == i64::MAX {
                    *min
                } else {
                    max.saturating_add(1)
                };
                vec![(i64::from(key[0]) + 1).min(last.max(0)) as u32]
            }
        }
    }

    /// What assertions need to know of the last character; the same for all where there are none.
    fn remembered(&self, class: usize, alphabet: &Alphabet) -> u32 {
        let Kind::Pattern { looks, .. } = &self.kind else {
            return 0;
        };
        let bit = |set: Option<usize>, bit: u32| match set {
            Some(set) if alphabet.members[set][class] => bit,
            _ => 0,
        };
        bit(looks.newline, 1) | bit(looks.word, 2) | bit(looks.ascii_word, 4)
    }

    /// The nodes that wait for a character, where the next one is of `class` or the text ends; `None`
    /// where a match is complete.
    fn closure(&self, key: &Key, class: Option<usize>, alphabet: &Alphabet) -> Option<Vec<u32>> {
        let Kind::Pattern { nodes, .. } = &self.kind else {
            return Some(Vec::new());
        };
        let before = (key[0] != NO_CHARACTER).then_some(key[0]);
        let after = class.map(|class| self.remembered(class, alphabet));
        let has = |side: Option<u32>, bit: u32| side.is_some_and(|s| s & bit != 0);
        let mut seen = vec![false; nodes.len()];
        let mut open: Vec<u32> = key[1..].to_vec();
        let mut waiting = Vec::new();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            match &nodes[node as usize] {
                Node::Match => return None,
                Node::Set(..) => waiting.push(node),
                Node::Split(targets) => open.extend(targets),
                Node::Look(look, next) => {
                    let holds = match look {
                        Look::Start => before.is_none(),
                        Look::End => after.is_none(),
                        Look::StartLF => before.is_none() || has(before, 1),
                        Look::EndLF => after.is_none() || has(after, 1),
                        Look::WordUnicode => has(before, 2) != has(after, 2),
                        Look::WordUnicodeNegate => has(before, 2) == has(after, 2),
                        Look::WordAscii => has(before, 4) != has(after, 4),
                        Look::WordAsciiNegate => has(before, 4) == has(after, 4),
                        _ => false,
                    };
                    if holds {
                        open.push(*next);
                    }
                }
            }
        }
        Some(waiting)
    }

    fn accepts(&mut self, state: u32, alphabet: &Alphabet) -> bool {
        if let Some(known) = self.accepting.get(&state) {
            return *known;
        }
        let mut end = state;
        for class in self.suffix.clone() {
            end = self.step(end, class, alphabet);
        }
        let key = &self.keys[end as usize];
        let passes = match &self.kind {
            Kind::Pattern { .. } => {
                key[0] == MATCHED || self.closure(key, None, alphabet).is_none()
            }
            Kind::OneOf(words) => key[1..]
                .iter()
                .any(|w| words[*w as usize].len() == key[0] as usize),
            Kind::Ordered(op, letters) => {
                let less =
                    key[0] == LESS || (key[0] != GREATER && (key[0] as usize) < letters.len());
                let equal = !less && key[0] != GREATER;
                match op {
                    BinaryOp::Lt => less,
                    BinaryOp::Le => less || equal,
                    BinaryOp::Gt => !less && !equal,
                    _ => !less,
                }
            }
            Kind::Length(min, max) => {
                let length = i64::from(key[0]);
                *min <= length && length <= *max
            }
        };
        let accepts = passes == self.literal.want;
        self.accepting.insert(state, accepts);
        accepts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(test: Test, want: bool) -> Literal {
        Literal {
            prefix: String::new(),
            suffix: String::new(),
            test,
            want,
        }
    }

    fn matches(pattern: &str) -> Test {
        Test::Matches(Pattern::new(pattern).expect("a regular expression"))
    }

    fn words(literals: &[Literal], length: usize) -> (Vec<String>, bool) {
        let deadline = Deadline::never();
        let mut language = Language::new(literals, &deadline).expect("small");
        let mut found = Vec::new();
        let all = language.words(length, 50, &mut |_| 0, &deadline, &mut found);
        (found, all)
    }

    /// Every short text over a few characters is in the language exactly if the literals say so.
    #[test]
    fn languages_are_what_the_patterns_match() {
        let patterns = [
            "^[0-9]+$",
            "a",
            "^a",
            "b$",
            "^(ab)*$",
            "^a{2,3}$",
            "^[^a]*$",
            "^(a|b0)?$",
            "0.b",
            "^$",
            "(?i)^AB?$",
            r"\bab\b",
            r"a\B",
            "(?m)^a$",
            "(?s)^.$",
            r"^\w+ $",
            "a|^b",
            "(a*)*$",
            "^a??b",
            r"(?-u:\b)b",
            r"(?-u:\B)b",
            r"(?-u)^[ab]\s?$",
            "x*",
        ];
        let characters = ['a', 'b', '0', ' ', '\n', 'B', 'ü'];
        let mut texts = vec![String::new()];
        for length in 0..2 {
            let longer: Vec<String> = texts
                .iter()
                .filter(|t| t.chars().count() == length)
                .flat_map(|t| characters.iter().map(move |c| format!("{t}{c}")))
                .collect();
            texts.extend(longer);
        }
        let deadline = Deadline::never();
        let mut tests: Vec<Test> = patterns.iter().map(|p| matches(p)).collect();
        tests.push(Test::OneOf(vec![
            "ab".to_owned(),
            String::new(),
            "b".to_owned(),
        ]));
        use BinaryOp::{Ge, Gt, Le, Lt};
        for op in [Lt, Le, Gt, Ge] {
            tests.push(Test::Ordered(op, "ab".to_owned()));
            tests.push(Test::Ordered(op, String::new()));
        }
        tests.push(Test::Length(1, 2));
        tests.push(Test::Length(2, i64::MAX));
        for test in &tests {
            for (prefix, suffix) in [("", ""), ("a ", "0")] {
                for text in &texts {
                    let whole = format!("{prefix}{text}{suffix}");
                    let passes = match test {
                        Test::Matches(pattern) => pattern.matches(&whole),
                        Test::OneOf(words) => words.contains(&whole),
                        Test::Ordered(Lt, word) => whole < *word,
                        Test::Ordered(Le, word) => whole <= *word,
                        Test::Ordered(Gt, word) => whole > *word,
                        Test::Ordered(_, word) => whole >= *word,
                        Test::Length(min, max) => {
                            let length = whole.chars().count() as i64;
                            *min <= length && length <= *max
                        }
                    };
                    let literals = [
                        Literal {
                            prefix: prefix.to_owned(),
                            suffix: suffix.to_owned(),
                            test: test.clone(),
                            want: true,
                        },
                        literal(Test::OneOf(vec![text.clone()]), true),
                    ];
                    let language = Language::new(&literals, &deadline).expect("small");
                    assert_eq!(!language.is_empty(), passes, "{test:?} {whole:?}");
                    assert!(!language.infinite);
                }
            }
        }
    }

    #[test]
    fn a_finite_language_is_listed_completely() {
        let both = [
            literal(matches("^[a-c]{2}$"), true),
            literal(matches("^a"), false),
        ];
        let (found, all) = words(&both, 2);
        assert_eq!(found, ["ba", "bb", "bc", "ca", "cb", "cc"]);
        assert!(all);
        assert_eq!(words(&both, 3), (Vec::new(), true));
        let (found, all) = words(&[literal(matches("^..$"), true)], 2);
        assert_eq!((found.len(), all), (50, false));
    }

    #[test]
    fn exactly_as_many_words_as_wanted_are_all_there_are() {
        let few = [literal(matches("^[a-e]{2}[01]$"), true)];
        let (found, all) = words(&few, 3);
        assert_eq!((found.len(), all), (50, true));
        let many = [literal(matches("^([a-e]{2}[01]|zzz)$"), true)];
        let (found, all) = words(&many, 3);
        assert_eq!((found.len(), all), (50, false));
    }

    #[test]
    fn of_long_words_only_one_is_made() {
        let letters = [literal(matches("^[ab]+$"), true)];
        for (length, count) in [(199, 50), (200, 50), (201, 1), (202, 1)] {
            let (found, all) = words(&letters, length);
            assert_eq!((found.len(), all), (count, false), "{length}");
            assert!(found.iter().all(|word| word.len() == length));
        }
    }

    #[test]
    fn of_large_classes_some_characters_are_tried() {
        let class = |size: u32| vec![(0x4E00, 0x4E00 + size - 1)];
        for (size, tried) in [(1, 1), (63, 63), (64, 64), (65, 64), (66, 64)] {
            let (characters, complete) = readable(&class(size));
            assert_eq!(characters.len(), tried, "{size}");
            assert_eq!(complete, size <= 64, "{size}");
        }
    }

    #[test]
    fn steps_count_the_size_of_a_pattern() {
        let taken = |pattern: &str| {
            let deadline = Deadline::never();
            let language = Language::new(&[literal(matches(pattern), true)], &deadline);
            let states = language.expect("small").longest();
            deadline.taken() / states as u64
        };
        let (small, large) = (taken("^a{40}$"), taken("^a{1000}$"));
        assert!(large > 5 * small, "{small} {large}");
    }

    #[test]
    fn work_is_bounded_by_the_deadline_and_by_the_states() {
        let hard: Vec<Literal> = (2..9)
            .map(|n| literal(matches(&format!("^(a{{{n}}})*b(a|b)*a(a|b){{9}}$")), true))
            .collect();
        let deadline = Deadline::steps(5_000);
        assert!(Language::new(&hard, &deadline).is_err());
        assert!(deadline.taken() < 5_200);
        assert!(Language::new(&hard, &Deadline::never()).is_err());
    }
}
