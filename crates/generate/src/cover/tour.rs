//! Coverage where no data is in the way: tours through the graph of a region.
//!
//! A tour goes to the nearest wanted switch, again and again ([`Nearest`] finds the way), and goes on in another region
//! when nothing is left in its own. So a model without data is covered by a few long tests. When nothing more can be
//! reached from the start, everything reachable was looked at: what is left is unreachable.
//!
//! Where the system chooses between responses, a long test hardly ever goes as planned. Such steps cost more, and a
//! test ends after a few of them.

use std::collections::VecDeque;
use std::rc::Rc;

use ioco_engine::{Edge, Nearest, UNREACHABLE};
use ioco_sts::{LocationId, Sts};
use rustc_hash::FxHashMap;

use super::goal::Goal;
use super::region::Region;
use crate::moves::{Move, MoveIds, moves_of};

/// Places of one region that are looked at, at most; the symbolic search looks for what lies beyond.
const MAX_PLACES: usize = 1 << 20;
/// Steps that the system may choose otherwise, in one test.
const MAX_CHOICES: usize = 8;
/// What such a step costs, beside the step itself.
const CHOICE: u32 = 4;
/// A test goes on over this many steps more than from the start before a new one begins.
const RESTART: u32 = 50;
/// Places that are looked at for one where the system waits.
const MAX_SETTLING: usize = 1_000;

/// A combination of locations of a region.
#[derive(Default)]
struct Place {
    /// The moves that leave it, where they lead, and whether the system may choose otherwise.
    moves: Vec<(Rc<Move>, u32, bool)>,
    listed: bool,
}

/// One region as a graph, listed as far as tours have come.
struct Graph {
    processes: Vec<usize>,
    numbers: FxHashMap<Box<[LocationId]>, u32>,
    locations: Vec<Box<[LocationId]>>,
    places: Vec<Place>,
    nearest: Nearest,
    ids: MoveIds,
    /// There were too many places.
    cut: bool,
    /// Nothing more can be reached from the start.
    done: bool,
}

/// What is still to be covered, by number.
struct OpenGoals {
    switches: Vec<bool>,
    locations: Vec<bool>,
}

impl OpenGoals {
    fn asks_for(&self, sts: &Sts, step: &Move) -> bool {
        step.switches
            .iter()
            .any(|id| self.switches[id.index()] || self.locations[sts.switch(*id).target.index()])
    }

    fn take(&mut self, sts: &Sts, step: &Move) {
        for id in &step.switches {
            self.switches[id.index()] = false;
            self.locations[sts.switch(*id).target.index()] = false;
        }
    }
}

impl Graph {
    fn new(sts: &Sts, region: &Region) -> Graph {
        let mut graph = Graph {
            processes: region.processes.iter().copied().collect(),
            numbers: FxHashMap::default(),
            locations: Vec::new(),
            places: Vec::new(),
            nearest: Nearest::default(),
            ids: MoveIds::default(),
            cut: false,
            done: false,
        };
        let initial = graph.processes.iter();
        let initial = initial.map(|p| sts.processes()[*p].initial).collect();
        graph.number(initial);
        graph
    }

    fn number(&mut self, locations: Box<[LocationId]>) -> Option<u32> {
        if let Some(known) = self.numbers.get(&locations) {
            return Some(*known);
        }
        if self.places.len() >= MAX_PLACES {
            self.cut = true;
            return None;
        }
        let number = self.places.len() as u32;
        self.numbers.insert(locations.clone(), number);
        self.locations.push(locations);
        self.places.push(Place::default());
        Some(number)
    }

    /// Lists the moves of a place, once. `all` is a location for every process; those of this region are overwritten.
    fn list(&mut self, sts: &Sts, number: u32, all: &mut [LocationId]) {
        if self.places[number as usize].listed {
            return;
        }
        let here = self.locations[number as usize].clone();
        for (process, location) in self.processes.iter().zip(&here) {
            all[*process] = *location;
        }
        let found = moves_of(sts, all, self.processes.iter().copied(), &mut self.ids);
        let chosen_by_system = |step: &Move| !step.is_stimulus(sts);
        let choices = found.iter().filter(|step| chosen_by_system(step)).count();
        let mut moves = Vec::with_capacity(found.len());
        for step in &found {
            let mut there = here.clone();
            for id in &step.switches {
                let switch = sts.switch(*id);
                let process = sts.location(switch.source).process.index();
                if let Ok(position) = self.processes.binary_search(&process) {
                    there[position] = switch.target;
                }
            }
            let others = choices - usize::from(chosen_by_system(step));
            let same = found
                .iter()
                .filter(|other| other.label == step.label)
                .count();
            let chosen = others > 0 || (step.observable && same > 1);
            if let Some(target) = self.number(there) {
                moves.push((Rc::new(step.clone()), target, chosen));
            }
        }
        let place = &mut self.places[number as usize];
        place.moves = moves;
        place.listed = true;
    }

    /// The way from a place to something wanted, and what it costs.
    fn way(
        &mut self,
        sts: &Sts,
        from: u32,
        wanted: &OpenGoals,
        all: &mut [LocationId],
    ) -> Option<(u32, Vec<(u32, u32)>)> {
        let mut nearest = std::mem::take(&mut self.nearest);
        let way = nearest.way(from, |place, edges| {
            self.list(sts, place, all);
            for (step, target, chosen) in &self.places[place as usize].moves {
                let asked_for = wanted.asks_for(sts, step);
                edges.push(Edge {
                    cost: 1 + if *chosen { CHOICE } else { 0 },
                    target: Some(*target).filter(|_| !asked_for),
                });
            }
        });
        self.nearest = nearest;
        way.map(|way| (way.cost, way.steps))
    }

    /// Whether the system waits for a stimulus in a place.
    fn waits(&mut self, sts: &Sts, place: u32, all: &mut [LocationId]) -> bool {
        self.list(sts, place, all);
        let mut moves = self.places[place as usize].moves.iter();
        moves.all(|(step, _, _)| step.is_stimulus(sts))
    }

    /// The way to the nearest place in which the system waits.
    fn settling(
        &mut self,
        sts: &Sts,
        from: u32,
        all: &mut [LocationId],
    ) -> Option<Vec<(u32, u32)>> {
        let mut before: FxHashMap<u32, Option<(u32, u32)>> = FxHashMap::default();
        before.insert(from, None);
        let mut queue = VecDeque::from([from]);
        while let Some(place) = queue.pop_front() {
            if self.waits(sts, place, all) {
                let mut steps = Vec::new();
                let mut at = place;
                while let Some(Some((source, number))) = before.get(&at) {
                    steps.push((*source, *number));
                    at = *source;
                }
                steps.reverse();
                return Some(steps);
            }
            if before.len() > MAX_SETTLING {
                return None;
            }
            for (number, (_, target, _)) in self.places[place as usize].moves.iter().enumerate() {
                before.entry(*target).or_insert_with(|| {
                    queue.push_back(*target);
                    Some((place, number as u32))
                });
            }
        }
        None
    }
}

/// The tours of all regions without data.
pub(crate) struct Tours<'a> {
    sts: &'a Sts,
    graphs: Vec<Graph>,
    wanted: OpenGoals,
    /// Per region, where the test is.
    at: Vec<u32>,
    /// Of the test under way.
    steps: Vec<Rc<Move>>,
    choices: usize,
    /// Steps of a test at most.
    length: usize,
    /// A location for every process, to list moves with.
    all: Vec<LocationId>,
}

impl<'a> Tours<'a> {
    /// Tours of the regions for the goals among these that are switches or locations.
    pub fn new<'r>(
        sts: &'a Sts,
        regions: impl Iterator<Item = &'r Region>,
        goals: impl Iterator<Item = Goal>,
        length: usize,
    ) -> Tours<'a> {
        let graphs: Vec<Graph> = regions.map(|region| Graph::new(sts, region)).collect();
        let mut wanted = OpenGoals {
            switches: vec![false; sts.switches().len()],
            locations: vec![false; sts.locations().len()],
        };
        let mut toured = vec![false; sts.processes().len()];
        for process in graphs.iter().flat_map(|graph| &graph.processes) {
            toured[*process] = true;
        }
        for goal in goals {
            match goal {
                Goal::Switch(id) => {
                    let process = sts.location(sts.switch(id).source).process;
                    wanted.switches[id.index()] = toured[process.index()];
                }
                Goal::Location(id) => {
                    wanted.locations[id.index()] = toured[sts.location(id).process.index()];
                }
                _ => {}
            }
        }
        Tours {
            sts,
            at: vec![0; graphs.len()],
            graphs,
            wanted,
            steps: Vec::new(),
            choices: 0,
            length,
            all: sts.processes().iter().map(|p| p.initial).collect(),
        }
    }

    /// The moves of the next test; `None` when there is nothing more to do, or a stop is requested.
    pub fn next(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<Vec<Rc<Move>>> {
        self.at.fill(0);
        self.steps.clear();
        self.choices = 0;
        let initial: Vec<LocationId> = self.sts.processes().iter().map(|p| p.initial).collect();
        for location in initial {
            // The start is visited by every test.
            self.wanted.locations[location.index()] = false;
        }
        let mut started = false;
        let mut current = 0;
        // Regions in a row that had nothing to do.
        let mut idle = 0;
        while idle < self.graphs.len() && !stop() {
            if self.visit(current, &mut started, stop) {
                idle = 0;
            } else {
                idle += 1;
            }
            if self.choices >= MAX_CHOICES || self.steps.len() >= self.length {
                break;
            }
            // Elsewhere, the test goes on only when this region waits.
            if started && !self.settle(current) {
                break;
            }
            current = (current + 1) % self.graphs.len();
        }
        (!self.steps.is_empty()).then(|| std::mem::take(&mut self.steps))
    }

    /// Goes on in one region, as long as something new is near; whether anything was done.
    fn visit(&mut self, number: usize, started: &mut bool, stop: &mut dyn FnMut() -> bool) -> bool {
        let mut moved = false;
        while !self.graphs[number].done && !stop() {
            let (sts, at) = (self.sts, self.at[number]);
            let graph = &mut self.graphs[number];
            let way = graph.way(sts, at, &self.wanted, &mut self.all);
            let Some((cost, steps)) = way else {
                let from_start = graph.way(sts, 0, &self.wanted, &mut self.all);
                graph.done = from_start.is_none();
                break;
            };
            if !self.steps.is_empty() {
                if self.steps.len() + steps.len() > self.length || self.choices >= MAX_CHOICES {
                    break;
                }
                if cost > RESTART {
                    let restart = graph.way(sts, 0, &self.wanted, &mut self.all);
                    let restart = restart.map_or(UNREACHABLE, |(cost, _)| cost);
                    if cost - RESTART > restart {
                        break;
                    }
                }
            }
            if !*started {
                // Responses that are due at the start come before anything else.
                *started = true;
                let others = (0..self.graphs.len()).filter(|other| *other != number);
                for other in others.collect::<Vec<_>>() {
                    self.settle(other);
                }
            }
            self.walk(number, &steps);
            moved = true;
        }
        moved
    }

    /// Goes to a place where the system waits; whether there is one.
    fn settle(&mut self, number: usize) -> bool {
        let at = self.at[number];
        match self.graphs[number].settling(self.sts, at, &mut self.all) {
            Some(steps) => {
                self.walk(number, &steps);
                true
            }
            None => false,
        }
    }

    fn walk(&mut self, number: usize, steps: &[(u32, u32)]) {
        for (place, edge) in steps {
            let (step, target, chosen) =
                &self.graphs[number].places[*place as usize].moves[*edge as usize];
            self.wanted.take(self.sts, step);
            self.choices += usize::from(*chosen);
            self.steps.push(Rc::clone(step));
            self.at[number] = *target;
        }
    }

    /// Whether no sequence of switches reaches a goal: everything reachable in its region was looked at, and the goal
    /// was not there.
    pub fn is_unreachable(&self, goal: Goal) -> bool {
        let process = match goal {
            Goal::Switch(id) if self.wanted.switches[id.index()] => {
                self.sts.location(self.sts.switch(id).source).process
            }
            Goal::Location(id) if self.wanted.locations[id.index()] => {
                self.sts.location(id).process
            }
            _ => return false,
        };
        let mut graphs = self.graphs.iter();
        graphs.any(|graph| graph.done && !graph.cut && graph.processes.contains(&process.index()))
    }

    /// Steps that any tests which take all reachable switches of these regions need together, at least: every switch
    /// once, and again as often as a location is left more often than it is entered (the balance of the Chinese
    /// postman problem, with restarts for nothing). `None` where switches are taken together.
    pub fn fewest_steps(&self) -> Option<usize> {
        let sts = self.sts;
        let mut balance: FxHashMap<LocationId, i64> = FxHashMap::default();
        let mut fewest = 0;
        for graph in &self.graphs {
            if graph.cut || !graph.done || graph.processes.len() > 1 {
                return None;
            }
            for (step, _, _) in graph.places.iter().flat_map(|place| &place.moves) {
                for id in &step.switches {
                    let switch = sts.switch(*id);
                    fewest += 1;
                    *balance.entry(switch.source).or_default() += 1;
                    *balance.entry(switch.target).or_default() -= 1;
                }
            }
        }
        for process in sts.processes() {
            balance.remove(&process.initial);
        }
        let extra: i64 = balance.values().filter(|b| **b > 0).sum();
        Some(fewest + extra as usize)
    }
}
