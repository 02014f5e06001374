//! Graphviz (`.dot`): reads automata in the style of the Automata Wiki, and draws every system.
//!
//! An edge `input / output` of a Mealy machine becomes the stimulus `?input` and, through a
//! location of its own, the response `!output`. An output that stands for silence becomes no
//! response at all. An edge `?x`, `!x` or `τ` is taken as it stands.
//!
//! What ioco draws it reads back without loss: the graph, its nodes and its edges have an attribute
//! `ioco` with what the drawing cannot say. Other programs pass over it.

mod syntax;

use std::fmt::Write as _;

use serde_json::Value as Json;

use ioco_sts::{LocationId, Sts, SwitchId, show_switch_label};

use super::FormatError;
use super::json::{self, Drawn, DrawnLocation, DrawnStart, DrawnSwitch};
use super::plain::PlainBuilder;

pub use super::plain::MealyOptions;

/// The attribute with the exact data.
const DATA: &str = "ioco";

/// Nodes with this beginning are no states: the arrow from one points at the initial state.
const START: &str = "__start";

/// Reads an automaton; `name` becomes the name of the system and of its file in messages.
pub fn read(name: &str, text: &str, options: &MealyOptions) -> Result<Sts, FormatError> {
    let graph = syntax::parse(text)?;
    if let Some((line, _, head)) = graph.attributes.iter().find(|(_, name, _)| name == DATA) {
        let drawn = Drawn {
            head: (*line, data(*line, head)?),
            ..drawn(&graph)?
        };
        return drawn.assemble(json::same_label, &options.budget);
    }
    let statements = graph.statements;
    let mut builder = PlainBuilder::new(name);
    let mut initial: Option<LocationId> = None;
    let mut first_source: Option<LocationId> = None;
    // Nodes before edges, so that the locations between an input and its output come last.
    for statement in &statements {
        for node in &statement.nodes {
            if !node.starts_with(START) {
                builder.location(node, statement.line);
            }
        }
    }
    for statement in &statements {
        for pair in statement.nodes.windows(2) {
            let line = statement.line;
            let [source, target] = pair else { continue };
            if target.starts_with(START) {
                return Err(FormatError::new(
                    line,
                    format!("`{target}` marks the initial state; no edge can lead to it"),
                ));
            }
            let target = builder.location(target, line);
            if source.starts_with(START) {
                if initial.is_some_and(|known| known != target) {
                    return Err(FormatError::new(line, "there are two initial states"));
                }
                initial = Some(target);
                continue;
            }
            let source = builder.location(source, line);
            first_source.get_or_insert(source);
            let label = statement.attribute("label").unwrap_or_default().trim();
            builder.edge(options, source, label, target, line)?;
        }
    }
    match initial.or(first_source) {
        Some(initial) => Ok(builder.finish(initial)),
        None => Err(FormatError::new(
            0,
            "there is no edge, so no state is the initial one",
        )),
    }
}

fn data(line: u32, text: &str) -> Result<Json, FormatError> {
    serde_json::from_str(text)
        .map_err(|error| FormatError::new(line, format!("`{DATA}` is not JSON: {error}")))
}

/// The drawing of a system that this program has written.
fn drawn(graph: &syntax::Graph) -> Result<Drawn, FormatError> {
    let mut drawn = Drawn::default();
    let part = |statement: &syntax::Statement| match statement.attribute(DATA) {
        Some(text) => data(statement.line, text),
        None => Err(FormatError::new(
            statement.line,
            format!("this has no `{DATA}` data, and the rest of the drawing has"),
        )),
    };
    for statement in &graph.statements {
        let line = statement.line;
        let shown = || statement.attribute("label").unwrap_or_default().to_owned();
        if let [node] = &statement.nodes[..]
            && !node.starts_with(START)
        {
            drawn.locations.push(DrawnLocation {
                line,
                id: node.clone(),
                shown: shown(),
                json: part(statement)?,
            });
        }
        for pair in statement.nodes.windows(2) {
            let [source, target] = pair else { continue };
            match source.strip_prefix(START) {
                Some(process) => drawn.initial.push(DrawnStart {
                    line,
                    process: process.parse().unwrap_or(usize::MAX),
                    location: target.clone(),
                }),
                None => drawn.switches.push(DrawnSwitch {
                    line,
                    number: drawn.switches.len() as u64,
                    source: source.clone(),
                    target: target.clone(),
                    shown: shown(),
                    json: part(statement)?,
                }),
            }
        }
    }
    Ok(drawn)
}

/// A text between quotes of a `.dot` file.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => {}
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Draws a system: a node per location, an edge per switch with guard and update, a cluster per
/// process where there are several; with the exact data in attributes.
pub fn write(sts: &Sts) -> String {
    let attribute = |json: &Json| format!("{DATA}=\"{}\"", escape(&json.to_string()));
    let locations: Vec<String> = json::locations(sts).iter().map(attribute).collect();
    let switches: Vec<String> = json::switches(sts).iter().map(attribute).collect();
    let mut text = format!("digraph \"{}\" {{\n", escape(sts.name()));
    // Writing into a String cannot fail.
    let _ = writeln!(text, "  {};", attribute(&json::head(sts)));
    text.push_str("  node [shape=box, style=rounded];\n");
    let clustered = sts.processes().len() > 1;
    for (index, process) in sts.processes().iter().enumerate() {
        if clustered {
            let _ = writeln!(text, "  subgraph cluster_{index} {{");
            let _ = writeln!(text, "    label=\"{}\";", escape(&process.name));
        }
        for (number, location) in sts.locations().iter().enumerate() {
            if location.process.index() == index {
                let name = escape(&location.name);
                let data = &locations[number];
                let _ = writeln!(text, "  l{number} [label=\"{name}\", {data}];");
            }
        }
        if clustered {
            text.push_str("  }\n");
        }
        let _ = writeln!(text, "  {START}{index} [label=\"\", shape=none];");
        let _ = writeln!(text, "  {START}{index} -> l{};", process.initial.0);
    }
    for (index, switch) in sts.switches().iter().enumerate() {
        let label = show_switch_label(sts, SwitchId::from_index(index));
        let _ = writeln!(
            text,
            "  l{} -> l{} [label=\"{}\", {}];",
            switch.source.0,
            switch.target.0,
            escape(&label),
            switches[index]
        );
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabelMap;

    fn read_text(text: &str) -> Result<Sts, FormatError> {
        read("t.dot", text, &MealyOptions::default())
    }

    #[test]
    fn an_output_comes_after_its_input_and_silence_is_no_response() {
        let sts = read_text(
            "digraph g {\n __start0 [label=\"\" shape=none]\n s0 -> s1 [label=\"coin / beep\"];\n\
             s1 -> 0 [label=\"wait/TIMEOUT\", color=red]\n __start0 -> s1 }",
        )
        .unwrap();
        let shown: Vec<String> = (0..sts.switches().len())
            .map(|index| sts.show_switch(SwitchId::from_index(index)))
            .collect();
        assert_eq!(
            shown,
            ["s0 ──?coin──► _3", "_3 ──!beep──► s1", "s1 ──?wait──► 0"]
        );
        assert_eq!(sts.location(sts.processes()[0].initial).name, "s1");
    }

    #[test]
    fn without_a_start_arrow_the_first_source_is_the_initial_state() {
        let sts = read_text("digraph { b; a -> b [label=\"x/y\"] }").unwrap();
        assert_eq!(sts.location(sts.processes()[0].initial).name, "a");
    }

    #[test]
    fn a_plain_system_reads_back_from_its_drawing() {
        let text = "digraph { a -> b [label=\"?x\"]; b -> a [label=\"!y\"]; a -> a [label=tau] }";
        let sts = read_text(text).unwrap();
        assert_eq!(read_text(&write(&sts)), Ok(sts));
    }

    #[test]
    fn a_drawing_that_differs_from_its_data_is_reported() {
        let sts = read_text("digraph { a -> b [label=\"?x\"] }").unwrap();
        for (from, to, line, part) in [
            ("label=\"?x\"", "label=\"?z\"", 8, "shows `?z`"),
            ("label=\"a\"", "label=\"c\"", 4, "shows `c`"),
            ("l0 -> l1", "l0 -> l2", 8, "no location `l2`"),
            ("__start0 -> l0", "__start0 -> l1", 0, ""),
            ("__start0 -> l0;", "", 2, "where process 0 starts"),
            ("observable", "visible", 8, "not right"),
            ("ioco-sts", "other", 0, ""),
        ] {
            let text = write(&sts);
            assert!(text.contains(from), "{from} in {text}");
            match read_text(&text.replacen(from, to, 1)) {
                Ok(_) => assert_eq!(line, 0, "{from}"),
                Err(error) => {
                    assert_eq!(error.line, line, "{from}: {error}");
                    assert!(error.message.contains(part), "{from}: {error}");
                }
            }
        }
    }

    #[test]
    fn labels_are_what_the_options_say_and_subgraphs_only_group() {
        let text = "digraph { subgraph cluster_1 { label=x; a } { b } a -> b [label=push]; \
                    b -> a [label=pop]; b -> b [label=other] }";
        assert!(read_text(text).unwrap_err().message.contains("push"));
        let options = MealyOptions {
            labels: LabelMap {
                stimuli: vec!["push".to_owned()],
                responses: vec!["pop".to_owned()],
                hide_others: true,
                ..LabelMap::default()
            },
            ..MealyOptions::default()
        };
        let sts = read("t.dot", text, &options).unwrap();
        let shown: Vec<String> = (0..3)
            .map(|index| sts.show_switch(SwitchId(index)))
            .collect();
        assert_eq!(shown, ["a ──?push──► b", "b ──!pop──► a", "b ──τ──► b"]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, part) in [
            ("graph {}", 1, "`digraph` expected"),
            ("digraph {\n a -> ;\n}", 2, "a node expected, `;` found"),
            ("digraph {\n a -> b [label=\"x\"] }", 2, "input / output"),
            ("digraph {\n a -> b [label=\"/ x\"] }", 2, "no input"),
            ("digraph {\n a [label=\"x }", 2, "does not end"),
            ("digraph {\n\n a", 3, "the end of the file"),
            ("digraph { a; }", 0, "no edge"),
            ("digraph {\n subgraph x ; }", 2, "`{` expected"),
            ("digraph {\n subgraph x { } -> a }", 2, "a subgraph"),
            ("digraph {\n a <- b }", 2, "`<` is not expected"),
            ("digraph { /* }", 1, "comment"),
            ("digraph { __start0 -> a __start0 -> b }", 1, "two initial"),
            (
                "digraph { a -> __start0 [label=\"a/b\"] }",
                1,
                "no edge can lead",
            ),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }
}
