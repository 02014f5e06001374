//! The graph that the statements of a process make, before jumps are taken out.

use ioco_sts::{Assignment, Expr, Gate};

use crate::ast::Site;

/// A place between two statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Node {
    pub names: Vec<String>,
    pub site: Site,
    pub timeout: Option<u64>,
    /// The beginning of an option, which is no location of its own unless something jumps to it.
    pub option_start: bool,
    /// A `goto` names it.
    pub jumped_to: bool,
}

/// A `receive`, `send` or `tau`.
#[derive(Clone, Debug)]
pub struct Edge {
    pub source: NodeId,
    pub target: NodeId,
    pub gate: Gate,
    pub guard: Expr,
    pub update: Vec<Assignment>,
    pub note: Option<String>,
    /// What it shows, by position in the model's requirements.
    pub requirements: Vec<usize>,
    pub site: Site,
}

/// A `choice` or `repeat` and its options.
#[derive(Clone, Debug)]
pub struct Branching {
    pub options: Vec<(NodeId, Site)>,
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// From where to where control goes on without a step.
    pub jumps: Vec<(NodeId, NodeId)>,
    pub branchings: Vec<Branching>,
}

/// How large a graph was, to take back what was added since.
pub struct Mark {
    nodes: usize,
    edges: usize,
    jumps: usize,
    branchings: usize,
}

impl Graph {
    pub fn node(&mut self, site: Site) -> NodeId {
        self.nodes.push(Node {
            names: Vec::new(),
            site,
            timeout: None,
            option_start: false,
            jumped_to: false,
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub fn jump(&mut self, from: NodeId, to: NodeId) {
        self.jumps.push((from, to));
    }

    pub fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            edges: self.edges.len(),
            jumps: self.jumps.len(),
            branchings: self.branchings.len(),
        }
    }

    pub fn take_back(&mut self, mark: &Mark) {
        self.nodes.truncate(mark.nodes);
        self.edges.truncate(mark.edges);
        self.jumps.truncate(mark.jumps);
        self.branchings.truncate(mark.branchings);
    }

    /// Per node, the nodes that control goes on to without a step.
    pub fn successors(&self) -> Vec<Vec<NodeId>> {
        let mut successors = vec![Vec::new(); self.nodes.len()];
        for (from, to) in &self.jumps {
            if from != to && !successors[from.index()].contains(to) {
                successors[from.index()].push(*to);
            }
        }
        successors
    }

    /// Per node, the edges that leave it.
    pub fn leaving(&self) -> Vec<Vec<u32>> {
        let mut leaving = vec![Vec::new(); self.nodes.len()];
        for (index, edge) in self.edges.iter().enumerate() {
            leaving[edge.source.index()].push(index as u32);
        }
        leaving
    }
}
