//! Drawings of a decomposition: Graphviz text, and a plain SVG that needs no other program. The tree of subsystems is
//! on top, level by level; below it the graph of the variables, those of one subsystem in one box.

mod graph;

use std::fmt::Write as _;

use crate::decompose::{SubsystemData, TreeData};

/// Graphviz text: a cluster for every subsystem, an arrow from a variable to what it depends on.
pub fn dot(tree: &TreeData) -> String {
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
        for variable in owned(subsystem) {
            let _ = writeln!(text, "    \"{}\";", escape_dot(variable));
        }
        text.push_str("  }\n");
    }
    for edge in &tree.dependencies {
        if edge.from != edge.to {
            let _ = writeln!(
                text,
                "  \"{}\" -> \"{}\";",
                escape_dot(&edge.from),
                escape_dot(&edge.to)
            );
        }
    }
    for subsystem in &tree.subsystems {
        for link in &subsystem.children {
            let _ = writeln!(
                text,
                "  \"{} tree\" -> \"{} tree\" [label=\"{}\", style=bold];",
                subsystem.name,
                link.subsystem,
                escape_dot(&link.variable)
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

/// The variables that a subsystem computes itself.
fn owned(subsystem: &SubsystemData) -> impl Iterator<Item = &String> {
    subsystem
        .variables
        .iter()
        .filter(|variable| !subsystem.inputs.contains(variable))
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
pub fn svg(tree: &TreeData) -> String {
    let boxes = layout(tree);
    let width = boxes.iter().map(|b| b.x + b.width).fold(300.0, f64::max) + GAP;
    let height = boxes.iter().map(|b| b.y + b.height).fold(100.0, f64::max) + GAP;
    let graph = graph::graph(tree, height);
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
        escape_xml(&tree.goal)
    );
    let _ = writeln!(
        text,
        "<text x=\"{GAP}\" y=\"24\" font-size=\"14\" font-weight=\"bold\">{}</text>",
        escape_xml(&tree.goal)
    );
    for (index, subsystem) in tree.subsystems.iter().enumerate() {
        for link in &subsystem.children {
            let Some(child) = tree
                .subsystems
                .iter()
                .position(|other| other.name == link.subsystem)
            else {
                continue;
            };
            let (from, to) = (&boxes[index], &boxes[child]);
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
                escape_xml(&link.variable)
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
            escape_xml(&subsystem.name),
            subsystem.bits
        );
        for (row, line) in place.lines.iter().enumerate() {
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                place.x + 10.0,
                place.y + LINE * (row as f64 + 2.0) - 3.0,
                escape_xml(line)
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
fn box_lines(subsystem: &SubsystemData) -> Vec<String> {
    let mut lines = Vec::new();
    let own: Vec<&str> = owned(subsystem).map(String::as_str).collect();
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
fn layout(tree: &TreeData) -> Vec<Frame> {
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
    let children: Vec<Vec<usize>> = tree
        .subsystems
        .iter()
        .map(|subsystem| {
            subsystem
                .children
                .iter()
                .filter_map(|link| {
                    tree.subsystems
                        .iter()
                        .position(|other| other.name == link.subsystem)
                })
                .collect()
        })
        .collect();
    if !boxes.is_empty() {
        place(0, GAP, 2.0 * GAP, &children, &mut boxes);
    }
    boxes
}

/// Places a subtree from `left` on and returns where it ends on the right.
fn place(index: usize, left: f64, top: f64, children: &[Vec<usize>], boxes: &mut [Frame]) -> f64 {
    let below = top + boxes[index].height + 2.0 * GAP;
    let mut right = left;
    for child in &children[index] {
        right = place(*child, right, below, children, boxes) + GAP;
    }
    let span = (right - GAP).max(left) - left;
    let own = boxes[index].width;
    boxes[index].y = top;
    boxes[index].x = left + ((span - own) / 2.0).max(0.0);
    (left + own).max(left + span)
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
