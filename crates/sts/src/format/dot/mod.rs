//! Graphviz (`.dot`): reads automata in the style of the Automata Wiki, and draws every system.
//!
//! An edge `input / output` of a Mealy machine becomes the stimulus `?input` and, through a
//! location of its own, the response `!output`. An output that stands for silence becomes no
//! response at all. An edge `?x`, `!x` or `τ` is taken as it stands.

mod syntax;

use std::fmt::Write as _;

use crate::ids::{LocationId, SwitchId};
use crate::label::Direction;
use crate::sts::Sts;

use super::plain::PlainBuilder;
use super::{FormatError, LabelMap, show_switch_label};

/// How to take the labels of a Mealy machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MealyOptions {
    /// Outputs that mean that there was none.
    pub silent: Vec<String>,
}

impl Default for MealyOptions {
    fn default() -> MealyOptions {
        let silent = [
            "Empty",
            "Empty__Empty",
            "NO_RESP",
            "NO_RESPONSE",
            "NoResp",
            "NoResponse",
            "TIMEOUT",
            "Timeout",
        ];
        MealyOptions {
            silent: silent.map(str::to_owned).to_vec(),
        }
    }
}

/// Nodes with this beginning are no states: the arrow from one points at the initial state.
const START: &str = "__start";

/// Reads an automaton; `name` becomes the name of the system and of its file in messages.
pub fn read(name: &str, text: &str, options: &MealyOptions) -> Result<Sts, FormatError> {
    let statements = syntax::parse(text)?;
    let mut builder = PlainBuilder::new(name);
    let map = LabelMap::default();
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
            add_edge(&mut builder, options, &map, source, label, target, line)?;
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

fn add_edge(
    builder: &mut PlainBuilder,
    options: &MealyOptions,
    map: &LabelMap,
    source: LocationId,
    label: &str,
    target: LocationId,
    line: u32,
) -> Result<(), FormatError> {
    let marked = label.starts_with(['?', '!']) || map.internal.iter().any(|name| name == label);
    if marked {
        let (direction, name) = map.classify(line, label)?;
        let gate = builder.gate(direction, name);
        builder.switch(source, gate, target, line);
        return Ok(());
    }
    let Some((input, output)) = label.split_once(" / ").or_else(|| label.split_once('/')) else {
        return Err(FormatError::new(
            line,
            format!("an edge needs a label `input / output`, `?input` or `!output`, not `{label}`"),
        ));
    };
    let (input, output) = (input.trim(), output.trim());
    if input.is_empty() {
        return Err(FormatError::new(line, format!("`{label}` has no input")));
    }
    let stimulus = builder.gate(Direction::Stimulus, input);
    if output.is_empty() || options.silent.iter().any(|silent| silent == output) {
        builder.switch(source, stimulus, target, line);
    } else {
        let between = builder.nameless(line);
        let response = builder.gate(Direction::Response, output);
        builder.switch(source, stimulus, between, line);
        builder.switch(between, response, target, line);
    }
    Ok(())
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
/// process where there are several.
pub fn write(sts: &Sts) -> String {
    let mut text = format!("digraph \"{}\" {{\n", escape(sts.name()));
    text.push_str("  node [shape=box, style=rounded];\n");
    let clustered = sts.processes().len() > 1;
    for (index, process) in sts.processes().iter().enumerate() {
        // Writing into a String cannot fail.
        if clustered {
            let _ = writeln!(text, "  subgraph cluster_{index} {{");
            let _ = writeln!(text, "    label=\"{}\";", escape(&process.name));
        }
        for (number, location) in sts.locations().iter().enumerate() {
            if location.process.index() == index {
                let _ = writeln!(text, "  l{number} [label=\"{}\"];", escape(&location.name));
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
            "  l{} -> l{} [label=\"{}\"];",
            switch.source.0,
            switch.target.0,
            escape(&label)
        );
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let again = read_text(&write(&sts)).unwrap();
        assert_eq!(write(&again).matches("->").count(), 4);
        assert_eq!(again.switches().len(), 3);
        assert_eq!(again.labels(), sts.labels());
    }

    #[test]
    fn wrong_text_is_told_with_its_line() {
        for (text, line, part) in [
            ("graph {}", 1, "`digraph` expected"),
            ("digraph {\n a -> ;\n}", 2, "a node expected, `;` found"),
            ("digraph {\n a -> b [label=\"x\"] }", 2, "input / output"),
            ("digraph {\n a -> b [label=\"/ x\"] }", 2, "no input"),
            ("digraph {\n a [label=\"x }", 2, "does not end"),
            ("digraph {\n\n a", 3, "the end of the file"),
            ("digraph { a; }", 0, "no edge"),
            ("digraph {\n subgraph x { } }", 2, "subgraphs"),
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
