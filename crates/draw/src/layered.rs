//! The layered picture of a small process, laid out by the `dagre` library.

use dagre::graph::{Graph as Layout, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir};

use crate::graph::{Edge, Graph, Line, times};
use crate::render::{Arrow, Box, Picture, Point, Row};
use crate::text::{self, LINE_HEIGHT};

/// Characters in a line of an arrow's text, and of a location's name.
const ARROW_TEXT: usize = 44;
const NAME_TEXT: usize = 28;
/// More switches than this on one arrow are counted, not listed.
const MAX_LINES: usize = 10;
const PADDING: f64 = 10.0;

const START: &str = "start";

/// Width by height that a screen shows well.
const TARGET_ASPECT_RATIO: f64 = 1.5;

/// Lays out from top to bottom, or from left to right where that fits a screen better: many
/// switches with long guards make layers very wide.
pub fn picture(graph: &Graph) -> Picture {
    let downwards = lay_out(graph, RankDir::TB);
    let deviation = |picture: &Picture| {
        let (width, height) = picture.size();
        (width / height / TARGET_ASPECT_RATIO).ln().abs()
    };
    if deviation(&downwards) < (1.6_f64).ln() {
        return downwards;
    }
    let sideways = lay_out(graph, RankDir::LR);
    if deviation(&sideways) < deviation(&downwards) {
        sideways
    } else {
        downwards
    }
}

fn lay_out(graph: &Graph, rankdir: RankDir) -> Picture {
    let mut layout: Layout<NodeLabel, EdgeLabel> = Layout::with_options(GraphOptions {
        directed: true,
        multigraph: true,
        compound: false,
    });
    let names: Vec<Vec<Row>> = graph
        .nodes
        .iter()
        .map(|node| {
            let text = format!("{}{}", node.name, times(node.count));
            let lines = text::wrap(&text, NAME_TEXT, 4);
            lines
                .into_iter()
                .map(|text| Row::plain(text, "name"))
                .collect()
        })
        .collect();
    layout.set_node(START, Some(sized(8.0, 8.0)));
    for (number, rows) in names.iter().enumerate() {
        let (width, height) = extent(rows);
        let node = sized((width + 2.0 * PADDING).max(56.0), height + 1.4 * PADDING);
        layout.set_node(format!("{number}"), Some(node));
    }
    layout.set_edge(
        START,
        format!("{}", graph.initial),
        Some(EdgeLabel::default()),
        None,
    );
    let labels: Vec<Vec<Row>> = graph.edges.iter().map(arrow_rows).collect();
    for (edge, rows) in graph.edges.iter().zip(&labels) {
        let (width, height) = extent(rows);
        let label = EdgeLabel {
            width: width + 8.0,
            height: height + 4.0,
            labelpos: LabelPos::Center,
            ..EdgeLabel::default()
        };
        layout.set_edge(
            format!("{}", edge.source),
            format!("{}", edge.target),
            Some(label),
            None,
        );
    }
    let options = LayoutOptions {
        rankdir,
        nodesep: 36.0,
        edgesep: 16.0,
        ranksep: 28.0,
        marginx: 12.0,
        marginy: 12.0,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut layout, Some(options));
    placed(graph, &layout, names, labels)
}

fn sized(width: f64, height: f64) -> NodeLabel {
    NodeLabel {
        width,
        height,
        ..NodeLabel::default()
    }
}

fn extent(rows: &[Row]) -> (f64, f64) {
    let widths = rows.iter().map(|row| text::width(&row.text));
    (widths.fold(0.0, f64::max), rows.len() as f64 * LINE_HEIGHT)
}

fn arrow_rows(edge: &Edge) -> Vec<Row> {
    let shown = if edge.lines.len() > MAX_LINES {
        MAX_LINES - 1
    } else {
        edge.lines.len()
    };
    let rows_of = |line: &Line| -> Vec<Row> {
        let class = format!("{}{}", line.class, line.level.class());
        let wrapped = text::wrap(&line.shown(), ARROW_TEXT, 4)
            .into_iter()
            .enumerate();
        wrapped
            .map(|(index, text)| Row {
                // What goes on from the line before is set in.
                text: if index > 0 { format!("  {text}") } else { text },
                class: class.clone(),
                link: None,
            })
            .collect()
    };
    let mut rows: Vec<Row> = edge.lines[..shown].iter().flat_map(rows_of).collect();
    if shown < edge.lines.len() {
        let rest = edge.lines.len() - shown;
        rows.push(Row::plain(format!("… and {rest} more"), "internal"));
    }
    rows
}

fn placed(
    graph: &Graph,
    layout: &Layout<NodeLabel, EdgeLabel>,
    names: Vec<Vec<Row>>,
    labels: Vec<Vec<Row>>,
) -> Picture {
    let centre = |node: &NodeLabel| Point {
        x: node.x.unwrap_or(0.0),
        y: node.y.unwrap_or(0.0),
    };
    let mut picture = Picture::named(&graph.process);
    for ((number, node), rows) in graph.nodes.iter().enumerate().zip(names) {
        let Some(found) = layout.node(&format!("{number}")) else {
            continue;
        };
        let middle = centre(found);
        picture.boxes.push(Box {
            location: node.location,
            x: middle.x - found.width / 2.0,
            y: middle.y - found.height / 2.0,
            width: found.width,
            height: found.height,
            rows,
            centred: true,
            title: node.name.clone(),
            level: node.level,
        });
    }
    picture.start = layout.node(START).map(centre);
    let initial = format!("{}", graph.initial);
    if let Some(edge) = layout.edge(START, &initial, None) {
        picture.arrows.push(Arrow::start(points(edge)));
    }
    for (edge, rows) in graph.edges.iter().zip(labels) {
        let (source, target) = (format!("{}", edge.source), format!("{}", edge.target));
        let Some(found) = layout.edge(&source, &target, None) else {
            continue;
        };
        let label = match (found.x, found.y) {
            (Some(x), Some(y)) => Some(Point { x, y }),
            _ => None,
        };
        let titles: Vec<String> = edge.lines.iter().map(Line::shown).collect();
        picture.arrows.push(Arrow {
            points: points(found),
            rows,
            label,
            title: titles.join("\n"),
            level: edge.level,
            faint: false,
        });
    }
    picture
}

fn points(edge: &EdgeLabel) -> Vec<Point> {
    let points = edge.points.iter();
    points.map(|p| Point { x: p.x, y: p.y }).collect()
}
