//! Aldebaran (`.aut`): `des (first, edges, states)` and one `(from, "label", to)` a line.

use std::fmt::Write as _;

use ioco_sts::{Expr, Gate, Sts};

use super::plain::PlainBuilder;
use super::{FormatError, LabelMap};

/// Reads an automaton; `name` becomes the name of the system and of its file in messages.
pub fn read(name: &str, text: &str, map: &LabelMap) -> Result<Sts, FormatError> {
    let mut lines = (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, line.trim()))
        .filter(|(_, line)| !line.is_empty());
    let Some((first_line, first)) = lines.next() else {
        return Err(FormatError::new(1, "an empty file is not an automaton"));
    };
    let header = read_header(first_line, first)?;
    let mut builder = PlainBuilder::new(name);
    // Locations are numbered as in the file, also the ones that no edge mentions.
    for state in 0..header.states {
        builder.location(&state.to_string(), first_line);
    }
    let mut edges = 0;
    for (line, text) in lines {
        let (source, label, target) = read_edge(line, text)?;
        for state in [source, target] {
            if state >= header.states {
                return Err(FormatError::new(
                    line,
                    format!(
                        "there is no state {state}: line {first_line} announces {}",
                        header.states
                    ),
                ));
            }
        }
        let (direction, label) = map.classify(line, label)?;
        let gate = builder.gate(direction, label);
        let source = builder.location(&source.to_string(), line);
        let target = builder.location(&target.to_string(), line);
        builder.switch(source, gate, target, line);
        edges += 1;
    }
    if edges != header.edges {
        return Err(FormatError::new(
            first_line,
            format!("{} edges are announced, {edges} follow", header.edges),
        ));
    }
    let initial = builder.location(&header.first.to_string(), first_line);
    Ok(builder.finish(initial))
}

struct Header {
    first: u32,
    edges: u32,
    states: u32,
}

/// An announced number of states takes memory before any edge is seen; real files have fewer.
const MAX_STATES: u32 = 2_000_000;

fn read_header(line: u32, text: &str) -> Result<Header, FormatError> {
    let wrong = || {
        FormatError::new(
            line,
            "the first line of an automaton is `des (first state, edges, states)`",
        )
    };
    let inner = text.strip_prefix("des").ok_or_else(wrong)?.trim();
    let inner = inner
        .strip_prefix('(')
        .and_then(|t| t.strip_suffix(')'))
        .ok_or_else(wrong)?;
    let numbers: Vec<u32> = inner
        .split(',')
        .map(|number| number.trim().parse().map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    let [first, edges, states] = numbers[..] else {
        return Err(wrong());
    };
    if states > MAX_STATES {
        return Err(FormatError::new(
            line,
            format!("{states} states are too many"),
        ));
    }
    if first >= states {
        return Err(FormatError::new(
            line,
            format!("the first state is {first}, but there are only {states} states"),
        ));
    }
    Ok(Header {
        first,
        edges,
        states,
    })
}

fn read_edge(line: u32, text: &str) -> Result<(u32, &str, u32), FormatError> {
    let wrong = || FormatError::new(line, format!("`{text}` is not `(from, \"label\", to)`"));
    let inner = text
        .strip_prefix('(')
        .and_then(|t| t.strip_suffix(')'))
        .ok_or_else(wrong)?;
    // The label may hold commas and brackets; the states cannot.
    let (source, rest) = inner.split_once(',').ok_or_else(wrong)?;
    let (label, target) = rest.rsplit_once(',').ok_or_else(wrong)?;
    let label = label.trim();
    let label = match label.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"').ok_or_else(wrong)?,
        None => label,
    };
    if label.is_empty() {
        return Err(wrong());
    }
    let source = source.trim().parse().map_err(|_| wrong())?;
    let target = target.trim().parse().map_err(|_| wrong())?;
    Ok((source, label.trim(), target))
}

/// Writes a plain system of one process; internal steps become `i`.
pub fn write(sts: &Sts) -> Result<String, FormatError> {
    let unfit = |message: &str| Err(FormatError::new(0, message));
    if !sts.is_plain() {
        return unfit("the system has data, which .aut cannot express; flatten it first");
    }
    let [process] = sts.processes() else {
        return unfit(".aut holds one process; flatten the system first");
    };
    if sts.switches().iter().any(|s| s.guard != Expr::TRUE) {
        return unfit("the system has guards, which .aut cannot express; flatten it first");
    }
    let mut text = format!(
        "des ({}, {}, {})\n",
        process.initial.0,
        sts.switches().len(),
        sts.locations().len()
    );
    for switch in sts.switches() {
        let label = match switch.gate {
            Gate::Observable(label) => sts.label(label).marked_name(),
            // Alone, a hand-shake never happens.
            Gate::Send(_) | Gate::Receive(_) => {
                return unfit("the system has hand-shakes; flatten it first");
            }
            Gate::Tau => "i".to_owned(),
        };
        let name = label.trim_start_matches(['?', '!']);
        if label.contains(['"', '\n']) || name.is_empty() || name.trim() != name {
            return unfit(&format!("the label {label:?} cannot be written in .aut"));
        }
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "({}, \"{label}\", {})",
            switch.source.0, switch.target.0
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioco_sts::Direction;

    fn check_error(text: &str, line: u32, part: &str) {
        let error = read("t.aut", text, &LabelMap::default()).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(part), "{error}");
    }

    #[test]
    fn reads_stimuli_responses_and_internal_steps() {
        let text = "des (1, 3, 2)\n(0, \"?a(1, 2)\", 1)\n(1, \"!b\", 0)\n(1, i, 1)\n";
        let sts = read("t.aut", text, &LabelMap::default()).unwrap();
        assert_eq!(sts.locations().len(), 2);
        assert_eq!(sts.processes()[0].initial.0, 1);
        assert!(sts.label_named(Direction::Stimulus, "a(1, 2)").is_some());
        assert!(sts.label_named(Direction::Response, "b").is_some());
        assert_eq!(sts.switches()[2].gate, Gate::Tau);
        let again = read("t.aut", &write(&sts).unwrap(), &LabelMap::default()).unwrap();
        assert_eq!(write(&again).unwrap(), write(&sts).unwrap());
    }

    #[test]
    fn errors_name_the_line() {
        check_error("", 1, "empty");
        check_error("des (0, 1)\n", 1, "des (first");
        check_error("des (2, 0, 2)\n", 1, "only 2 states");
        check_error("des (0, 1, 2)\n\n(0, \"?a\", 5)\n", 3, "no state 5");
        check_error("des (0, 1, 2)\n(0; ?a; 1)\n", 2, "is not");
        check_error("des (0, 1, 2)\n(0, \"?a, 1)\n", 2, "is not");
        check_error(
            "des (0, 2, 2)\n(0, \"?a\", 1)\n",
            1,
            "2 edges are announced, 1 follow",
        );
        check_error("des (0, 1, 2)\n(0, \"a\", 1)\n", 2, "neither marked");
        check_error("des (0, 1, 2)\n(0, \"?\", 1)\n", 2, "not a label");
        check_error("des (0, 0, 4000000000)\n", 1, "too many");
    }
}
