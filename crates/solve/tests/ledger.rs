//! The ledger: what the solver says to a fixed set of questions, with which values, which part said it,
//! and in how many steps. A lost propagation, a wrong bound or a changed order shows as a changed line.
//!
//! The ledger cannot bless a wrong answer: values must pass evaluation, and *unsatisfiable* and the
//! extremes must be what trying values says. After a change that is meant to change answers:
//!
//!     IOCO_LEDGER=write cargo test -p ioco-solve --test ledger
//!
//! and review the difference of `ledger.txt` and `smt_lib.txt`.
//!
//! Besides the first questions of each kind there are those of `ledger_seeds.txt`: each was found to tell
//! the solver from a mutant of it that the others do not notice (`xtask/schemata.py`). To look for more,
//! `IOCO_LEDGER=first..last` prints the ledger of those seeds instead.
#![allow(
    clippy::disallowed_methods,
    reason = "a test that keeps its expectations in a file reads and writes it"
)]

#[allow(dead_code, reason = "shared with the comparison")]
mod questions;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use ioco_solve::{
    Boundaries, Deadline, Embedded, GuardSolver, Outcome, Part, Pipe, PipeError, Pipeline, SmtLib,
    Solver, Unknown, boundary_values, choose_values, extreme_values,
};
use ioco_sts::{Answer, Function, Question as Asked, Type, Value};
use questions::generate::{Kind, question};
use questions::{Question, blocks, enumerate, functions, types};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// Questions of each kind.
const OF_EACH_KIND: u64 = 36;
const BLOCKS: u64 = 2;
/// Steps for one question.
const STEPS: u64 = 3_000;
/// Assignments that are tried to check an answer.
const TRIED: usize = 1_500;

/// What is switched off together, for another part to be asked.
const SWITCHED_OFF: [(&str, &[Part]); 5] = [
    ("-narrowing", &[Part::Narrowing]),
    ("-languages", &[Part::Languages]),
    ("-nearby", &[Part::Nearby]),
    (
        "learning",
        &[Part::Narrowing, Part::Elimination, Part::Nearby],
    ),
    (
        "exhaustive",
        &[Part::Elimination, Part::Nearby, Part::Learning],
    ),
];

/// `Sat` with values, or why not.
fn said<T: std::fmt::Debug>(outcome: &Outcome<T>) -> String {
    match outcome {
        Outcome::Sat(values) => format!("{values:?}"),
        Outcome::Unsat => "unsatisfiable".to_owned(),
        Outcome::Unknown(why) => why.to_string(),
    }
}

/// The answer, the part that gave it, and the steps.
fn entry(answer: &str, deadline: &Deadline<'_>) -> String {
    let part = deadline.answered_by().map_or("", |part| part.name());
    format!("{answer}  [{part} {}]", deadline.taken())
}

struct Ledger {
    functions: Vec<Function>,
    text: String,
    wrong: Vec<String>,
}

impl Ledger {
    fn line(&mut self, what: &str, answer: &str, deadline: &Deadline<'_>) {
        let entry = entry(answer, deadline);
        let _ = writeln!(self.text, "  {what:<9} {entry}");
    }

    fn enter(&mut self, name: &str, question: &Question, seed: u64) {
        let _ = writeln!(self.text, "{name} {seed}: {}", question.show());
        let mut known = Known {
            question,
            functions: &self.functions.clone(),
            tried: None,
        };
        let mut embedded = Embedded::new(&types(), &self.functions);
        question.assert_in(&mut embedded);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut usual = None;
        for what in ["model", "random"] {
            let deadline = Deadline::steps(STEPS);
            let outcome = match what {
                "model" => embedded.model(&deadline),
                _ => embedded.random_model(&mut rng, &deadline),
            };
            self.line(what, &said(&outcome), &deadline);
            self.wrong.extend(known.objection(&outcome));
            usual.get_or_insert_with(|| entry(&said(&outcome), &deadline));
        }
        let usual = usual.unwrap_or_default();
        self.without_parts(question, &mut known, &usual);
        self.in_few_steps(question, &mut known, &usual);
        for (unknown, (ty, _)) in (0u32..).zip(&question.unknowns).take(3) {
            if matches!(ty, Type::Str | Type::Array(_) | Type::Struct(_)) {
                continue;
            }
            for (what, least) in [("least", true), ("greatest", false)] {
                let deadline = Deadline::steps(STEPS);
                let outcome = match least {
                    true => embedded.minimum(unknown, &deadline),
                    false => embedded.maximum(unknown, &deadline),
                };
                self.line(what, &said(&outcome), &deadline);
                self.wrong.extend(known.passed(unknown, least, &outcome));
            }
        }
        if question.unknowns.iter().all(|(_, void)| *void) {
            self.guard(question, &mut known, &mut rng);
        }
    }

    /// The answers with parts of the solver switched off, where these are not `usual`: what comes after
    /// such a part is then asked more often.
    fn without_parts(&mut self, question: &Question, known: &mut Known<'_>, usual: &str) {
        let mut last = usual.to_owned();
        for (name, parts) in SWITCHED_OFF {
            let parts = parts.iter().copied();
            let pipeline = parts.fold(Pipeline::WHOLE, Pipeline::without);
            let embedded = Embedded::new(&types(), &self.functions);
            let mut embedded = embedded.with_pipeline(pipeline);
            question.assert_in(&mut embedded);
            let deadline = Deadline::steps(STEPS);
            let outcome = embedded.model(&deadline);
            self.wrong.extend(known.objection(&outcome));
            let entry = entry(&said(&outcome), &deadline);
            if entry != last {
                let _ = writeln!(self.text, "  {name:<9} {entry}");
                last = entry;
            }
        }
    }

    /// What is said in so few steps that most of the search does not happen, where that is something.
    fn in_few_steps(&mut self, question: &Question, known: &mut Known<'_>, usual: &str) {
        let mut embedded = Embedded::new(&types(), &self.functions);
        question.assert_in(&mut embedded);
        for steps in [4, 16, 64, 256] {
            let deadline = Deadline::steps(steps);
            let outcome = embedded.model(&deadline);
            self.wrong.extend(known.objection(&outcome));
            let entry = entry(&said(&outcome), &deadline);
            if entry == usual {
                return;
            }
            if outcome != Outcome::Unknown(Unknown::Deadline) {
                let _ = writeln!(self.text, "  in {steps:<6} {entry}");
            }
        }
    }

    /// The question as the guard of a label.
    fn guard(&mut self, question: &Question, known: &mut Known<'_>, rng: &mut ChaCha8Rng) {
        let (sts, label) = question.model();
        let guard = question.guard();
        let asked = Asked {
            sts: &sts,
            label,
            guard: &guard,
            valuation: &[],
        };
        let deadline = Deadline::steps(STEPS);
        let answer = GuardSolver::new().answer(asked, &deadline);
        self.line("guard", &format!("{answer:?}"), &deadline);
        let deadline = Deadline::steps(STEPS);
        let searched = GuardSolver::new().with_pipeline(Pipeline::WHOLE.without(Part::Box));
        let second = searched.answer(asked, &deadline);
        self.line("searched", &format!("{second:?}"), &deadline);
        if answer != second && answer != Answer::Unknown && second != Answer::Unknown {
            self.wrong.push(format!("{answer:?} and {second:?}"));
        }
        let deadline = Deadline::steps(STEPS);
        let chosen = choose_values(&sts, label, &guard, &[], rng, &deadline);
        self.line("choice", &said(&chosen), &deadline);
        self.wrong.extend(known.objection(&chosen));
        for largest in [false, true] {
            let values = extreme_values(&sts, label, &guard, &[], largest);
            let deadline = Deadline::never();
            self.line("extreme", &format!("{values:?}"), &deadline);
            let outcome = values.map_or(Outcome::Sat(Vec::new()), Outcome::Sat);
            if !matches!(&outcome, Outcome::Sat(values) if values.is_empty()) {
                self.wrong.extend(known.objection(&outcome));
            }
        }
        let deadline = Deadline::steps(STEPS);
        for boundaries in boundary_values(&sts, label, &guard, &guard.params(), &[], &deadline) {
            let Boundaries {
                parameter,
                minimum,
                maximum,
                limits,
            } = boundaries;
            let answer = format!("{} {} {limits:?}", said(&minimum), said(&maximum));
            self.line(&format!("limits {parameter}"), &answer, &deadline);
        }
    }
}

/// A question and, where it was asked for, what trying values says.
struct Known<'q> {
    question: &'q Question,
    functions: &'q [Function],
    tried: Option<enumerate::Tried>,
}

impl Known<'_> {
    fn tried(&mut self) -> &enumerate::Tried {
        let (question, functions) = (self.question, self.functions);
        self.tried
            .get_or_insert_with(|| enumerate::solutions_among(TRIED, question, functions))
    }

    fn objection(&mut self, outcome: &Outcome<Vec<Value>>) -> Option<String> {
        let why = match outcome {
            Outcome::Sat(values) => {
                let right =
                    self.question.fits(values) && self.question.holds(values, self.functions);
                (!right).then(|| format!("{values:?} do not pass"))
            }
            Outcome::Unsat => {
                let solution = self.tried().solutions.first();
                solution.map(|values| format!("unsatisfiable, but {values:?} will do"))
            }
            Outcome::Unknown(_) => None,
        };
        why.map(|why| format!("{}: {why}", self.question.show()))
    }

    /// What is wrong with an extreme.
    fn passed(&mut self, unknown: u32, least: bool, outcome: &Outcome<Value>) -> Option<String> {
        if let Outcome::Unknown(_) = outcome {
            return None;
        }
        let tried = self.tried();
        let of = |values: &Vec<Value>| values[unknown as usize].clone();
        let all = tried.solutions.iter().map(of).filter(|v| !v.is_void());
        let seen = if least { all.min() } else { all.max() };
        let right = match (outcome, &seen) {
            (Outcome::Sat(value), Some(seen)) => {
                let passed = if least { seen < value } else { seen > value };
                !passed && (!tried.complete || seen == value)
            }
            (Outcome::Sat(_), None) => !tried.complete,
            (_, seen) => seen.is_none(),
        };
        (!right).then(|| {
            let show = self.question.show();
            format!("{show}: the extreme of p{unknown} is {outcome:?}, but {seen:?}")
        })
    }
}

/// What is in the file, unless it is to be written.
fn kept(file: &str) -> Option<String> {
    let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("IOCO_LEDGER") {
        Some(_) => None,
        None => Some(std::fs::read_to_string(path).expect("the ledger can be read")),
    }
}

/// Stops at the first line that is not the file's.
fn compare(file: &str, kept: Option<&String>, text: &str) {
    let Some(kept) = kept.filter(|kept| !kept.starts_with(text)) else {
        return;
    };
    let both = text.lines().zip(kept.lines()).enumerate();
    for (line, (new, old)) in both {
        assert!(new == old, "{file}:{}\n  was {old}\n  is  {new}", line + 1);
    }
    panic!("{file} is shorter than what is said now");
}

/// Compares the whole with the file, or writes or prints it.
fn conclude(file: &str, kept: Option<&String>, text: &str) {
    if asked_for().is_some() {
        println!("{text}");
    } else if let Some(kept) = kept {
        compare(file, Some(kept), text);
        assert_eq!(text.len(), kept.len(), "{file} is longer");
    } else {
        let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).expect("the ledger can be written");
    }
}

/// The seeds that were asked for instead of the usual ones.
fn asked_for() -> Option<std::ops::Range<u64>> {
    let mode = std::env::var("IOCO_LEDGER").ok()?;
    let (first, last) = mode.split_once("..")?;
    Some(first.parse().ok()?..last.parse().ok()?)
}

/// One question of each kind after another, so that a fault shows soon.
fn every_question(mut visit: impl FnMut(&str, &Question, u64)) {
    let chosen = include_str!("ledger_seeds.txt");
    let seeds = |kind: Kind| -> Vec<u64> {
        let line = chosen.lines().find_map(|l| l.strip_prefix(kind.name()));
        let more = line.and_then(|l| l.strip_prefix(": ")).unwrap_or_default();
        let more = more.split_whitespace().map(|s| s.parse().expect("a seed"));
        match asked_for() {
            Some(seeds) => seeds.collect(),
            None => (0..OF_EACH_KIND).chain(more).collect(),
        }
    };
    // The kinds whose answers are kept.
    let kinds = Kind::ALL
        .into_iter()
        .take_while(|kind| *kind != Kind::Moment);
    let all: Vec<(Kind, Vec<u64>)> = kinds.map(|kind| (kind, seeds(kind))).collect();
    let most = all.iter().map(|(_, seeds)| seeds.len()).max().unwrap_or(0);
    for index in 0..most {
        for (kind, seeds) in &all {
            if let Some(seed) = seeds.get(index) {
                let mut rng = ChaCha8Rng::seed_from_u64(*seed);
                visit(kind.name(), &question(*kind, &mut rng), *seed);
            }
        }
    }
}

#[test]
fn answers_are_those_of_the_ledger() {
    let mut ledger = Ledger {
        functions: functions(),
        text: String::new(),
        wrong: Vec::new(),
    };
    let kept = kept("ledger.txt");
    every_question(|name, question, seed| {
        ledger.enter(name, question, seed);
        compare("ledger.txt", kept.as_ref(), &ledger.text);
        if asked_for().is_some() {
            print!("{}", std::mem::take(&mut ledger.text));
        }
    });
    if asked_for().is_some() {
        return;
    }
    for seed in 0..BLOCKS {
        let (unknowns, conditions) = blocks::block(seed);
        let unknowns = unknowns.into_iter().map(|ty| (ty, false)).collect();
        let question = Question {
            unknowns,
            conditions,
        };
        ledger.enter("block", &question, seed);
    }
    assert!(ledger.wrong.is_empty(), "{}", ledger.wrong.join("\n"));
    conclude("ledger.txt", kept.as_ref(), &ledger.text);
}

/// Keeps what is sent, and knows no answer.
struct Kept(Arc<Mutex<String>>);

impl Pipe for Kept {
    fn send(&mut self, line: &str) -> Result<(), PipeError> {
        let mut text = self.0.lock().expect("one thread");
        text.push_str(line.trim_end());
        text.push('\n');
        Ok(())
    }

    fn receive(&mut self, _: &Deadline<'_>) -> Result<String, PipeError> {
        Ok("unknown".to_owned())
    }

    fn restart(&mut self) -> Result<(), PipeError> {
        Ok(())
    }
}

/// The translation for a solver program. `comparison.rs` asks z3 whether that means the same.
#[test]
fn translations_are_those_of_the_ledger() {
    let text = Arc::new(Mutex::new(String::new()));
    let kept = kept("smt_lib.txt");
    let functions = functions();
    let mut number = 0;
    every_question(|name, question, seed| {
        number += 1;
        if (number + seed) % 3 != 0 && seed < OF_EACH_KIND {
            return;
        }
        let pipe = Kept(Arc::clone(&text));
        let mut solver = SmtLib::new(&types(), &functions, Box::new(pipe));
        question.assert_in(&mut solver);
        let outcome = solver.model(&Deadline::steps(STEPS));
        let said = format!(
            "; {name} {seed}: {}\n; {}\n",
            question.show(),
            said(&outcome)
        );
        let mut text = text.lock().expect("one thread");
        text.push_str(&said);
        compare("smt_lib.txt", kept.as_ref(), &text);
    });
    let text = text.lock().expect("one thread");
    conclude("smt_lib.txt", kept.as_ref(), &text);
}
