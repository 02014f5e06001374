//! A failing execution as the search looks at it: its stimuli, and the settled node that each of
//! them was given in.

use ioco_sts::{Action, Execution};

use super::routes::{NodeId, Routes};
use crate::walk::Walk;

pub(super) struct Trail {
    pub stimuli: Vec<Action>,
    /// The node before each stimulus.
    pub nodes: Vec<NodeId>,
    /// Steps of the whole execution, the deviation included.
    pub length: usize,
    /// Steps from the last stimulus on, both it and the deviation included.
    pub tail: usize,
}

impl Trail {
    /// `None` when it leaves the explored part of the model, or has no stimulus.
    pub fn of(walk: &Walk, routes: &Routes, execution: &Execution) -> Option<Trail> {
        let positions = walk.stimulus_positions();
        let last = *positions.last()?;
        let nodes = positions
            .iter()
            .map(|position| routes.node(walk.sets[*position]))
            .collect::<Option<Vec<NodeId>>>()?;
        let length = execution.length();
        Some(Trail {
            stimuli: execution.stimuli().cloned().collect(),
            nodes,
            length,
            tail: length - last,
        })
    }

    pub fn last(&self) -> usize {
        self.stimuli.len() - 1
    }

    /// There is no shorter way to the failing state.
    pub fn is_shortest_way(&self, routes: &Routes) -> bool {
        routes.distance(self.nodes[self.last()]) + self.tail >= self.length
    }
}
