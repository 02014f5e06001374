//! Plain models as lists of edges: random ones, a system that plays one, and the meaning of one by
//! explicit enumeration, written to be obvious and not to be fast.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioco_engine::Input;
use ioco_sts::{
    Action, Direction, Expr, Gate, LabelId, LocationId, Observed, Place, Step, Sts, StsBuilder,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{System, label};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Stimulus(usize),
    Response(usize),
    Tau,
}

#[derive(Clone, Debug)]
pub struct Graph {
    pub locations: usize,
    pub stimuli: usize,
    pub responses: usize,
    pub edges: Vec<(usize, Act, usize)>,
}

impl Graph {
    /// Internal steps only lead to higher locations, so that they end.
    pub fn random(rng: &mut ChaCha8Rng, input_enabled: bool) -> Graph {
        let locations = rng.random_range(1..6);
        let (stimuli, responses) = (rng.random_range(1..4), rng.random_range(1..4));
        let mut graph = Graph {
            locations,
            stimuli,
            responses,
            edges: Vec::new(),
        };
        for _ in 0..rng.random_range(1..3 * locations + 2) {
            let source = rng.random_range(0..locations);
            let target = rng.random_range(0..locations);
            let act = match rng.random_range(0..8) {
                0 if target > source => Act::Tau,
                0..=3 => Act::Response(rng.random_range(0..responses)),
                _ => Act::Stimulus(rng.random_range(0..stimuli)),
            };
            graph.edges.push((source, act, target));
        }
        if input_enabled {
            for location in 0..locations {
                for stimulus in 0..stimuli {
                    if graph.targets(location, Act::Stimulus(stimulus)).is_empty() {
                        let target = rng.random_range(0..locations);
                        graph
                            .edges
                            .push((location, Act::Stimulus(stimulus), target));
                    }
                }
            }
        }
        graph
    }

    /// One edge changed, added or taken away.
    pub fn mutated(&self, rng: &mut ChaCha8Rng) -> Graph {
        let mut mutant = self.clone();
        let edge = rng.random_range(0..mutant.edges.len());
        match rng.random_range(0..4) {
            0 => mutant.edges[edge].2 = rng.random_range(0..self.locations),
            1 => {
                let source = rng.random_range(0..self.locations);
                let response = Act::Response(rng.random_range(0..self.responses));
                let target = rng.random_range(0..self.locations);
                mutant.edges.push((source, response, target));
            }
            _ => match mutant.edges[edge].1 {
                Act::Stimulus(_) => mutant.edges[edge].2 = rng.random_range(0..self.locations),
                Act::Response(_) | Act::Tau if rng.random_bool(0.5) => {
                    mutant.edges.remove(edge);
                }
                _ => mutant.edges[edge].1 = Act::Response(rng.random_range(0..self.responses)),
            },
        }
        // A changed internal step must still end.
        mutant
            .edges
            .retain(|(source, act, target)| *act != Act::Tau || target > source);
        mutant
    }

    /// The model, with the same numbers for locations.
    pub fn sts(&self) -> Arc<Sts> {
        let mut builder = StsBuilder::new("graph");
        let process = builder.process("main");
        let locations: Vec<LocationId> = (0..self.locations)
            .map(|number| builder.named_location(process, &format!("L{number}")))
            .collect();
        let stimuli: Vec<LabelId> = (0..self.stimuli)
            .map(|number| builder.label(label(&format!("?s{number}"), Vec::new())))
            .collect();
        let responses: Vec<LabelId> = (0..self.responses)
            .map(|number| builder.label(label(&format!("!r{number}"), Vec::new())))
            .collect();
        for (source, act, target) in &self.edges {
            let gate = match act {
                Act::Stimulus(number) => Gate::Observable(stimuli[*number]),
                Act::Response(number) => Gate::Observable(responses[*number]),
                Act::Tau => Gate::Tau,
            };
            let (source, target) = (locations[*source], locations[*target]);
            builder.switch(
                source,
                gate,
                Expr::TRUE,
                Vec::new(),
                target,
                Place::default(),
            );
        }
        Arc::new(builder.build())
    }

    fn is_quiescent(&self, location: usize) -> bool {
        self.own_steps(location).is_empty()
    }

    /// What the system can do by itself.
    fn own_steps(&self, location: usize) -> Vec<(Act, usize)> {
        let edges = self.edges.iter().filter(|(from, _, _)| *from == location);
        edges
            .filter(|(_, act, _)| !matches!(act, Act::Stimulus(_)))
            .map(|(_, act, to)| (*act, *to))
            .collect()
    }

    fn closed(&self, set: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut closed = set;
        loop {
            let more: Vec<usize> = closed
                .iter()
                .flat_map(|location| self.targets(*location, Act::Tau))
                .filter(|target| !closed.contains(target))
                .collect();
            if more.is_empty() {
                return closed;
            }
            closed.extend(more);
        }
    }

    pub fn initial(&self) -> BTreeSet<usize> {
        self.closed(BTreeSet::from([0]))
    }

    /// Where a step leads; empty if it is not allowed. `None` stands for silence.
    pub fn after(&self, set: &BTreeSet<usize>, act: Option<Act>) -> BTreeSet<usize> {
        let reached = match act {
            Some(act) => set.iter().flat_map(|l| self.targets(*l, act)).collect(),
            None => set
                .iter()
                .copied()
                .filter(|l| self.is_quiescent(*l))
                .collect(),
        };
        self.closed(reached)
    }

    /// Whether some trace of the model leads `implementation` to do what this model does not
    /// allow: all pairs of a location there and a set here.
    pub fn can_fail(&self, implementation: &Graph) -> bool {
        let mut seen = BTreeSet::from([(0, self.initial())]);
        let mut open: Vec<(usize, BTreeSet<usize>)> = seen.iter().cloned().collect();
        while let Some((location, set)) = open.pop() {
            let mut next = Vec::new();
            if implementation.is_quiescent(location) {
                let after = self.after(&set, None);
                if after.is_empty() {
                    return true;
                }
                next.push((location, after));
            }
            for (from, act, to) in &implementation.edges {
                if *from != location {
                    continue;
                }
                match act {
                    Act::Tau => next.push((*to, set.clone())),
                    Act::Response(_) => {
                        let after = self.after(&set, Some(*act));
                        if after.is_empty() {
                            return true;
                        }
                        next.push((*to, after));
                    }
                    Act::Stimulus(_) => {
                        let after = self.after(&set, Some(*act));
                        if !after.is_empty() {
                            next.push((*to, after));
                        }
                    }
                }
            }
            for pair in next {
                if seen.insert(pair.clone()) {
                    open.push(pair);
                }
            }
        }
        false
    }

    fn targets(&self, source: usize, act: Act) -> Vec<usize> {
        let edges = self.edges.iter();
        let fitting = edges.filter(|(from, what, _)| *from == source && *what == act);
        fitting.map(|(_, _, to)| *to).collect()
    }
}

/// The act of a label, by its name.
fn act_of(sts: &Sts, action: &Action) -> Act {
    let label = sts.label(action.label);
    let number = label.name[1..].parse().expect("a number after the letter");
    match label.direction {
        Direction::Stimulus => Act::Stimulus(number),
        _ => Act::Response(number),
    }
}

pub fn act_of_step(sts: &Sts, step: &Step) -> Option<Act> {
    step.action().map(|action| act_of(sts, action))
}

/// What was observed in the end; `None` stands for silence.
pub fn act_of_observed(sts: &Sts, observed: &Observed) -> Option<Act> {
    match observed {
        Observed::Response(action) => Some(act_of(sts, action)),
        Observed::Silence(_) => None,
        Observed::Unknown(text) => panic!("{text}: the system only sends what the model knows"),
        Observed::End(text) => panic!("{text}: the system never ends"),
    }
}

/// A system that does what a graph says, choosing at random where it may.
pub struct Player {
    graph: Graph,
    sts: Arc<Sts>,
    rng: ChaCha8Rng,
    at: usize,
    /// It got a stimulus for which the graph says nothing, and now does anything.
    chaos: bool,
    /// The system may speak before it sees a stimulus that was handed over.
    crosses: bool,
}

impl Player {
    pub fn new(graph: &Graph, seed: u64, crosses: bool) -> Player {
        Player {
            graph: graph.clone(),
            sts: graph.sts(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            at: 0,
            chaos: false,
            crosses,
        }
    }

    /// Takes one step by itself, if it can.
    fn step(&mut self) -> Option<Act> {
        let steps = self.graph.own_steps(self.at);
        if steps.is_empty() {
            return None;
        }
        let (act, target) = steps[self.rng.random_range(0..steps.len())];
        self.at = target;
        Some(act)
    }

    fn response(&self, act: Act) -> Option<Input> {
        let Act::Response(number) = act else {
            return None;
        };
        let label = self
            .sts
            .label_named(Direction::Response, &format!("r{number}"));
        label.map(|label| Input::Response(Action::plain(label)))
    }

    fn anything(&mut self) -> Option<Input> {
        let number = self.rng.random_range(0..self.graph.responses + 1);
        self.response(Act::Response(number))
    }
}

impl System for Player {
    fn reset(&mut self) -> Vec<Input> {
        self.at = 0;
        self.chaos = false;
        Vec::new()
    }

    fn give(&mut self, stimulus: &Action) -> Vec<Input> {
        let mut sent = Vec::new();
        while !self.chaos && self.rng.random_bool(0.5) {
            let before = self.at;
            match self.step() {
                Some(Act::Response(_)) if !self.crosses => {
                    self.at = before;
                    break;
                }
                Some(act) => sent.extend(self.response(act)),
                None => break,
            }
        }
        let act = act_of(&self.sts, stimulus);
        // Internal steps may be needed before the stimulus is accepted.
        loop {
            let targets = self.graph.targets(self.at, act);
            if !targets.is_empty() {
                self.at = targets[self.rng.random_range(0..targets.len())];
                break;
            }
            let internal = self.graph.targets(self.at, Act::Tau);
            if internal.is_empty() {
                self.chaos = true;
                break;
            }
            self.at = internal[self.rng.random_range(0..internal.len())];
        }
        sent
    }

    fn wait(&mut self) -> Option<Input> {
        if self.chaos {
            return self.anything();
        }
        loop {
            match self.step() {
                None if self.rng.random_bool(0.3) => return Some(Input::Quiescent),
                None => return None,
                Some(act) => {
                    if let Some(response) = self.response(act) {
                        return Some(response);
                    }
                }
            }
        }
    }
}
