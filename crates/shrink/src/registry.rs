//! The shrinkers by name, pipelines of them, and the way in.

use std::fmt;
use std::str::FromStr;

use ioco_sts::{Execution, Semantics};

use crate::auto::auto;
use crate::error::ShrinkError;
use crate::explain::explain;
use crate::koopman;
use crate::leave_one_out::leave_one_out;
use crate::length_search::length_search;
use crate::options::Options;
use crate::prove::prove;
use crate::run::Runner;
use crate::session::{Halt, Session, ShrinkObserver, stimuli_of};
use crate::shrunk::{BugKind, Confidence, Ended, Shrunk};
use crate::sps::{sps_all_paths, sps_por_label_count, sps_por_subpaths};
use crate::trace_centric::{Compare, binary, cycle, delta, elem};
use crate::values::simplify;
use crate::walk::Walk;

type Stage = fn(&mut Session<'_>, &Execution) -> Result<Execution, Halt>;

/// A shrinker that can be asked for by name.
pub struct ShrinkerInfo {
    pub name: &'static str,
    /// One line for a person who chooses.
    pub about: &'static str,
    stage: Stage,
}

/// All shrinkers, in the order in which they are shown.
pub const SHRINKERS: &[ShrinkerInfo] = &[
    ShrinkerInfo {
        name: "auto",
        about: "finds the cause and the shortest trace that shows it; the default",
        stage: auto,
    },
    ShrinkerInfo {
        name: "elem",
        about: "leaves out one stimulus at a time, front to back",
        stage: elem,
    },
    ShrinkerInfo {
        name: "binary",
        about: "leaves out blocks of stimuli, halving them",
        stage: binary,
    },
    ShrinkerInfo {
        name: "delta",
        about: "delta debugging (ddmin) over the stimuli",
        stage: delta,
    },
    ShrinkerInfo {
        name: "cycle",
        about: "leaves out what lies between two visits of one state, longest first",
        stage: |session, start| cycle(session, start, Compare::States),
    },
    ShrinkerInfo {
        name: "rough-cycle",
        about: "as cycle, but looks at locations only, not at values",
        stage: |session, start| cycle(session, start, Compare::Locations),
    },
    ShrinkerInfo {
        name: "koopman-elem",
        about: "element elimination of Koopman, Achten and Plasmeijer",
        stage: koopman::elements,
    },
    ShrinkerInfo {
        name: "koopman-cycle",
        about: "their cycle elimination, followed by element elimination",
        stage: |session, start| koopman::cycles(session, start, false),
    },
    ShrinkerInfo {
        name: "koopman-cycle-alone",
        about: "their cycle elimination alone",
        stage: |session, start| koopman::cycles(session, start, true),
    },
    ShrinkerInfo {
        name: "length-search",
        about: "binary search on the length with other random traces",
        stage: length_search,
    },
    ShrinkerInfo {
        name: "sps-all-paths",
        about: "all paths of the model to the failing state, shortest first",
        stage: sps_all_paths,
    },
    ShrinkerInfo {
        name: "sps-por-label-count",
        about: "as sps-all-paths, but one path for each multiset of labels",
        stage: sps_por_label_count,
    },
    ShrinkerInfo {
        name: "sps-por-subpaths",
        about: "as sps-all-paths, but one path to each state and length, preferring the trace's",
        stage: sps_por_subpaths,
    },
];

/// One or more shrinkers, each fed with the result of the one before: `cycle+delta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    stages: Vec<usize>,
}

impl FromStr for Pipeline {
    type Err = ShrinkError;

    fn from_str(text: &str) -> Result<Pipeline, ShrinkError> {
        let find = |name: &str| {
            SHRINKERS
                .iter()
                .position(|shrinker| shrinker.name == name)
                .ok_or_else(|| ShrinkError::UnknownShrinker {
                    name: name.to_owned(),
                    known: SHRINKERS.iter().map(|s| s.name.to_owned()).collect(),
                })
        };
        let stages = text
            .split('+')
            .map(|name| find(name.trim()))
            .collect::<Result<Vec<usize>, ShrinkError>>()?;
        Ok(Pipeline { stages })
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.stages.iter().map(|s| SHRINKERS[*s].name).collect();
        f.write_str(&names.join("+"))
    }
}

/// Shrinks a failing execution.
pub fn shrink(
    pipeline: &Pipeline,
    semantics: &mut Semantics,
    failure: &Execution,
    runner: &mut dyn Runner,
    options: &Options,
    watch: &mut dyn ShrinkObserver,
) -> Result<Shrunk, ShrinkError> {
    if failure.deviation().is_none() {
        return Err(ShrinkError::NotAFailure);
    }
    Walk::of(semantics, failure)?;
    let mut session = Session::new(semantics, failure, runner, options, watch);
    let mut current = failure.clone();
    let mut ended = Ended::Finished;
    for stage in &pipeline.stages {
        match (SHRINKERS[*stage].stage)(&mut session, &current) {
            Ok(execution) => current = execution,
            Err(Halt(why)) => {
                ended = why;
                current = session.best.clone();
                break;
            }
        }
    }
    if ended == Ended::Finished && options.simplify_values && !session.semantics.sts().is_plain() {
        ended = simplify(&mut session, &mut current).map_or_else(|halt| halt.0, |()| ended);
    }
    // The published shrinkers are run as they were published: nothing is added to their runs.
    if ended == Ended::Finished && session.ends_with_leave_one_out {
        ended = leave_one_out(&mut session, &mut current).map_or_else(|halt| halt.0, |()| ended);
    }
    let (runs, stimuli_sent) = (session.runs(), session.stimuli_sent());
    let mut proved = None;
    if ended == Ended::Finished && options.prove {
        let (proof, halted) = prove(&mut session, &mut current);
        proved = Some(proof);
        if let Err(Halt(why)) = halted {
            ended = why;
        }
    }
    let mut confidence = confirm(&mut session, &current);
    if options.seen.is_flaky() && current.stimuli().eq(failure.stimuli()) {
        confidence.failed += options.seen.failed;
        confidence.runs += options.seen.runs;
    }
    // What passed once proves nothing of a system that does not always fail.
    let is_certain = !confidence.is_flaky();
    let minimal = session.left_out_each(&current).filter(|_| is_certain);
    let kind = match is_certain {
        true => session.kind,
        false => BugKind::Unknown,
    };
    let other = session.other.take();
    let other = other.filter(|other| other.length() < current.length());
    let mut explanation = explain(
        session.semantics.sts(),
        failure,
        &current,
        kind,
        other.as_ref(),
    );
    if is_certain {
        explanation.append(&mut session.explanation);
    }
    Ok(Shrunk {
        other,
        execution: current,
        original_length: failure.length(),
        runs,
        stimuli_sent,
        kind,
        history: session.history,
        explanation,
        minimal,
        proved: proved.filter(|_| is_certain),
        confidence,
        ended,
    })
}

fn confirm(session: &mut Session<'_>, execution: &Execution) -> Confidence {
    let stimuli = stimuli_of(execution);
    let mut confidence = Confidence { failed: 0, runs: 0 };
    if session.width() > 1 {
        session.begin(&vec![stimuli.clone(); session.options.confirm as usize]);
    }
    for _ in 0..session.options.confirm {
        if session.poll().is_err() {
            break;
        }
        let again = session.confirm(&stimuli);
        confidence.runs += 1;
        let is_shown = match (again.deviation(), execution.deviation()) {
            (Some(again), Some(shown)) => again.shows_again(shown),
            _ => false,
        };
        confidence.failed += u32::from(is_shown || session.accepts(&again));
    }
    confidence
}
