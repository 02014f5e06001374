//! `--data` of `ioco generate --traces`: which values the traces have, and what is said about it.

use super::Subject;
use crate::exit::CommandError;
use ioco_generate::data::{
    Data, DataLimits, DataPlan, Proof, ValueGoal, ValueVerdict, covers, plan,
};
use ioco_generate::{Confirm, Walk};
use ioco_solve::Embedded;
use ioco_sts::Sts;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::suite::Suite;
use crate::args::{self, Format};
use crate::output;
use crate::progress::Progress;

/// What was asked for.
pub enum Values {
    /// This many random choices for every trace.
    Random(u64),
    WantedValues(Data),
}

impl Values {
    pub fn read(arguments: &args::Generate) -> Result<Values, CommandError> {
        let values = match arguments.data.as_deref() {
            None => Values::Random(1),
            Some("minmax") => Values::WantedValues(Data::MinMax),
            Some("boundaries") => Values::WantedValues(Data::Boundaries),
            Some("pairs") => Values::WantedValues(Data::Pairs),
            Some(number) => match number.parse() {
                Ok(rounds) if rounds > 0 => Values::Random(rounds),
                _ => {
                    return Err(CommandError::usage(format!(
                        "'{number}' is not a choice of values"
                    ))
                    .hint("use minmax, boundaries, pairs, or a number of at least 1"));
                }
            },
        };
        if arguments.count && arguments.data.is_some() {
            return Err(CommandError::usage(
                "--count chooses no values, so --data has no effect",
            ));
        }
        if arguments.smv.minimise && !matches!(values, Values::WantedValues(_)) {
            return Err(CommandError::usage(
                "a suite of all traces needs every trace, so there is nothing to minimise",
            )
            .hint("with --data minmax, --minimise leaves the tests that the values need"));
        }
        Ok(values)
    }

    /// How often every trace is given values.
    pub fn rounds(&self) -> u64 {
        match self {
            Values::Random(rounds) => *rounds,
            Values::WantedValues(_) => 1,
        }
    }

    /// Finds out which of the wanted values there are.
    pub fn plan(
        &self,
        walk: &mut Walk<'_, Embedded, ChaCha8Rng>,
        over: &dyn Fn() -> bool,
    ) -> Option<Planned> {
        let Values::WantedValues(data) = self else {
            return None;
        };
        let progress = Progress::start();
        let mut stop = || {
            progress.say(|| "looking for values".to_owned());
            over()
        };
        let plan = plan(walk, *data, &mut DataLimits { stop: &mut stop });
        let sought = plan
            .goals
            .iter()
            .cloned()
            .zip(plan.verdicts.iter().cloned());
        Some(Planned {
            sought: Sought(sought.collect()),
            plan,
        })
    }
}

/// One line of the report.
#[derive(Serialize)]
struct ValueLine {
    goal: String,
    switch: String,
    verdict: &'static str,
    /// The smallest or the largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// How it is known that none is beyond it, or that there is none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

/// The wanted values, and what became of them.
pub struct Planned {
    plan: DataPlan,
    pub sought: Sought,
}

/// The values with their verdicts alone, which threads can share.
pub struct Sought(Vec<(ValueGoal, ValueVerdict)>);

/// The wanted values that were seen in traces.
#[derive(Default)]
pub struct Seen {
    seen: Vec<bool>,
    /// Per switch, the goals that were not.
    open: Vec<Vec<usize>>,
}

impl Seen {
    pub fn of(sought: Option<&Sought>) -> Seen {
        let Some(Sought(all)) = sought else {
            return Seen::default();
        };
        let mut open = Vec::new();
        for (number, (goal, verdict)) in all.iter().enumerate() {
            let index = goal.switch.index();
            if open.len() <= index {
                open.resize(index + 1, Vec::new());
            }
            if matches!(verdict, ValueVerdict::Reached { .. }) {
                open[index].push(number);
            }
        }
        Seen {
            seen: vec![false; all.len()],
            open,
        }
    }

    pub fn add(&mut self, other: Seen) {
        self.seen
            .resize(self.seen.len().max(other.seen.len()), false);
        for (mine, other) in self.seen.iter_mut().zip(other.seen) {
            *mine |= other;
        }
    }

    /// Looks at the path that was confirmed last.
    pub fn note(&mut self, sts: &Sts, sought: Option<&Sought>, confirm: &Confirm) {
        let Some(Sought(all)) = sought else {
            return;
        };
        for (switch, action, state) in confirm.walked() {
            let (Some(open), Some(action)) = (self.open.get_mut(switch.index()), action) else {
                continue;
            };
            open.retain(|number| {
                let (goal, verdict) = &all[*number];
                let covered = covers(sts, goal, verdict, state, action);
                self.seen[*number] |= covered;
                !covered
            });
        }
    }
}

impl Planned {
    /// Writes traces for the values that the others do not have. Returns how many were not
    /// confirmed.
    pub fn add_missing(
        &self,
        model: &Subject,
        seen: &Seen,
        suite: &Suite,
    ) -> Result<u64, CommandError> {
        let sts = &model.sts;
        let mut confirm = Confirm::new(model.semantics());
        let mut page = suite.page();
        let mut unconfirmed = 0;
        let tests = self
            .plan
            .needed(sts, |goal| seen.seen.get(goal) != Some(&true));
        for test in &tests {
            match confirm.steps(test.path()) {
                Ok(()) => {
                    page.add(sts, test.path());
                }
                Err(_) => unconfirmed += 1,
            }
        }
        page.flush();
        say!(
            "{} more traces for values that the others do not have",
            tests.len()
        );
        Ok(unconfirmed)
    }

    /// Says what became of every value: on standard output where the suite goes elsewhere, and
    /// otherwise only how many. True where nothing is left open.
    pub fn report(&self, sts: &Sts, lines: Option<Format>) -> Result<bool, CommandError> {
        let (mut reached, mut proved, mut unreachable, mut unknown) = (0, 0, 0, 0);
        for (goal, verdict) in self.plan.goals.iter().zip(&self.plan.verdicts) {
            match verdict {
                ValueVerdict::Reached { extreme, .. } => {
                    reached += 1;
                    let open = extreme.as_ref().is_some_and(|(_, p)| *p == Proof::Missing);
                    proved += u64::from(!open);
                }
                ValueVerdict::Unreachable(_) => unreachable += 1,
                ValueVerdict::Unknown => unknown += 1,
            }
            let line = line(sts, goal, verdict);
            match lines {
                Some(Format::Json) => output::json(&line)?,
                Some(_) => {
                    let value = line.value.map(|value| format!(" = {value}"));
                    let proof = line.proof.map(|proof| format!("  ({proof})"));
                    output::print(&format!(
                        "{:<12} {}{}  {}{}\n",
                        line.verdict,
                        line.goal,
                        value.unwrap_or_default(),
                        line.switch,
                        proof.unwrap_or_default()
                    ));
                }
                None => {}
            }
        }
        let all = self.plan.goals.len();
        let not_proved = reached - proved;
        say!(
            "{all} values wanted: {reached} reached, {unreachable} proved unreachable, {unknown} \
             unknown{}",
            match not_proved {
                0 => String::new(),
                some => format!("; {some} of the extremes are not proved to be the last"),
            }
        );
        if lines.is_none() && unreachable + unknown > 0 {
            say!("with -o FILE, standard output lists them");
        }
        Ok(unknown == 0 && not_proved == 0)
    }
}

fn line(sts: &Sts, goal: &ValueGoal, verdict: &ValueVerdict) -> ValueLine {
    let place = sts.show_place(sts.switch(goal.switch).place);
    let switch = format!("{} {place}", sts.show_switch(goal.switch));
    let (verdict, value, proof) = match verdict {
        ValueVerdict::Reached { extreme, .. } => {
            let value = extreme
                .as_ref()
                .map(|(v, _)| v.display(sts.types()).to_string());
            let proof = extreme.as_ref().map(|(_, proof)| match proof {
                Proof::Missing => "not proved to be the last".to_owned(),
                proof => format!("beyond it there is none: {proof}"),
            });
            ("covered", value, proof)
        }
        ValueVerdict::Unreachable(proof) => ("unreachable", None, Some(proof.to_string())),
        ValueVerdict::Unknown => ("unknown", None, None),
    };
    ValueLine {
        goal: goal.show(sts),
        switch: switch.trim_end().to_owned(),
        verdict,
        value,
        proof,
    }
}
