//! Pictures as SVG text.

use std::fmt::Write as _;

use ioco_sts::{LocationId, Sts};

use crate::Style;
use crate::graph::CoverageLevel;
use crate::text::{LINE_HEIGHT, SIZE, escape, width};

#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// A line of text.
pub struct Row {
    pub text: String,
    pub class: String,
    pub link: Option<LocationId>,
}

impl Row {
    pub fn plain(text: String, class: &str) -> Row {
        Row {
            text,
            class: class.to_owned(),
            link: None,
        }
    }
}

/// A location.
pub struct Box {
    pub location: LocationId,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub rows: Vec<Row>,
    pub centred: bool,
    pub title: String,
    pub level: CoverageLevel,
}

/// The switches between two locations.
pub struct Arrow {
    pub points: Vec<Point>,
    pub rows: Vec<Row>,
    pub label: Option<Point>,
    pub title: String,
    pub level: CoverageLevel,
    /// Behind everything, where there are too many arrows to follow each.
    pub faint: bool,
}

impl Arrow {
    pub fn start(points: Vec<Point>) -> Arrow {
        Arrow {
            points,
            rows: Vec::new(),
            label: None,
            title: "initial".to_owned(),
            level: CoverageLevel::Unknown,
            faint: false,
        }
    }
}

/// One process, with places.
pub struct Picture {
    pub name: String,
    pub boxes: Vec<Box>,
    pub arrows: Vec<Arrow>,
    pub start: Option<Point>,
}

impl Picture {
    pub fn named(name: &str) -> Picture {
        Picture {
            name: name.to_owned(),
            boxes: Vec::new(),
            arrows: Vec::new(),
            start: None,
        }
    }

    pub fn size(&self) -> (f64, f64) {
        let (low, high) = self.bounds();
        (high.x - low.x, high.y - low.y)
    }

    /// The smallest and largest coordinates of anything in it.
    fn bounds(&self) -> (Point, Point) {
        let mut low = Point { x: 0.0, y: 0.0 };
        let mut high = Point { x: 60.0, y: 40.0 };
        let mut include = |x: f64, y: f64| {
            low = Point {
                x: low.x.min(x),
                y: low.y.min(y),
            };
            high = Point {
                x: high.x.max(x),
                y: high.y.max(y),
            };
        };
        for b in &self.boxes {
            include(b.x, b.y);
            include(b.x + b.width, b.y + b.height);
        }
        for arrow in &self.arrows {
            for point in &arrow.points {
                include(point.x, point.y);
            }
            if let Some(label) = arrow.label {
                let (half_width, half_height) = half_extent(&arrow.rows);
                include(label.x - half_width, label.y - half_height);
                include(label.x + half_width, label.y + half_height);
            }
        }
        (low, high)
    }
}

fn half_extent(rows: &[Row]) -> (f64, f64) {
    let widest = rows.iter().map(|row| width(&row.text)).fold(0.0, f64::max);
    (widest / 2.0, rows.len() as f64 * LINE_HEIGHT / 2.0)
}

const MARGIN: f64 = 16.0;
const HEADING: f64 = 30.0;

/// Light first; a reader who asked for a dark scheme gets the second half too.
const STYLE_SHEET: &str = "
text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328; }
.heading { font-size: 15px; font-weight: bold; }
.name { font-weight: bold; }
.paper { fill: #ffffff; }
.location { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.2; }
.arrow { fill: none; stroke: #57606a; stroke-width: 1.2; }
.faint { opacity: 0.22; }
.faint:hover { opacity: 1; stroke-width: 3; }
.head, .dot { fill: #57606a; stroke: none; }
.back { fill: #ffffff; opacity: 0.85; }
.stimulus { fill: #0550ae; } .response { fill: #7a3e00; } .internal { fill: #57606a; }
.location.covered { fill: #dafbe1; stroke: #1a7f37; stroke-width: 2; }
.location.missed { fill: #ffffff; stroke: #cf222e; stroke-width: 1.6; stroke-dasharray: 6 4; }
.arrow.covered { stroke: #1a7f37; stroke-width: 2; }
.arrow.partly { stroke: #9a6700; stroke-width: 1.8; stroke-dasharray: 10 3 2 3; }
.arrow.missed { stroke: #cf222e; stroke-dasharray: 6 4; }
.head.covered { fill: #1a7f37; } .head.partly { fill: #9a6700; } .head.missed { fill: #cf222e; }
text .missed, text.missed { fill: #cf222e; font-style: italic; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.paper, .back { fill: #0d1117; }
.location { fill: #161b22; stroke: #8b949e; }
.arrow { stroke: #8b949e; }
.head, .dot { fill: #8b949e; }
.stimulus { fill: #79c0ff; } .response { fill: #ffa657; } .internal { fill: #8b949e; }
.location.covered { fill: #12261e; stroke: #3fb950; }
.location.missed { fill: #0d1117; stroke: #f85149; }
.arrow.covered { stroke: #3fb950; } .arrow.partly { stroke: #d29922; }
.arrow.missed { stroke: #f85149; }
.head.covered { fill: #3fb950; } .head.partly { fill: #d29922; } .head.missed { fill: #f85149; }
text .missed, text.missed { fill: #f85149; }
}
";

pub fn document(sts: &Sts, style: &Style<'_>, pictures: Vec<Picture>) -> String {
    let several = pictures.len() > 1;
    let mut body = String::new();
    let mut y = MARGIN;
    let mut widest: f64 = 0.0;
    if style.coverage.is_some() {
        legend(&mut body, y);
        y += HEADING;
        widest = 700.0;
    }
    // Writing into a String cannot fail, here and below.
    for picture in &pictures {
        if several {
            let _ = writeln!(
                body,
                "<text class=\"heading\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>",
                y + 16.0,
                escape(&picture.name)
            );
            y += HEADING;
        }
        let (low, high) = picture.bounds();
        let _ = writeln!(
            body,
            "<g transform=\"translate({:.1} {:.1})\">",
            MARGIN - low.x,
            y - low.y
        );
        draw(&mut body, picture);
        body.push_str("</g>\n");
        widest = widest.max(high.x - low.x);
        y += high.y - low.y + MARGIN;
    }
    let (width, height) = (widest + 2.0 * MARGIN, y);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>{}</title>\n\
         <style>{STYLE_SHEET}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        escape(sts.name())
    )
}

/// What the line styles mean.
fn legend(body: &mut String, y: f64) {
    let entries = [
        (CoverageLevel::Fully, "taken (×times)"),
        (CoverageLevel::Partly, "some of its switches taken"),
        (CoverageLevel::Never, "never taken"),
    ];
    let mut x = MARGIN;
    for (level, text) in entries {
        let class = level.class();
        let _ = writeln!(
            body,
            "<path class=\"arrow{class}\" d=\"M{x:.1} {0:.1}h36\"/><text x=\"{1:.1}\" y=\"{2:.1}\">\
             {text}</text>",
            y + 8.0,
            x + 44.0,
            y + 12.0,
        );
        x += 44.0 + width(text) + 28.0;
    }
}

fn draw(body: &mut String, picture: &Picture) {
    for arrow in &picture.arrows {
        draw_arrow(body, arrow);
    }
    if let Some(start) = picture.start {
        let _ = writeln!(
            body,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"/>",
            start.x, start.y
        );
    }
    for b in &picture.boxes {
        draw_box(body, b);
    }
    // Texts of arrows last, so that no arrow runs through one.
    for arrow in &picture.arrows {
        if let Some(label) = arrow.label {
            let (half_width, half_height) = half_extent(&arrow.rows);
            let (x, y) = (label.x - half_width, label.y - half_height);
            let _ = writeln!(
                body,
                "<g><title>{}</title><rect class=\"back\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
                 height=\"{:.1}\"/>",
                escape(&arrow.title),
                x - 2.0,
                2.0 * half_width + 4.0,
                2.0 * half_height
            );
            draw_rows(body, &arrow.rows, x, y, false);
            body.push_str("</g>\n");
        }
    }
}

fn draw_box(body: &mut String, b: &Box) {
    let _ = writeln!(
        body,
        "<g id=\"l{}\"><title>{}</title><rect class=\"location{}\" x=\"{:.1}\" y=\"{:.1}\" \
         width=\"{:.1}\" height=\"{:.1}\" rx=\"7\"/>",
        b.location.0,
        escape(&b.title),
        b.level.class(),
        b.x,
        b.y,
        b.width,
        b.height
    );
    let top = b.y + (b.height - b.rows.len() as f64 * LINE_HEIGHT) / 2.0;
    let x = if b.centred {
        b.x + b.width / 2.0
    } else {
        b.x + 8.0
    };
    draw_rows(body, &b.rows, x, top, b.centred);
    body.push_str("</g>\n");
}

fn draw_rows(body: &mut String, rows: &[Row], x: f64, top: f64, centred: bool) {
    let anchor = if centred {
        " text-anchor=\"middle\""
    } else {
        ""
    };
    for (index, row) in rows.iter().enumerate() {
        let baseline = top + (index as f64 + 0.5) * LINE_HEIGHT + SIZE * 0.35;
        let text = format!(
            "<text class=\"{}\" x=\"{x:.1}\" y=\"{baseline:.1}\"{anchor} xml:space=\"preserve\">{}</text>",
            row.class,
            escape(&row.text)
        );
        let _ = match row.link {
            Some(target) => writeln!(body, "<a href=\"#l{}\">{text}</a>", target.0),
            None => writeln!(body, "{text}"),
        };
    }
}

fn draw_arrow(body: &mut String, arrow: &Arrow) {
    let Some((last, before)) = last_two(&arrow.points) else {
        return;
    };
    let faint = if arrow.faint { " class=\"faint\"" } else { "" };
    let class = arrow.level.class();
    let _ = writeln!(
        body,
        "<g{faint}><title>{}</title><path class=\"arrow{class}\" d=\"{}\"/><path class=\"head{class}\" \
         d=\"{}\"/></g>",
        escape(&arrow.title),
        curve(&arrow.points),
        head(before, last)
    );
}

/// The last point, and the last one before it that is somewhere else.
fn last_two(points: &[Point]) -> Option<(Point, Point)> {
    let last = *points.last()?;
    let before = points
        .iter()
        .rev()
        .find(|p| (p.x - last.x).abs() + (p.y - last.y).abs() > 0.5)?;
    Some((last, *before))
}

/// A smooth line through all points (Catmull-Rom), so that it also runs under its text.
fn curve(points: &[Point]) -> String {
    let mut path = String::new();
    let Some(first) = points.first() else {
        return path;
    };
    let _ = write!(path, "M{:.1} {:.1}", first.x, first.y);
    let at = |index: usize| points[index.min(points.len() - 1)];
    for index in 1..points.len() {
        let (from, to) = (points[index - 1], points[index]);
        let (before, after) = (at(index.saturating_sub(2)), at(index + 1));
        let _ = write!(
            path,
            "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            from.x + (to.x - before.x) / 6.0,
            from.y + (to.y - before.y) / 6.0,
            to.x - (after.x - from.x) / 6.0,
            to.y - (after.y - from.y) / 6.0,
            to.x,
            to.y
        );
    }
    path
}

/// A triangle whose tip is where the arrow ends.
fn head(before: Point, tip: Point) -> String {
    let (dx, dy) = (tip.x - before.x, tip.y - before.y);
    let length = dx.hypot(dy).max(0.001);
    let (ux, uy) = (dx / length, dy / length);
    let (back_x, back_y) = (tip.x - 9.0 * ux, tip.y - 9.0 * uy);
    format!(
        "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z",
        tip.x,
        tip.y,
        back_x - 4.0 * uy,
        back_y + 4.0 * ux,
        back_x + 4.0 * uy,
        back_y - 4.0 * ux
    )
}
