//! Shortest-path shrinkers (van den Broek 2024, chapter 4): paths of the model to the failing state, shorter
//! ones first, until one of them fails.

mod all_paths;
mod queue;
mod reconstruction;

use ioco_sts::{Action, Execution, SetId, Step};
use rustc_hash::FxHashSet;

use crate::graph::{Edge, Graph, Nodes};
use crate::options::Pruning;
use crate::session::{Halt, Session, Shortest};
use crate::shrunk::{BugKind, Ended};

use all_paths::AllPaths;
use queue::{LabelCount, PathQueue, Rule, Subpaths};
use reconstruction::{Reconstruction, Transition, reconstruct};

/// The part of the model that may be used, and what the failing trace did in it.
struct Map {
    graph: Graph,
    reconstruction: Reconstruction,
    pruning: Pruning,
    labels: FxHashSet<ioco_sts::LabelId>,
}

impl Map {
    fn new(session: &mut Session<'_>, start: &Execution) -> Map {
        let mut graph = Graph::new(Nodes::States, &start.trace, session.options);
        let reconstruction = reconstruct(session.semantics, &mut graph, &start.trace);
        let actions = start.trace.iter().filter_map(Step::action);
        Map {
            graph,
            reconstruction,
            pruning: session.options.pruning,
            labels: actions.map(|action| action.label).collect(),
        }
    }

    /// The edges of a node, with their position, that pruning leaves.
    fn edges(&mut self, session: &mut Session<'_>, node: SetId) -> Vec<(u32, Edge)> {
        let edges = self.graph.edges(session.semantics, node);
        let numbered = (0u32..).zip(edges.iter());
        numbered
            .filter(|(_, edge)| match self.pruning {
                Pruning::None => true,
                Pruning::Labels => {
                    let label = edge.step.action().map(|action| action.label);
                    label.is_some_and(|label| self.labels.contains(&label))
                }
                Pruning::Transitions => self.is_original(node, edge),
            })
            .map(|(number, edge)| (number, edge.clone()))
            .collect()
    }

    fn is_original(&self, source: SetId, edge: &Edge) -> bool {
        self.reconstruction.transitions.contains(&Transition {
            source,
            step: edge.step.clone(),
            target: edge.target,
        })
    }
}

/// Where the next path comes from.
trait Paths {
    /// The steps of the next path to a destination; `None` when there is none left.
    fn next(&mut self, session: &mut Session<'_>, map: &mut Map)
    -> Result<Option<Vec<Step>>, Halt>;
}

/// Every path to the failing state.
pub(crate) fn sps_all_paths(
    session: &mut Session<'_>,
    start: &Execution,
) -> Result<Execution, Halt> {
    shortest_path(session, start, |_| AllPaths::new())
}

/// One path for each multiset of labels.
pub(crate) fn sps_por_label_count(
    session: &mut Session<'_>,
    start: &Execution,
) -> Result<Execution, Halt> {
    shortest_path(session, start, |s| queue_of(s, LabelCount::default()))
}

/// One path to each node and length, or each one that arrives by a transition of the failing
/// trace.
pub(crate) fn sps_por_subpaths(
    session: &mut Session<'_>,
    start: &Execution,
) -> Result<Execution, Halt> {
    shortest_path(session, start, |s| queue_of(s, Subpaths::default()))
}

fn queue_of<R: Rule>(session: &Session<'_>, rule: R) -> PathQueue<R> {
    PathQueue::new(session.semantics.initial(), rule)
}

fn shortest_path<P: Paths>(
    session: &mut Session<'_>,
    start: &Execution,
    paths: impl FnOnce(&Session<'_>) -> P,
) -> Result<Execution, Halt> {
    session.begin_search();
    let mut map = Map::new(session, start);
    let mut paths = paths(session);
    let mut shortest = Shortest(start.clone());
    let mut tried: FxHashSet<Vec<Action>> = FxHashSet::default();
    let mut is_first = true;
    let mut count = 0;
    while let Some(path) = paths.next(session, &mut map)? {
        count += 1;
        if count > session.options.max_candidates {
            let limit = session.options.max_candidates;
            let why = format!("{limit} paths to the failing state were tried and passed");
            return Err(Halt(Ended::Limit(why)));
        }
        let stimuli: Vec<Action> = path
            .into_iter()
            .filter_map(|step| match step {
                Step::Stimulus(action) => Some(action),
                _ => None,
            })
            .collect();
        // Different paths of a model that is not deterministic can have the same stimuli.
        if !tried.insert(stimuli.clone()) {
            continue;
        }
        let attempt = session.attempt(&stimuli)?;
        shortest.offer(&attempt);
        if is_first && session.kind == BugKind::Unknown {
            session.kind = match attempt.accepted {
                true => BugKind::State,
                false => BugKind::Trace,
            };
        }
        is_first = false;
        // The system may leave the path, and fail later than the trace does.
        if attempt.accepted {
            break;
        }
    }
    Ok(shortest.0)
}
