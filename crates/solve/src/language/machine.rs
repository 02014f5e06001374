//! One literal as a machine over classes of characters, made deterministic on the way.

use ioco_sts::BinaryOp;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use rustc_hash::FxHashMap;

use super::alphabet::{Alphabet, Sets};
use super::{Literal, MAX_NODES, Test, Unfit};

/// A node of a pattern's machine.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Set(usize, u32),
    Split(Vec<u32>),
    Look(Look, u32),
    Match,
}

/// The sets that assertions look for.
#[derive(Clone, Copy, Default)]
pub(super) struct LookSets {
    newline: Option<usize>,
    word: Option<usize>,
    ascii_word: Option<usize>,
}

/// A literal as a machine: what its states are and where they lead.
pub(super) enum Kind {
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
    pub(super) fn new(test: &Test, sets: &mut Sets) -> Result<Kind, Unfit> {
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
    pub(super) fn node(&mut self, node: Node) -> Result<u32, Unfit> {
        if self.nodes.len() >= MAX_NODES {
            return Err(Unfit);
        }
        self.nodes.push(node);
        Ok((self.nodes.len() - 1) as u32)
    }

    /// The node that starts `hir` and goes on at `after`.
    pub(super) fn add(&mut self, hir: &Hir, after: u32) -> Result<u32, Unfit> {
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

pub(super) struct Component<'l> {
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
    pub(super) fn new(kind: Kind, literal: &'l Literal, alphabet: &Alphabet) -> Component<'l> {
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
    pub(super) fn cost(&self) -> u64 {
        match &self.kind {
            Kind::Pattern { nodes, .. } => 1 + nodes.len() as u64 / 64,
            _ => 1,
        }
    }

    pub(super) fn number(&mut self, key: Key) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    pub(super) fn start(&mut self, alphabet: &Alphabet) -> u32 {
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

    pub(super) fn step(&mut self, state: u32, class: usize, alphabet: &Alphabet) -> u32 {
        if let Some(known) = self.steps.get(&(state, class as u32)) {
            return *known;
        }
        let key = self.stepped(&self.keys[state as usize], class, alphabet);
        let target = self.number(key);
        self.steps.insert((state, class as u32), target);
        target
    }

    pub(super) fn stepped(&self, key: &Key, class: usize, alphabet: &Alphabet) -> Key {
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
    pub(super) fn remembered(&self, class: usize, alphabet: &Alphabet) -> u32 {
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
    pub(super) fn closure(
        &self,
        key: &Key,
        class: Option<usize>,
        alphabet: &Alphabet,
    ) -> Option<Vec<u32>> {
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

    pub(super) fn accepts(&mut self, state: u32, alphabet: &Alphabet) -> bool {
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
