//! The dependency graph as a drawing: the variables of every subsystem in a band of their own, and an arrow from each
//! variable to what it directly depends on.

use std::fmt::Write as _;

use super::{Decomposition, GAP, LETTER, LINE};
use crate::text::escape;

/// More variables than this are not drawn: the arrows could not be followed.
const DRAWN: usize = 40;
/// Variables in one row.
const ROW: usize = 6;
const HEIGHT: f64 = 26.0;
/// Room for arrows between rows, and between variables of a row.
const ROOM: f64 = 46.0;

struct PlacedVariable<'t> {
    name: &'t str,
    x: f64,
    y: f64,
    width: f64,
}

pub(super) struct Graph {
    pub text: String,
    pub width: f64,
    pub height: f64,
}

/// The graph from `top` on, or none when it has too many variables.
pub(super) fn graph(tree: &Decomposition, top: f64) -> Option<Graph> {
    let counts = tree.subsystems.iter().map(|part| part.variables.len());
    let count: usize = counts.sum();
    if count == 0 || count > DRAWN {
        return None;
    }
    let mut spots: Vec<PlacedVariable> = Vec::new();
    let mut bands = Vec::new();
    let (mut y, mut right) = (top + LINE, 0.0_f64);
    for part in &tree.subsystems {
        let begin = y;
        y += LINE + 8.0;
        for row in part.variables.chunks(ROW) {
            let mut x = GAP + 14.0;
            for name in row {
                let width = name.chars().count() as f64 * LETTER + 18.0;
                spots.push(PlacedVariable { name, x, y, width });
                x += width + ROOM;
                right = right.max(x - ROOM);
            }
            y += HEIGHT + ROOM;
        }
        bands.push((part.name.as_str(), begin, y - begin - ROOM + 20.0));
        y += 6.0;
    }
    let width = right + 14.0;
    let mut text = String::from(
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#446\"/></marker></defs>\n",
    );
    let _ = writeln!(
        text,
        "<text x=\"{GAP}\" y=\"{:.1}\" font-style=\"italic\">direct dependencies</text>",
        top + 6.0
    );
    for (name, begin, height) in bands {
        let _ = writeln!(
            text,
            "<rect x=\"{GAP}\" y=\"{begin:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"6\" fill=\"none\" stroke=\"#889\" stroke-dasharray=\"4 3\"/>",
            width - GAP
        );
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
            GAP + 10.0,
            begin + LINE - 3.0,
            escape(name)
        );
    }
    let find = |name: &str| spots.iter().find(|spot| spot.name == name);
    for (from, to) in &tree.dependencies {
        if let (Some(from), Some(to)) = (find(from), find(to)) {
            let _ = writeln!(
                text,
                "<path d=\"{}\" fill=\"none\" stroke=\"#446\" marker-end=\"url(#tip)\"/>",
                arrow(from, to)
            );
        }
    }
    for spot in &spots {
        let _ = writeln!(
            text,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{HEIGHT}\" rx=\"13\" fill=\"#f4f6fa\" stroke=\"#334\"/>",
            spot.x, spot.y, spot.width
        );
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            spot.x + spot.width / 2.0,
            spot.y + 17.0,
            escape(spot.name)
        );
    }
    Some(Graph {
        text,
        width,
        height: y - ROOM + 20.0,
    })
}

/// The way of an arrow: down or up between rows, in a bow over a row, in a loop to itself.
fn arrow(from: &PlacedVariable, to: &PlacedVariable) -> String {
    let (from_middle, to_middle) = (from.x + from.width / 2.0, to.x + to.width / 2.0);
    if from.name == to.name {
        let (x, y) = (from.x + from.width, from.y + HEIGHT / 2.0);
        return format!(
            "M{:.1},{:.1} C{:.1},{:.1} {:.1},{:.1} {x:.1},{:.1}",
            x,
            y - 6.0,
            x + 26.0,
            y - 16.0,
            x + 26.0,
            y + 16.0,
            y + 6.0
        );
    }
    if (from.y - to.y).abs() < 1.0 {
        let bottom = from.y + HEIGHT;
        let bow = bottom + 10.0 + (from_middle - to_middle).abs() * 0.12;
        return format!(
            "M{from_middle:.1},{bottom:.1} Q{:.1},{bow:.1} {to_middle:.1},{bottom:.1}",
            f64::midpoint(from_middle, to_middle)
        );
    }
    let (start, end) = if from.y < to.y {
        (from.y + HEIGHT, to.y)
    } else {
        (from.y, to.y + HEIGHT)
    };
    format!("M{from_middle:.1},{start:.1} L{to_middle:.1},{end:.1}")
}
