//! The picture of a large process: a card for each location that lists its switches and where they
//! lead, in columns by the distance from the initial location, with faint arrows behind.
//!
//! Any card can be read by itself, however many arrows there are; targets are links to their cards.

use std::collections::{BTreeMap, VecDeque};

use crate::graph::{Graph, Line, times};
use crate::render::{Arrow, Box, Picture, Point, Row};
use crate::text::{self, LINE_HEIGHT};

const CARD_TEXT: usize = 40;
/// More lines than this on one card are counted, not listed.
const MAX_LINES: usize = 14;
const GAP: f64 = 18.0;
const BETWEEN_LAYERS: f64 = 70.0;
const MARGIN: f64 = 40.0;
const PADDING: f64 = 8.0;

pub fn picture(graph: &Graph) -> Picture {
    let cards = cards(graph);
    let layers = layers(graph);
    let width = CARD_TEXT as f64 * text::width("m") + 2.0 * PADDING;
    let height_of = |node: usize| cards[node].len() as f64 * LINE_HEIGHT + 2.0 * PADDING;
    // Columns as high as makes the whole about half as high as wide.
    let area: f64 = (0..cards.len())
        .map(|node| (height_of(node) + GAP) * (width + GAP))
        .sum();
    let most = (area / 2.0).sqrt().max(400.0);

    let mut corner: Vec<Point> = vec![Point { x: 0.0, y: 0.0 }; cards.len()];
    let mut x = MARGIN;
    for layer in &layers {
        let mut y = MARGIN;
        for &node in layer {
            if y > MARGIN && y + height_of(node) > MARGIN + most {
                x += width + GAP;
                y = MARGIN;
            }
            corner[node] = Point { x, y };
            y += height_of(node) + GAP;
        }
        x += width + BETWEEN_LAYERS;
    }

    let mut picture = Picture::named(&graph.process);
    let row_of = |node: usize, edge: usize| {
        let position = cards[node].iter().position(|row| row.edge == Some(edge));
        position.unwrap_or(cards[node].len() - 1)
    };
    for (number, edge) in graph.edges.iter().enumerate() {
        let (from, to) = (corner[edge.source], corner[edge.target]);
        let row = row_of(edge.source, number) as f64;
        let start = Point {
            x: from.x + width,
            y: from.y + PADDING + (row + 0.5) * LINE_HEIGHT,
        };
        let end = Point {
            x: to.x,
            y: to.y + PADDING + 0.5 * LINE_HEIGHT,
        };
        let titles: Vec<String> = edge.lines.iter().map(Line::shown).collect();
        picture.arrows.push(Arrow {
            points: sideways(start, end),
            rows: Vec::new(),
            label: None,
            title: titles.join("\n"),
            level: edge.level,
            faint: true,
        });
    }
    let initial = corner.get(graph.initial).copied();
    if let Some(initial) = initial {
        let y = initial.y + PADDING + 0.5 * LINE_HEIGHT;
        let start = Point {
            x: initial.x - 30.0,
            y,
        };
        picture.start = Some(start);
        picture
            .arrows
            .push(Arrow::start(vec![start, Point { x: initial.x, y }]));
    }
    for (number, rows) in cards.into_iter().enumerate() {
        let node = &graph.nodes[number];
        picture.boxes.push(Box {
            location: node.location,
            x: corner[number].x,
            y: corner[number].y,
            width,
            height: rows.len() as f64 * LINE_HEIGHT + 2.0 * PADDING,
            rows: rows.into_iter().map(|card_row| card_row.row).collect(),
            centred: false,
            title: node.name.clone(),
            level: node.level,
        });
    }
    picture
}

/// Leaves to the right and arrives from the left, also where the target is on the left.
fn sideways(start: Point, end: Point) -> Vec<Point> {
    let reach = 26.0;
    vec![
        start,
        Point {
            x: start.x + reach,
            y: start.y,
        },
        Point {
            x: end.x - reach,
            y: end.y,
        },
        end,
    ]
}

struct CardRow {
    row: Row,
    /// The edge that it tells of.
    edge: Option<usize>,
}

fn cards(graph: &Graph) -> Vec<Vec<CardRow>> {
    let mut cards: Vec<Vec<CardRow>> = graph
        .nodes
        .iter()
        .map(|node| {
            let text = format!("{}{}", node.name, times(node.count));
            let lines = text::wrap(&text, CARD_TEXT, 3).into_iter();
            lines
                .map(|text| CardRow {
                    row: Row::plain(text, "name"),
                    edge: None,
                })
                .collect()
        })
        .collect();
    let mut left_out: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, edge) in graph.edges.iter().enumerate() {
        let target = &graph.nodes[edge.target];
        for line in &edge.lines {
            let card = &mut cards[edge.source];
            if card.len() >= MAX_LINES {
                *left_out.entry(edge.source).or_default() += 1;
                continue;
            }
            let text = format!("{} → {}", line.shown(), target.name);
            let text = text::wrap(&text, CARD_TEXT, 1).join("");
            card.push(CardRow {
                row: Row {
                    text,
                    class: format!("{}{}", line.class, line.level.class()),
                    link: Some(target.location),
                },
                edge: Some(number),
            });
        }
    }
    for (node, count) in left_out {
        cards[node].push(CardRow {
            row: Row::plain(format!("… and {count} more"), "internal"),
            edge: None,
        });
    }
    cards
}

/// The nodes by their distance from the initial one, in the order in which a breadth-first walk
/// finds them, which keeps the targets of one card together; last the ones that cannot be level.
fn layers(graph: &Graph) -> Vec<Vec<usize>> {
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        targets[edge.source].push(edge.target);
    }
    let mut layers: Vec<Vec<usize>> = Vec::new();
    let mut seen = vec![false; graph.nodes.len()];
    let mut queue = VecDeque::new();
    if !graph.nodes.is_empty() {
        seen[graph.initial] = true;
        queue.push_back((graph.initial, 0));
    }
    while let Some((node, distance)) = queue.pop_front() {
        if layers.len() <= distance {
            layers.push(Vec::new());
        }
        layers[distance].push(node);
        for &target in &targets[node] {
            if !std::mem::replace(&mut seen[target], true) {
                queue.push_back((target, distance + 1));
            }
        }
    }
    let unreached: Vec<usize> = (0..seen.len()).filter(|node| !seen[*node]).collect();
    if !unreached.is_empty() {
        layers.push(unreached);
    }
    layers
}
