//! Shortest ways through the model: from the initial state to everywhere near, and back.
//!
//! A tester gives a stimulus only when the system has fallen silent, so stimuli leave settled nodes
//! only. Among equally short ways the one with more transitions of the failing trace is taken: what
//! the trace did is more likely to matter than what it did not.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, VecDeque};

use ioco_sts::{Action, LabelId, Semantics, SetId, Step, Sts};
use rustc_hash::{FxHashMap, FxHashSet};

use super::observations::Place;
use crate::graph::Graph;
use crate::leave_one_out::MAX_ANSWERS;
use crate::live::Live;
use crate::session::{Halt, Session};
use crate::walk::Walk;

/// A label that occurs in so many places, or fewer, is taken for one that has data in its name.
const MAX_RARE: usize = 2;

/// Where a label occurs.
#[derive(Clone, Default)]
struct Uses {
    places: usize,
    /// How often it leads back to where it was given.
    loops: usize,
    /// How many responses follow.
    responses: BTreeSet<usize>,
}

/// A node of the explored part of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

struct Link {
    /// `None` is silence, which costs nothing.
    step: Option<Step>,
    target: NodeId,
    /// The failing trace has taken it.
    is_original: bool,
}

struct Node {
    set: SetId,
    is_settled: bool,
    links: Vec<Link>,
    distance: usize,
    /// The node before on the shortest way from the initial one, and which of its links.
    from: Option<(NodeId, usize)>,
    originals: usize,
    /// The first link of the shortest way back to the initial node.
    home: Option<usize>,
}

/// What a stimulus does according to the model, until the system is silent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub target: NodeId,
    pub responses: usize,
    /// The labels of the responses.
    pub answers: Vec<LabelId>,
}

pub(crate) struct Routes {
    nodes: Vec<Node>,
    index: FxHashMap<SetId, NodeId>,
    /// Per node, the links into it that can be taken: from which node, and which of its links.
    entering: Vec<Vec<(NodeId, usize)>>,
}

/// Transitions of the failing trace: where, and what.
pub(crate) type Originals = FxHashSet<(SetId, Step)>;

impl Routes {
    /// What is near, up to so many nodes and transitions: a model that is too large is cut, not
    /// refused.
    pub fn explore(
        session: &mut Session<'_>,
        graph: &mut Graph,
        live: &mut Live,
        originals: &Originals,
        max_distance: usize,
        max_nodes: usize,
    ) -> Result<Routes, Halt> {
        let mut routes = Routes {
            nodes: Vec::new(),
            index: FxHashMap::default(),
            entering: Vec::new(),
        };
        let start = session.semantics.initial();
        routes.add(session.semantics, start);
        let mut depth = vec![0];
        let mut next = 0;
        let mut transitions = 0;
        while next < routes.nodes.len() && next.max(transitions) < max_nodes {
            session.poll()?;
            let (set, distance) = (routes.nodes[next].set, depth[next]);
            if distance < max_distance {
                let semantics = &mut *session.semantics;
                for (step, target) in routes.successors(semantics, graph, set) {
                    let target = live.of(semantics, target);
                    let is_original = step
                        .as_ref()
                        .is_some_and(|step| originals.contains(&(set, step.clone())));
                    let target = routes.add(semantics, target);
                    if target.index() == depth.len() {
                        depth.push(distance + usize::from(step.is_some()));
                    }
                    transitions += 1;
                    routes.nodes[next].links.push(Link {
                        step,
                        target,
                        is_original,
                    });
                }
            }
            next += 1;
        }
        routes.reroute(&FxHashSet::default());
        Ok(routes)
    }

    /// Adds the way of an execution, so that what lies too far for exploration is known where it went.
    pub fn add_walk(&mut self, semantics: &mut Semantics, walk: &Walk, failing: &FxHashSet<Place>) {
        let before = self.nodes.len();
        for (index, step) in walk.steps.iter().enumerate() {
            let from = self.add(semantics, walk.sets[index]);
            let loud = self.add(semantics, walk.loud[index + 1]);
            self.link(from, Some(step.clone()), loud);
            let settled = self.add(semantics, walk.sets[index + 1]);
            if settled != loud {
                self.link(loud, None, settled);
            }
        }
        if self.nodes.len() > before {
            self.reroute(failing);
        }
    }

    fn link(&mut self, from: NodeId, step: Option<Step>, target: NodeId) {
        let links = &mut self.nodes[from.index()].links;
        if !links.iter().any(|link| link.step == step) {
            links.push(Link {
                step,
                target,
                is_original: true,
            });
        }
    }

    /// Finds all ways anew, without the stimuli that are known to fail where they are given.
    pub fn reroute(&mut self, failing: &FxHashSet<Place>) {
        for node in &mut self.nodes {
            node.distance = usize::MAX;
            node.originals = 0;
            node.from = None;
            node.home = None;
        }
        self.nodes[0].distance = 0;
        let mut queue = VecDeque::from([NodeId(0)]);
        let mut before: Vec<Vec<(NodeId, usize)>> = vec![Vec::new(); self.nodes.len()];
        let mut done = vec![false; self.nodes.len()];
        while let Some(id) = queue.pop_front() {
            if std::mem::replace(&mut done[id.index()], true) {
                continue;
            }
            let node = &self.nodes[id.index()];
            let (set, distance, originals) = (node.set, node.distance, node.originals);
            for link in 0..node.links.len() {
                let way = &self.nodes[id.index()].links[link];
                if let Some(Step::Stimulus(action)) = &way.step
                    && failing.contains(&(set, action.clone()))
                {
                    continue;
                }
                let cost = usize::from(way.step.is_some());
                let (count, target) = (originals + usize::from(way.is_original), way.target);
                before[target.index()].push((id, link));
                let node = &mut self.nodes[target.index()];
                let is_nearer = distance + cost < node.distance;
                if is_nearer || (distance + cost == node.distance && count > node.originals) {
                    node.distance = distance + cost;
                    node.originals = count;
                    if target != NodeId(0) {
                        node.from = Some((id, link));
                    }
                }
                if is_nearer && cost == 0 {
                    queue.push_front(target);
                } else if is_nearer {
                    queue.push_back(target);
                }
            }
        }
        self.entering = before;
        self.find_ways_home();
    }

    fn add(&mut self, semantics: &mut Semantics, set: SetId) -> NodeId {
        if let Some(known) = self.index.get(&set) {
            return *known;
        }
        let id = NodeId(self.nodes.len() as u32);
        let is_settled = semantics.after(set, &Step::Quiescence) == Some(set);
        self.nodes.push(Node {
            set,
            is_settled,
            links: Vec::new(),
            distance: usize::MAX,
            from: None,
            originals: 0,
            home: None,
        });
        self.index.insert(set, id);
        id
    }

    fn successors(
        &self,
        semantics: &mut Semantics,
        graph: &mut Graph,
        set: SetId,
    ) -> Vec<(Option<Step>, SetId)> {
        let silent = semantics.after(set, &Step::Quiescence);
        let mut all = Vec::new();
        if let Some(silent) = silent
            && silent != set
        {
            all.push((None, silent));
        }
        for edge in graph.edges(semantics, set).iter() {
            let is_stimulus = matches!(edge.step, Step::Stimulus(_));
            if !is_stimulus || silent == Some(set) {
                all.push((Some(edge.step.clone()), edge.target));
            }
        }
        all
    }

    fn find_ways_home(&mut self) {
        let mut queue = VecDeque::from([NodeId(0)]);
        while let Some(id) = queue.pop_front() {
            for &(source, link) in &self.entering[id.index()] {
                let node = &mut self.nodes[source.index()];
                if source != NodeId(0) && node.home.is_none() {
                    node.home = Some(link);
                    queue.push_back(source);
                }
            }
        }
    }

    /// Per label, the number of its family. A label that the model has in many places is a family of its
    /// own. Flat models write data into labels, so that each of them occurs in a place or two: those that
    /// change the state in the same way, and are answered in the same way, are one thing done in different
    /// states.
    pub fn label_families(&self, sts: &Sts) -> Vec<u32> {
        let mut uses: Vec<Uses> = vec![Uses::default(); sts.labels().len()];
        for id in (0..self.nodes.len() as u32).map(NodeId) {
            for link in &self.nodes[id.index()].links {
                let Some(action) = link.step.as_ref().and_then(Step::action) else {
                    continue;
                };
                let used = &mut uses[action.label.index()];
                used.places += 1;
                if let Some(effect) = self.effect(id, action) {
                    used.loops += usize::from(effect.target == id);
                    used.responses.insert(effect.responses);
                }
            }
        }
        let mut known: FxHashMap<(bool, BTreeSet<usize>), u32> = FxHashMap::default();
        let count = uses.len() as u32;
        let families = (0..).zip(uses).map(|(own, used)| {
            if used.places > MAX_RARE {
                return own;
            }
            let next = count + known.len() as u32;
            let kind = (used.loops > 0, used.responses);
            *known.entry(kind).or_insert(next)
        });
        families.collect()
    }

    /// Numbers that are the same for nodes that look alike: that offer stimuli of the same families.
    pub fn family(&self, id: NodeId, labels: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = self.stimuli(id).map(|a| labels[a.label.index()]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn node(&self, set: SetId) -> Option<NodeId> {
        let id = *self.index.get(&set)?;
        (self.nodes[id.index()].distance < usize::MAX).then_some(id)
    }

    pub fn set(&self, id: NodeId) -> SetId {
        self.nodes[id.index()].set
    }

    /// Steps from the initial state.
    pub fn distance(&self, id: NodeId) -> usize {
        self.nodes[id.index()].distance
    }

    /// Settled nodes, nearest first.
    pub fn settled(&self) -> Vec<NodeId> {
        let mut all: Vec<NodeId> = (0..self.nodes.len() as u32)
            .map(NodeId)
            .filter(|id| {
                let node = &self.nodes[id.index()];
                node.is_settled && node.distance < usize::MAX
            })
            .collect();
        all.sort_by_key(|id| self.distance(*id));
        all
    }

    /// The stimuli of the shortest way to a node.
    pub fn way_to(&self, mut id: NodeId) -> Vec<Action> {
        let mut stimuli = Vec::new();
        while let Some((from, link)) = self.nodes[id.index()].from {
            stimuli.extend(stimulus(&self.nodes[from.index()].links[link]));
            id = from;
        }
        stimuli.reverse();
        stimuli
    }

    /// The settled nodes that are one stimulus away on a shortest way, and the stimulus.
    pub fn arrivals(&self, id: NodeId) -> Vec<(NodeId, &Action)> {
        let mut found = Vec::new();
        let mut open = vec![id];
        let mut known = FxHashSet::from_iter([id]);
        while let Some(node) = open.pop() {
            for &(before, link) in &self.entering[node.index()] {
                let step = &self.nodes[before.index()].links[link].step;
                let cost = usize::from(step.is_some());
                if self.distance(before).saturating_add(cost) != self.distance(node) {
                    continue;
                }
                match step {
                    Some(Step::Stimulus(action)) => found.push((before, action)),
                    _ if known.insert(before) => open.push(before),
                    _ => {}
                }
            }
        }
        found.sort_by_key(|(before, _)| (self.distance(*before), *before));
        found
    }

    /// The stimuli of the shortest way back to the initial node.
    pub fn way_home(&self, mut id: NodeId) -> Option<Vec<Action>> {
        let mut stimuli = Vec::new();
        while id != NodeId(0) {
            let node = &self.nodes[id.index()];
            let link = &node.links[node.home?];
            stimuli.extend(stimulus(link));
            id = link.target;
        }
        Some(stimuli)
    }

    /// A shortest way between two nodes, at most `limit` steps: its stimuli and its length. Asks after
    /// each node whether to go on.
    pub fn way_between(
        &self,
        from: NodeId,
        to: NodeId,
        limit: usize,
        goes_on: impl Fn() -> bool,
    ) -> Option<(Vec<Action>, usize)> {
        let mut came: FxHashMap<NodeId, (NodeId, usize, usize)> = FxHashMap::default();
        came.insert(from, (from, 0, 0));
        let mut queue = VecDeque::from([from]);
        while let Some(id) = queue.pop_front() {
            let distance = came[&id].2;
            if id == to {
                let mut stimuli = Vec::new();
                let mut at = id;
                while at != from {
                    let (previous, link, _) = came[&at];
                    stimuli.extend(stimulus(&self.nodes[previous.index()].links[link]));
                    at = previous;
                }
                stimuli.reverse();
                return Some((stimuli, distance));
            }
            if distance >= limit {
                continue;
            }
            if !goes_on() {
                return None;
            }
            for (link, way) in self.nodes[id.index()].links.iter().enumerate() {
                let cost = usize::from(way.step.is_some());
                if let Entry::Vacant(entry) = came.entry(way.target) {
                    entry.insert((id, link, distance + cost));
                    queue.push_back(way.target);
                }
            }
        }
        None
    }

    /// The stimuli that a settled node offers.
    pub fn stimuli(&self, id: NodeId) -> impl Iterator<Item = &Action> + '_ {
        let links = self.nodes[id.index()].links.iter();
        links.filter_map(|link| match &link.step {
            Some(Step::Stimulus(action)) => Some(action),
            _ => None,
        })
    }

    /// The link of a node that a stimulus takes.
    pub fn stimulus_link(&self, id: NodeId, action: &Action) -> Option<usize> {
        let mut links = self.nodes[id.index()].links.iter();
        links.position(|link| matches!(&link.step, Some(Step::Stimulus(a)) if a == action))
    }

    /// The link that the model takes by itself: silence, or the first of several possible responses. `None` in a
    /// settled node.
    pub fn answer_link(&self, id: NodeId) -> Option<usize> {
        let node = &self.nodes[id.index()];
        if node.is_settled || node.links.is_empty() {
            return None;
        }
        let silence = node.links.iter().position(|link| link.step.is_none());
        Some(silence.unwrap_or(0))
    }

    /// What a link shows; nothing for silence.
    pub fn step(&self, id: NodeId, link: usize) -> Option<&Step> {
        self.nodes[id.index()].links[link].step.as_ref()
    }

    pub fn target(&self, id: NodeId, link: usize) -> NodeId {
        self.nodes[id.index()].links[link].target
    }

    /// All nodes that can be reached.
    pub fn all(&self) -> impl Iterator<Item = NodeId> + '_ {
        let ids = (0..self.nodes.len() as u32).map(NodeId);
        ids.filter(|id| self.nodes[id.index()].distance < usize::MAX)
    }

    /// What the model expects of a stimulus; the first of several possible responses. `None` when it
    /// may send for ever.
    pub fn effect(&self, id: NodeId, action: &Action) -> Option<Effect> {
        let links = &self.nodes[id.index()].links;
        let given = links
            .iter()
            .find(|link| matches!(&link.step, Some(Step::Stimulus(a)) if a == action))?;
        let mut target = given.target;
        let mut answers = Vec::new();
        let mut followed = 0;
        while !self.nodes[target.index()].is_settled {
            let links = &self.nodes[target.index()].links;
            let next = links.iter().find(|l| l.step.is_none()).or(links.first())?;
            answers.extend(next.step.as_ref().and_then(Step::action).map(|a| a.label));
            target = next.target;
            followed += 1;
            if followed > MAX_ANSWERS {
                return None;
            }
        }
        Some(Effect {
            target,
            responses: answers.len(),
            answers,
        })
    }
}

fn stimulus(link: &Link) -> Option<Action> {
    match &link.step {
        Some(Step::Stimulus(action)) => Some(action.clone()),
        _ => None,
    }
}
