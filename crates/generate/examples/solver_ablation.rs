//! What each part of the solver is worth: the questions that really arise, asked again with one part
//! left out at a time.
//!
//! `cargo xtask bench ablation`
//!
//! Questions come from walks through the examples' models (the large ones left out, which take minutes),
//! from covering their switches and suites with boundary values, from the generator that the comparison with z3 uses, and from blocks of linear
//! conditions. Answers and steps are the same on every machine; the time is not.

#[path = "../../solve/tests/questions/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the solver")]
mod questions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use ioco_generate::cover::{Cover, CoverLimits, CoverObserver, Goal, GoalVerdict, Instance};
use ioco_generate::data::{Data, DataLimits, plan};
use ioco_generate::{Confirm, Extent, Share, Walk};
use ioco_solve::record::{QuestionKind, Recorded, questions_of};
use ioco_solve::{
    Deadline, Embedded, GuardSolver, Outcome, Part, Pipeline, Solver as _, boundary_values,
    choose_values,
};
use ioco_sts::{
    Action, Answer, Direction, Expr, Function, Label, LabelId, Parameter, Question, Relation,
    Semantics, Step, Sts, StsBuilder, Types,
};
use questions::generate::Kind;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

const EXAMPLES: &[&str] = &[
    "atm",
    "calculator",
    "coffee",
    "koopman",
    "queue",
    "smartdoor",
];
/// Steps of walks through each example.
const WALKED: u32 = 60;
/// Traces of each example's suite at most.
const TRACES: u64 = 100;
/// Different questions of one source that are asked again.
const KEPT: usize = 1_500;
const GENERATED: u64 = 1_200;
const BLOCKS: u64 = 40;
/// Steps for one question, as the tester gives.
const STEPS: u64 = 60_000;

struct Files;

impl ioco_aml::Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

struct Nobody;

impl CoverObserver for Nobody {
    fn decided(&mut self, _: Goal, _: &GoalVerdict, _: Option<&Instance>, _: u64) {}
}

/// Different questions that share types and functions, each with how often it was asked.
struct Source {
    name: String,
    types: Types,
    functions: Vec<Function>,
    questions: Vec<(Recorded, u64)>,
}

impl Source {
    fn new(name: &str, sts: &Sts, recorded: Vec<Recorded>) -> Source {
        #[allow(
            clippy::mutable_key_type,
            reason = "the cache of a pattern is no part of its hash"
        )]
        let mut counts: rustc_hash::FxHashMap<Recorded, (usize, u64)> = Default::default();
        for (index, question) in recorded.into_iter().enumerate() {
            counts.entry(question).or_insert((index, 0)).1 += 1;
        }
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_by_key(|(_, (index, _))| *index);
        // Evenly spread where there are too many.
        let every = all.len().div_ceil(KEPT).max(1);
        let questions = all.into_iter().step_by(every);
        Source {
            name: name.to_owned(),
            types: sts.types().clone(),
            functions: sts.functions().to_vec(),
            questions: questions.map(|(q, (_, count))| (q, count)).collect(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Sat,
    Unsat,
    Unknown,
}

#[derive(Clone, Default)]
struct Counts {
    questions: u64,
    sat: u64,
    unsat: u64,
    unknown: u64,
    steps: u64,
    seconds: f64,
    by: BTreeMap<Part, u64>,
}

fn main() {
    let mut sources = Vec::new();
    for name in EXAMPLES {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let model = format!("{examples}/{name}/model.aml");
        let Some(sts) = ioco_aml::load(&model, &Files).sts else {
            eprintln!("  {model} cannot be read");
            continue;
        };
        let recorded = questions_of(|| {
            walk(&sts);
            cover(&sts);
            suite(&sts);
        });
        eprintln!("  {name:<12} {:>8} questions asked", recorded.len());
        sources.push(Source::new("examples", &sts, recorded));
    }
    sources.push(generated());
    sources.push(blocks());
    let mut groups: Vec<String> = sources.iter().map(|s| s.name.clone()).collect();
    groups.dedup();
    for group in groups {
        let mine: Vec<&Source> = sources.iter().filter(|s| s.name == group).collect();
        table(&group, &mine);
    }
}

/// Walks as the tester and the strategy for boundary values ask.
fn walk(sts: &Arc<Sts>) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let mut set = semantics.initial();
    for _ in 0..WALKED {
        let menu = semantics.menu(set);
        let offers: Vec<_> = menu.stimuli.iter().chain(&menu.responses).collect();
        if offers.is_empty() {
            set = semantics.initial();
            continue;
        }
        let offer = offers[rng.random_range(0..offers.len())];
        let condition = semantics.offer_condition(set, offer);
        let deadline = Deadline::steps(STEPS);
        boundary_values(
            sts,
            offer.label,
            &condition,
            &condition.params(),
            &[],
            &deadline,
        );
        let deadline = Deadline::steps(STEPS);
        let chosen = choose_values(sts, offer.label, &condition, &[], &mut rng, &deadline);
        let Outcome::Sat(values) = chosen else {
            continue;
        };
        let label = offer.label;
        let action = Action { label, values };
        let step = match sts.label(label).direction {
            Direction::Stimulus => Step::Stimulus(action),
            Direction::Response | Direction::Internal => Step::Response(action),
        };
        let next = semantics.after(set, &step);
        set = next.unwrap_or_else(|| semantics.initial());
    }
}

fn cover(sts: &Arc<Sts>) {
    let limits = CoverLimits {
        depth: 12,
        paths: 100,
        ..CoverLimits::default()
    };
    let semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (goals, confirm) = (Goal::switches(sts), Confirm::new(semantics));
    let cover = Cover::new(sts, &goals, limits, confirm, &mut rng);
    cover.run(None, &mut Nobody);
}

/// Traces of two steps, and the values at the limits along traces of one.
fn suite(sts: &Arc<Sts>) {
    let walk = |length: u32| {
        let solver = Embedded::new(sts.types(), sts.functions());
        let rng = ChaCha8Rng::seed_from_u64(1);
        Walk::new(sts, Extent::of_length(length), solver, rng)
    };
    let mut traces = 0;
    walk(2).run(&Share::whole(), &mut |_: &ioco_generate::Path<'_>| {
        traces += 1;
        traces < TRACES
    });
    let mut looks = 0;
    let mut stop = || {
        looks += 1;
        looks > TRACES
    };
    let limits = &mut DataLimits { stop: &mut stop };
    plan(&mut walk(1), Data::Boundaries, limits);
}

/// A model whose one label has the unknowns of a question as parameters.
fn model(types: &Types, functions: &[Function], question: &Recorded) -> (Sts, LabelId) {
    let mut builder = StsBuilder::new("question");
    *builder.types() = types.clone();
    for function in functions {
        builder.function(function.clone());
    }
    let parameters = question.unknowns.iter().enumerate();
    let label = builder.label(Label {
        name: "ask".to_owned(),
        channel: String::new(),
        direction: Direction::Stimulus,
        parameters: parameters
            .map(|(index, (ty, _))| Parameter {
                name: format!("p{index}"),
                ty: ty.clone(),
            })
            .collect(),
    });
    (builder.build(), label)
}

fn generated() -> Source {
    let mut recorded = Vec::new();
    for seed in 0..GENERATED {
        let kind = Kind::ALL[(seed % Kind::ALL.len() as u64) as usize];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let question = questions::generate::question(kind, &mut rng);
        for asked in [QuestionKind::Plain, QuestionKind::Guard] {
            if asked == QuestionKind::Guard && !question.unknowns.iter().all(|(_, void)| *void) {
                continue;
            }
            let conditions = match asked {
                QuestionKind::Guard => vec![question.guard()],
                _ => question.conditions.clone(),
            };
            recorded.push(Recorded {
                asked,
                unknowns: question.unknowns.clone(),
                conditions,
            });
        }
    }
    let mut builder = StsBuilder::new("generated");
    *builder.types() = questions::types();
    for function in questions::functions() {
        builder.function(function);
    }
    Source::new("generated", &builder.build(), recorded)
}

fn blocks() -> Source {
    let recorded = (0..BLOCKS).flat_map(|seed| {
        let (unknowns, conditions) = questions::blocks::block(seed);
        [QuestionKind::Plain, QuestionKind::Random].map(|asked| Recorded {
            asked,
            unknowns: unknowns.iter().map(|ty| (ty.clone(), false)).collect(),
            conditions: conditions.clone(),
        })
    });
    Source::new("blocks", &StsBuilder::new("b").build(), recorded.collect())
}

fn ask(source: &Source, question: &Recorded, pipeline: Pipeline, counts: &mut Counts) -> Said {
    let deadline = Deadline::steps(STEPS);
    let model = model(&source.types, &source.functions, question);
    let mut embedded = Embedded::new(&source.types, &source.functions).with_pipeline(pipeline);
    let said = |outcome: Outcome<()>| match outcome {
        Outcome::Sat(()) => Said::Sat,
        Outcome::Unsat => Said::Unsat,
        Outcome::Unknown(_) => Said::Unknown,
    };
    let start = Instant::now();
    let answer = if question.asked == QuestionKind::Guard {
        let guard = question
            .conditions
            .iter()
            .cloned()
            .fold(Expr::TRUE, Expr::and);
        let oracle = GuardSolver::new().with_pipeline(pipeline);
        let asked = Question {
            sts: &model.0,
            label: model.1,
            guard: &guard,
            valuation: &[],
        };
        match oracle.answer(asked, &deadline) {
            Answer::Yes => Said::Sat,
            Answer::No => Said::Unsat,
            Answer::Unknown => Said::Unknown,
        }
    } else {
        for (ty, void) in &question.unknowns {
            if *void {
                embedded.void_unknown(ty);
            } else {
                embedded.unknown(ty);
            }
        }
        for condition in &question.conditions {
            embedded.assert(condition);
        }
        if question.asked == QuestionKind::Plain {
            said(embedded.check(&deadline))
        } else {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            said(embedded.random_model(&mut rng, &deadline).map(|_| ()))
        }
    };
    counts.seconds += start.elapsed().as_secs_f64();
    counts.steps += deadline.taken();
    counts.questions += 1;
    match answer {
        Said::Sat => counts.sat += 1,
        Said::Unsat => counts.unsat += 1,
        Said::Unknown => counts.unknown += 1,
    }
    if answer != Said::Unknown
        && let Some(part) = deadline.answered_by()
    {
        *counts.by.entry(part).or_default() += 1;
    }
    answer
}

fn table(name: &str, sources: &[&Source]) {
    let asked: u64 = sources
        .iter()
        .flat_map(|s| s.questions.iter().map(|(_, count)| count))
        .sum();
    let run = |pipeline: Pipeline, guards_only: Option<bool>| {
        let mut counts = Counts::default();
        for source in sources {
            for (question, _) in &source.questions {
                if guards_only.is_none_or(|g| g == (question.asked == QuestionKind::Guard)) {
                    ask(source, question, pipeline, &mut counts);
                }
            }
        }
        counts
    };
    println!("\n{name}: {asked} times a question was asked, counted once each below");
    println!(
        "{:<24}{:>10}{:>8}{:>8}{:>9}{:>11}{:>10}",
        "", "questions", "sat", "unsat", "unknown", "steps", "ms"
    );
    let line = |what: &str, c: &Counts| {
        println!(
            "{what:<24}{:>10}{:>8}{:>8}{:>9}{:>11}{:>10.0}",
            c.questions,
            c.sat,
            c.unsat,
            c.unknown,
            c.steps,
            c.seconds * 1e3
        );
    };
    for (what, guards) in [("guards", true), ("conditions", false)] {
        let counts = run(Pipeline::WHOLE, Some(guards));
        if counts.questions > 0 {
            line(what, &counts);
        }
    }
    let whole = run(Pipeline::WHOLE, None);
    line("all parts", &whole);
    for part in Part::ALL {
        line(
            &format!("  without {}", part.name()),
            &run(Pipeline::WHOLE.without(part), None),
        );
    }
    println!("  answered by");
    for part in Part::ALL {
        let count = whole.by.get(&part).copied().unwrap_or_default();
        println!("    {:<14}{count:>8}", part.name());
    }
}
