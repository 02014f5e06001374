//! What a run found out about the model, in words.

use ioco_sts::{Direction, Sts, SwitchId, Value, Warning};

use crate::error::Remedy;

pub fn show(warning: &Warning, sts: &Sts) -> (String, Option<Remedy>) {
    let hint = matches!(warning, Warning::Undecided { .. }).then_some(Remedy::AskSolver);
    let text = match warning {
        Warning::NotEvaluable {
            switch,
            error,
            variables,
            parameters,
        } => {
            let label = sts.switch(*switch).gate.label();
            let names = sts.variables().iter().map(|v| v.name.as_str());
            let mut values: Vec<String> = named(sts, names.zip(variables));
            if let Some(label) = label {
                let names = sts.label(label).parameters.iter().map(|p| p.name.as_str());
                values.extend(named(sts, names.zip(parameters)));
            }
            let place = place(sts, *switch);
            format!(
                "{place}: {error} ({}); taken as not enabled",
                values.join(", ")
            )
        }
        Warning::Divergence { switch } => format!(
            "{}: internal steps can go round for ever here; silence is allowed",
            place(sts, *switch)
        ),
        Warning::Exhausted { switch, exhausted } => format!(
            "{}: {exhausted}; no failure is concluded from what lies behind",
            place(sts, *switch)
        ),
        Warning::OpenHandshake { switch } => format!(
            "{}: the values of this hand-shake cannot be listed; no failure is concluded from what \
             lies behind",
            place(sts, *switch)
        ),
        Warning::Undecided { switch } => {
            let label = sts.switch(*switch).gate.label();
            let direction = label.map(|label| sts.label(label).direction);
            let consequence = match direction {
                Some(Direction::Stimulus) => "ioco gives it only if the solver finds values for it",
                _ => "ioco does not judge silence in such a state",
            };
            format!(
                "{}: the solver cannot decide whether this is possible; {consequence}",
                place(sts, *switch)
            )
        }
    };
    (text, hint)
}

fn named<'a>(sts: &Sts, values: impl Iterator<Item = (&'a str, &'a Value)>) -> Vec<String> {
    values
        .filter(|(_, value)| !value.is_void())
        .map(|(name, value)| format!("{name} = {}", value.display(sts.types())))
        .collect()
}

fn place(sts: &Sts, switch: SwitchId) -> String {
    let place = sts.show_place(sts.switch(switch).place);
    format!("{place} {}", sts.show_switch(switch))
}
