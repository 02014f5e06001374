//! The suspension automaton of a model with finitely many states: deterministic, with silence as a response, and
//! without states that behave alike.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use ioco_budget::Interrupt;
use ioco_sts::{Direction, FlattenError, Relation, Step, Sts, explore};
use rustc_hash::FxHashMap;

/// Why a model has no such automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFinite {
    /// Its states cannot be listed.
    Listing(FlattenError),
    /// Internal steps go round for ever in this state.
    Divergent(String),
    /// There are more sets of states than this.
    TooManySets(usize),
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotFinite::Listing(error) => write!(f, "its states cannot be listed: {error}"),
            NotFinite::Divergent(state) => {
                write!(f, "internal steps can go round for ever in {state}")
            }
            NotFinite::TooManySets(limit) => write!(f, "it has more than {limit} sets of states"),
        }
    }
}

impl std::error::Error for NotFinite {}

/// A suspension automaton. State 0 is the initial one. Labels are numbered: stimuli first, then responses, silence last.
#[derive(Clone, Debug)]
pub struct Automaton {
    labels: Vec<Step>,
    inputs: usize,
    /// Per state and label.
    table: Vec<Vec<Option<usize>>>,
}

impl Automaton {
    /// Reads a model with at most `limit` states, until a stop is requested.
    pub fn of_model(
        sts: &Sts,
        relation: Relation,
        limit: usize,
        interrupt: &Interrupt,
    ) -> Result<Automaton, NotFinite> {
        let explored = explore(sts, limit, interrupt).map_err(NotFinite::Listing)?;
        let count = explored.states.len();
        let mut internal: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut steps: Vec<Vec<(Step, usize)>> = vec![Vec::new(); count];
        for step in &explored.steps {
            match &step.action {
                None => internal[step.source].push(step.target),
                Some(action) => {
                    let stimulus = sts.label(action.label).direction == Direction::Stimulus;
                    let made = match stimulus {
                        true => Step::Stimulus(action.clone()),
                        false => Step::Response(action.clone()),
                    };
                    steps[step.source].push((made, step.target));
                }
            }
        }
        if let Some(state) = diverges(&internal) {
            return Err(NotFinite::Divergent(explored.states[state].show(sts)));
        }
        let quiescent = |state: usize| {
            let mut responses = steps[state].iter();
            internal[state].is_empty() && !responses.any(|(s, _)| matches!(s, Step::Response(_)))
        };
        let closure = |states: BTreeSet<usize>| {
            let mut open: Vec<usize> = states.iter().copied().collect();
            let mut all = states;
            while let Some(state) = open.pop() {
                open.extend(
                    internal[state]
                        .iter()
                        .copied()
                        .filter(|next| all.insert(*next)),
                );
            }
            all
        };
        let mut numbers: FxHashMap<BTreeSet<usize>, usize> = FxHashMap::default();
        let mut sets = vec![closure(BTreeSet::from([0]))];
        numbers.insert(sets[0].clone(), 0);
        let mut edges: Vec<BTreeMap<Step, usize>> = Vec::new();
        while edges.len() < sets.len() {
            if interrupt.is_raised() {
                return Err(NotFinite::Listing(FlattenError::Interrupted));
            }
            let set = sets[edges.len()].clone();
            let mut after: BTreeMap<Step, BTreeSet<usize>> = BTreeMap::new();
            for state in &set {
                for (step, target) in &steps[*state] {
                    after.entry(step.clone()).or_default().insert(*target);
                }
                if quiescent(*state) {
                    after.entry(Step::Quiescence).or_default().insert(*state);
                }
            }
            if relation == Relation::Uioco {
                let accepts = |state: usize, wanted: &Step| {
                    let stable = internal[state].is_empty();
                    !stable || steps[state].iter().any(|(step, _)| step == wanted)
                };
                after.retain(|step, _| {
                    !matches!(step, Step::Stimulus(_)) || set.iter().all(|s| accepts(*s, step))
                });
            }
            let mut row = BTreeMap::new();
            for (step, states) in after {
                let states = closure(states);
                let number = match numbers.get(&states) {
                    Some(known) => *known,
                    None => {
                        if sets.len() >= limit {
                            return Err(NotFinite::TooManySets(limit));
                        }
                        numbers.insert(states.clone(), sets.len());
                        sets.push(states);
                        sets.len() - 1
                    }
                };
                row.insert(step, number);
            }
            edges.push(row);
        }
        let mut labels: Vec<Step> = edges.iter().flat_map(BTreeMap::keys).cloned().collect();
        labels.sort_by_key(|step| (rank(step), step.clone()));
        labels.dedup();
        let table = edges.iter().map(|row| {
            let targets = labels.iter().map(|label| row.get(label).copied());
            targets.collect()
        });
        Ok(Automaton::new(labels.clone(), table.collect()))
    }

    /// An automaton by its table: per state and label, the state after it. Labels are stimuli first. The state after
    /// silence allows silence alone, which leads back to it. States that behave alike are merged, and those that cannot
    /// be reached are left out.
    pub fn new(labels: Vec<Step>, table: Vec<Vec<Option<usize>>>) -> Automaton {
        let inputs = labels.iter().filter(|label| rank(label) == 0).count();
        let mut class: Vec<usize> = vec![0; table.len()];
        loop {
            let mut numbers: FxHashMap<(usize, Vec<Option<usize>>), usize> = FxHashMap::default();
            let finer: Vec<usize> = table
                .iter()
                .zip(&class)
                .map(|(row, own)| {
                    let targets = row.iter().map(|target| target.map(|t| class[t]));
                    let fresh = numbers.len();
                    *numbers.entry((*own, targets.collect())).or_insert(fresh)
                })
                .collect();
            let stable = finer.iter().max() == class.iter().max();
            class = finer;
            if stable {
                break;
            }
        }
        // Numbered as they are reached.
        let mut number: FxHashMap<usize, usize> = FxHashMap::from_iter([(class[0], 0)]);
        let mut members = vec![0];
        let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
        while rows.len() < members.len() {
            let row = table[members[rows.len()]].iter().map(|target| {
                target.map(|target| {
                    *number.entry(class[target]).or_insert_with(|| {
                        members.push(target);
                        members.len() - 1
                    })
                })
            });
            let row = row.collect();
            rows.push(row);
        }
        Automaton {
            labels,
            inputs,
            table: rows,
        }
    }

    pub fn states(&self) -> usize {
        self.table.len()
    }

    pub fn label(&self, number: usize) -> &Step {
        &self.labels[number]
    }

    pub fn is_silence(&self, label: usize) -> bool {
        self.labels[label] == Step::Quiescence
    }

    /// How many stimuli there are.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The steps of a state: labels and where they lead.
    pub fn steps(&self, state: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let row = self.table[state].iter().enumerate();
        row.filter_map(|(label, target)| Some((label, (*target)?)))
    }

    /// Its responses, silence among them.
    pub fn outputs(&self, state: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.steps(state).filter(|(label, _)| *label >= self.inputs)
    }

    pub fn step(&self, state: usize, label: usize) -> Option<usize> {
        self.table[state][label]
    }

    /// The state after labels from the start.
    pub fn after(&self, labels: &[usize]) -> Option<usize> {
        labels
            .iter()
            .try_fold(0, |state, label| self.step(state, *label))
    }

    /// The states that every conforming implementation can be brought to, each with a shortest sequence that does:
    /// its responses are the only ones that the model allows.
    pub fn certain(&self) -> Vec<(usize, Vec<usize>)> {
        let mut found = vec![(0, Vec::new())];
        let mut known = BTreeSet::from([0]);
        let mut queue = VecDeque::from([(0, Vec::new())]);
        while let Some((state, word)) = queue.pop_front() {
            let forced = self.outputs(state).count() == 1;
            for (label, target) in self.steps(state) {
                if (label < self.inputs || forced) && known.insert(target) {
                    let mut longer: Vec<usize> = word.clone();
                    longer.push(label);
                    found.push((target, longer.clone()));
                    queue.push_back((target, longer));
                }
            }
        }
        found
    }
}

/// Stimuli, responses, silence.
fn rank(step: &Step) -> u8 {
    match step {
        Step::Stimulus(_) => 0,
        Step::Response(_) => 1,
        Step::Quiescence => 2,
    }
}

/// A state from which internal steps lead back to it.
fn diverges(internal: &[Vec<usize>]) -> Option<usize> {
    // States without internal steps are taken away, then those that only led to them, and so on.
    let mut left: Vec<usize> = internal.iter().map(Vec::len).collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); internal.len()];
    for (state, targets) in internal.iter().enumerate() {
        targets
            .iter()
            .for_each(|target| before[*target].push(state));
    }
    let mut open: Vec<usize> = (0..internal.len()).filter(|s| left[*s] == 0).collect();
    while let Some(state) = open.pop() {
        for source in &before[state] {
            left[*source] -= 1;
            if left[*source] == 0 {
                open.push(*source);
            }
        }
    }
    left.iter().position(|left| *left > 0)
}
