//! Transition systems as SVG pictures, with coverage where it is known.
//!
//! Small systems are laid out in layers by the `dagre` library: locations as boxes, switches as
//! arrows with their guards. No layered picture of hundreds of locations is readable, and no layered
//! layout of them is quick; larger systems are drawn as [`cards`] that list their switches.
//!
//! [`decomposition`] draws NuSMV models taken apart.
//!
//! Colour is never the only sign: coverage is also a number and a line style. The picture follows
//! the reader's choice of a light or dark scheme.

mod cards;
pub mod decomposition;
mod graph;
mod layered;
mod render;
mod text;

use ioco_sts::Sts;

use graph::Graph;

/// How often each location was visited and each switch taken, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub locations: Vec<u64>,
    pub switches: Vec<u64>,
}

/// What to show besides the system itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style<'a> {
    /// Shown as numbers, colours and line styles.
    pub coverage: Option<&'a Counts>,
}

/// Arrows and locations of one process up to which the layered layout answers in about a second.
const MAX_LAYERED: usize = 160;

/// Draws a system. The time is bounded: thousands of locations take a fraction of a second, and only
/// systems near the limit of the layered layout take about one.
pub fn svg(sts: &Sts, style: &Style<'_>) -> String {
    let graphs: Vec<Graph> = (0..sts.processes().len())
        .map(|process| Graph::of_process(sts, process, style.coverage))
        .collect();
    let small = |graph: &Graph| graph.nodes.len() + graph.edges.len() <= MAX_LAYERED;
    let pictures = graphs.iter().map(|graph| {
        if small(graph) {
            layered::picture(graph)
        } else {
            cards::picture(graph)
        }
    });
    render::document(sts, style, pictures.collect())
}
