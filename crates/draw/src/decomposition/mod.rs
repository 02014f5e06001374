//! A decomposition of a model into subsystems: Graphviz text, and an SVG. The tree of subsystems is on top, level by
//! level; below it the graph of the variables, those of one subsystem in one box.

mod dependencies;

use std::fmt::Write as _;

use crate::text::escape;

/// A model taken apart for a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decomposition {
    pub goal: String,
    /// The root first.
    pub subsystems: Vec<Subsystem>,
    /// Variables, each with one that it directly depends on.
    pub dependencies: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subsystem {
    pub name: String,
    /// What it computes itself.
    pub variables: Vec<String>,
    pub inputs: Vec<String>,
    pub bits: u32,
    /// The linking variables, and the numbers of the subsystems that compute them.
    pub children: Vec<(String, usize)>,
}

/// Graphviz text: a cluster for every subsystem, an arrow from a variable to what it depends on.
pub fn dot(tree: &Decomposition) -> String {
    let mut text = String::from(
        "digraph decomposition {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n",
    );
    let _ = writeln!(text, "  label=\"{}\";", escape_dot(&tree.goal));
    for subsystem in &tree.subsystems {
        let _ = writeln!(
            text,
            "  subgraph \"cluster_{}\" {{\n    label=\"{}\";",
            subsystem.name, subsystem.name
        );
        for variable in &subsystem.variables {
            let _ = writeln!(text, "    \"{}\";", escape_dot(variable));
        }
        text.push_str("  }\n");
    }
    for (from, to) in &tree.dependencies {
        if from != to {
            let (from, to) = (escape_dot(from), escape_dot(to));
            let _ = writeln!(text, "  \"{from}\" -> \"{to}\";");
        }
    }
    for subsystem in &tree.subsystems {
        for (variable, child) in &subsystem.children {
            let _ = writeln!(
                text,
                "  \"{} tree\" -> \"{} tree\" [label=\"{}\", style=bold];",
                subsystem.name,
                tree.subsystems[*child].name,
                escape_dot(variable)
            );
        }
        let _ = writeln!(
            text,
            "  \"{} tree\" [label=\"{} ({} bits)\", shape=ellipse, style=bold];",
            subsystem.name, subsystem.name, subsystem.bits
        );
    }
    text.push_str("}\n");
    text
}

fn escape_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

const LETTER: f64 = 7.2;
const LINE: f64 = 20.0;
const GAP: f64 = 36.0;
/// Names in one row of a box.
const ROW: usize = 4;
/// More variables than this are counted, not listed.
const LISTED: usize = 40;

struct Frame {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    lines: Vec<String>,
}

/// A drawing of the tree, every subsystem a box with its variables and every edge named by its linking variable, and
/// of the dependency graph where it has few enough variables.
pub fn svg(tree: &Decomposition) -> String {
    let boxes = layout(tree);
    let width = boxes.iter().map(|b| b.x + b.width).fold(300.0, f64::max) + GAP;
    let height = boxes.iter().map(|b| b.y + b.height).fold(100.0, f64::max) + GAP;
    let graph = dependencies::graph(tree, height);
    let (width, height) = match &graph {
        Some(graph) => (width.max(graph.width + GAP), graph.height + GAP),
        None => (width, height),
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">"
    );
    let _ = writeln!(
        text,
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    let _ = writeln!(
        text,
        "<title>Decomposition for {}</title>",
        escape(&tree.goal)
    );
    let _ = writeln!(
        text,
        "<text x=\"{GAP}\" y=\"24\" font-size=\"14\" font-weight=\"bold\">{}</text>",
        escape(&tree.goal)
    );
    for (index, subsystem) in tree.subsystems.iter().enumerate() {
        for (variable, child) in &subsystem.children {
            let (from, to) = (&boxes[index], &boxes[*child]);
            let (x1, y1) = (from.x + from.width / 2.0, from.y + from.height);
            let (x2, y2) = (to.x + to.width / 2.0, to.y);
            let _ = writeln!(
                text,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"black\" stroke-width=\"1.5\"/>"
            );
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-style=\"italic\">{}</text>",
                f64::midpoint(x1, x2) + 6.0,
                f64::midpoint(y1, y2) + 4.0,
                escape(variable)
            );
        }
    }
    for (subsystem, place) in tree.subsystems.iter().zip(&boxes) {
        let _ = writeln!(
            text,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\" fill=\"#f4f6fa\" stroke=\"#334\"/>",
            place.x, place.y, place.width, place.height
        );
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{} ({} bits)</text>",
            place.x + 10.0,
            place.y + LINE - 3.0,
            escape(&subsystem.name),
            subsystem.bits
        );
        for (row, line) in place.lines.iter().enumerate() {
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                place.x + 10.0,
                place.y + LINE * (row as f64 + 2.0) - 3.0,
                escape(line)
            );
        }
    }
    if let Some(graph) = &graph {
        text.push_str(&graph.text);
    }
    text.push_str("</svg>\n");
    text
}

/// The lines of a box: own variables, then inputs.
fn box_lines(subsystem: &Subsystem) -> Vec<String> {
    let mut lines = Vec::new();
    let own = &subsystem.variables;
    for row in own[..own.len().min(LISTED)].chunks(ROW) {
        lines.push(row.join(", "));
    }
    if own.len() > LISTED {
        lines.push(format!("and {} more", own.len() - LISTED));
    }
    if !subsystem.inputs.is_empty() {
        lines.push(format!("inputs: {}", subsystem.inputs.join(", ")));
    }
    lines
}

/// Every child below its parent; a parent over the middle of its children.
fn layout(tree: &Decomposition) -> Vec<Frame> {
    let mut boxes: Vec<Frame> = tree
        .subsystems
        .iter()
        .map(|subsystem| {
            let lines = box_lines(subsystem);
            let longest = lines
                .iter()
                .map(|line| line.chars().count())
                .max()
                .unwrap_or(0)
                .max(16);
            Frame {
                x: 0.0,
                y: 0.0,
                width: longest as f64 * LETTER + 20.0,
                height: LINE * (lines.len() as f64 + 1.0) + 8.0,
                lines,
            }
        })
        .collect();
    if !boxes.is_empty() {
        place(0, GAP, 2.0 * GAP, tree, &mut boxes);
    }
    boxes
}

/// Places a subtree from `left` on and returns where it ends on the right.
fn place(index: usize, left: f64, top: f64, tree: &Decomposition, boxes: &mut [Frame]) -> f64 {
    let below = top + boxes[index].height + 2.0 * GAP;
    let mut right = left;
    for (_, child) in &tree.subsystems[index].children {
        right = place(*child, right, below, tree, boxes) + GAP;
    }
    let span = (right - GAP).max(left) - left;
    let own = boxes[index].width;
    boxes[index].y = top;
    boxes[index].x = left + ((span - own) / 2.0).max(0.0);
    (left + own).max(left + span)
}
