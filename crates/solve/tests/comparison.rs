//! The embedded solver against z3 and against trying values, on questions over all types.
//!
//! No answer may be wrong: a *satisfiable* must come with values that pass evaluation; an
//! *unsatisfiable* is wrong where z3 or the enumeration finds values that pass. The share of *unknown*
//! is printed by kind of question. The fixed seeds run in the test command; `cargo xtask solver
//! --minutes N` goes on with new seeds. Without a z3 program the comparison is with the enumeration
//! alone, and says so.

// The ban on the environment is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

#[path = "../../adapters/src/solver_process.rs"]
#[allow(
    dead_code,
    clippy::disallowed_methods,
    reason = "shared with the program; the edge"
)]
mod process;
mod questions;
#[path = "../../adapters/src/unguarded.rs"]
#[allow(
    clippy::disallowed_methods,
    reason = "shared with the program; the edge"
)]
mod unguarded;

use ioco_solve::{Deadline, Embedded, GuardSolver, Outcome, SmtLib, Solver as _, choose_values};
use ioco_sts::{Answer, Feasibility as _, Function, Question as Asked, Type, Value};
use process::SolverProcess;
use questions::generate::{Kind, question};
use questions::{Question, enumerate, functions, shrink, types};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use unguarded::Guarded;

/// Questions in the test command.
const QUESTIONS: u64 = 600;
/// Steps for one question, as the tester gives.
const STEPS: u64 = 20_000;
/// Comparisons to make one finding smaller.
const MAX_RUNS: u32 = 400;
/// Of a hundred questions at most so many are left open, and at most so many that z3 or the enumeration answers.
const MAX_UNKNOWN: u32 = 9;
const MAX_AVOIDABLE: u32 = 4;
/// z3 counts its own work, so that its answers do not depend on the machine.
const Z3_LIMIT: &str = "rlimit=1000000";
/// Waiting for z3 counts as steps: this is a second or two.
const Z3_STEPS: u64 = 150_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Sat,
    Unsat,
    Unknown,
}

struct Comparison {
    functions: Vec<Function>,
    z3: Option<SmtLib>,
}

#[derive(Default, Clone, Copy)]
struct Counts {
    questions: u32,
    sat: u32,
    unsat: u32,
    unknown: u32,
    /// Unknown to the embedded solver, but known to z3 or the enumeration.
    avoidable: u32,
    z3_unknown: u32,
}

impl Comparison {
    fn new() -> Comparison {
        let functions = functions();
        let z3 = match SolverProcess::start("z3", &["-in", Z3_LIMIT]) {
            Ok(process) => Some(SmtLib::new(&types(), &functions, Box::new(process))),
            Err(error) => {
                // Where it was installed for the tests, to go without it is a fault of the tests.
                let needed = std::env::var_os("IOCO_TEST_NEEDS_Z3").is_some();
                assert!(!needed, "z3 was installed, and does not start: {error}");
                eprintln!("no z3 ({error}): compared with the enumeration alone");
                None
            }
        };
        Comparison { functions, z3 }
    }

    /// The answers of the embedded solver and of z3, or what is wrong with one of them.
    fn compare(&mut self, question: &Question, seed: u64) -> Result<(Said, Said, bool), String> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let tried = enumerate::solutions(question, &self.functions);
        let mut embedded = Embedded::new(&types(), &self.functions);
        question.assert_in(&mut embedded);
        let deadline = || Deadline::steps(STEPS);
        let model = self.checked("model", question, embedded.model(&deadline()))?;
        let random = embedded.random_model(&mut rng, &deadline());
        let random = self.checked("random model", question, random)?;
        let z3 = match &mut self.z3 {
            Some(z3) => {
                z3.push();
                question.assert_in(z3);
                let outcome = z3.model(&Deadline::steps(Z3_STEPS));
                z3.pop();
                self.checked("z3", question, outcome)?
            }
            None => Said::Unknown,
        };
        let mut said = vec![("model", model), ("random model", random), ("z3", z3)];
        if question.unknowns.iter().all(|(_, void)| *void) {
            let (sts, label) = question.model();
            let guard = question.guard();
            let answer = GuardSolver::new().feasible(Asked {
                sts: &sts,
                label,
                guard: &guard,
                valuation: &[],
            });
            said.push((
                "oracle",
                match answer {
                    Answer::Yes => Said::Sat,
                    Answer::No => Said::Unsat,
                    Answer::Unknown => Said::Unknown,
                },
            ));
            let chosen = choose_values(&sts, label, &guard, &[], &mut rng, &deadline());
            said.push(("choice", self.checked("choice", question, chosen)?));
        }
        if let Some(solution) = tried.solutions.first()
            && let Some((who, _)) = said.iter().find(|(_, said)| *said == Said::Unsat)
        {
            return Err(format!(
                "{who} says unsatisfiable, but {solution:?} will do"
            ));
        }
        let yes = said.iter().find(|(_, said)| *said == Said::Sat);
        let no = said.iter().find(|(_, said)| *said == Said::Unsat);
        if let (Some((yes, _)), Some((no, _))) = (yes, no) {
            return Err(format!("{yes} says satisfiable, {no} says unsatisfiable"));
        }
        if tried.complete
            && tried.solutions.is_empty()
            && let Some((who, _)) = yes
        {
            return Err(format!("{who} says satisfiable, but nothing will do"));
        }
        let known = !tried.solutions.is_empty() || tried.complete || z3 != Said::Unknown;
        if seed.is_multiple_of(3) {
            self.extremes(question, &tried)?;
        }
        Ok((model, z3, known))
    }

    /// A satisfiable outcome must pass evaluation.
    fn checked(
        &self,
        who: &str,
        question: &Question,
        outcome: Outcome<Vec<Value>>,
    ) -> Result<Said, String> {
        match outcome {
            Outcome::Sat(values) => {
                if !question.fits(&values) {
                    return Err(format!(
                        "{who} gives {values:?}, which do not fit the types"
                    ));
                }
                if !question.holds(&values, &self.functions) {
                    return Err(format!("{who} gives {values:?}, which do not pass"));
                }
                Ok(Said::Sat)
            }
            Outcome::Unsat => Ok(Said::Unsat),
            Outcome::Unknown(_) => Ok(Said::Unknown),
        }
    }

    /// The smallest and largest values: never passed by a solution, and exact where all were tried.
    fn extremes(&self, question: &Question, tried: &enumerate::Tried) -> Result<(), String> {
        for (unknown, (ty, _)) in question.unknowns.iter().enumerate() {
            if matches!(ty, Type::Str | Type::Array(_) | Type::Struct(_)) {
                continue;
            }
            let values = || {
                let all = tried.solutions.iter().map(|s| &s[unknown]);
                all.filter(|v| !v.is_void())
            };
            let mut embedded = Embedded::new(&types(), &self.functions);
            question.assert_in(&mut embedded);
            let deadline = Deadline::steps(STEPS / 4);
            let least = embedded.minimum(unknown as u32, &deadline);
            let deadline = Deadline::steps(STEPS / 4);
            let most = embedded.maximum(unknown as u32, &deadline);
            for (what, outcome, seen) in [
                ("minimum", least, values().min()),
                ("maximum", most, values().max()),
            ] {
                match (&outcome, seen) {
                    (Outcome::Unsat, Some(seen)) => {
                        return Err(format!("no {what} of p{unknown}, but it may be {seen:?}"));
                    }
                    (Outcome::Sat(value), Some(seen)) => {
                        let passed = match what {
                            "minimum" => seen < value,
                            _ => seen > value,
                        };
                        if passed || (tried.complete && value != seen) {
                            return Err(format!(
                                "{what} of p{unknown} is {value:?}, but it may be {seen:?}"
                            ));
                        }
                    }
                    (Outcome::Sat(value), None) if tried.complete => {
                        return Err(format!("{what} of p{unknown} is {value:?} of nothing"));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn seed(&mut self, seed: u64, counts: &mut [Counts]) -> Result<(), String> {
        let index = (seed % Kind::ALL.len() as u64) as usize;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let question = question(Kind::ALL[index], &mut rng);
        match self.compare(&question, seed) {
            Ok((model, z3, known)) => {
                let counts = &mut counts[index];
                counts.questions += 1;
                match model {
                    Said::Sat => counts.sat += 1,
                    Said::Unsat => counts.unsat += 1,
                    Said::Unknown => {
                        counts.unknown += 1;
                        counts.avoidable += u32::from(known);
                        if known && std::env::var_os("IOCO_SOLVER_SHOW_UNKNOWN").is_some() {
                            println!("unknown, {z3:?} to z3: {}", question.show());
                        }
                    }
                }
                counts.z3_unknown += u32::from(z3 == Said::Unknown);
                Ok(())
            }
            Err(_) => {
                let mut why = String::new();
                let mut runs = 0;
                let small = shrink::shrunk(&question, &mut |q| {
                    runs += 1;
                    runs < MAX_RUNS && self.compare(q, seed).is_err()
                });
                if let Err(reason) = self.compare(&small, seed) {
                    why = reason;
                }
                Err(format!("seed {seed}: {why}\n  {}", small.show()))
            }
        }
    }
}

fn table(counts: &[Counts]) -> String {
    let mut text = format!(
        "{:<18}{:>10}{:>8}{:>8}{:>9}{:>11}{:>12}\n",
        "kind", "questions", "sat", "unsat", "unknown", "avoidable", "z3 unknown"
    );
    let mut total = Counts::default();
    let mut line = |name: &str, c: &Counts| {
        text.push_str(&format!(
            "{:<18}{:>10}{:>8}{:>8}{:>9}{:>11}{:>12}\n",
            name, c.questions, c.sat, c.unsat, c.unknown, c.avoidable, c.z3_unknown
        ));
    };
    for (kind, c) in Kind::ALL.iter().zip(counts) {
        line(kind.name(), c);
        total.questions += c.questions;
        total.sat += c.sat;
        total.unsat += c.unsat;
        total.unknown += c.unknown;
        total.avoidable += c.avoidable;
        total.z3_unknown += c.z3_unknown;
    }
    line("all", &total);
    text
}

#[test]
fn no_answer_contradicts_z3_or_the_enumeration() {
    let mut comparison = Comparison::new();
    let mut counts = [Counts::default(); Kind::ALL.len()];
    let mut wrong = Vec::new();
    for seed in 0..QUESTIONS {
        if let Err(finding) = comparison.seed(seed, &mut counts) {
            println!("{finding}");
            wrong.push(finding);
        }
    }
    println!("{}", table(&counts));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A solver that always says "unknown" would contradict nobody.
    let sum = |of: fn(&Counts) -> u32| counts.iter().map(of).sum::<u32>();
    let all = sum(|c| c.questions);
    let (unknown, avoidable) = (sum(|c| c.unknown), sum(|c| c.avoidable));
    assert!(unknown * 100 <= all * MAX_UNKNOWN, "{unknown} of {all}");
    assert!(
        avoidable * 100 <= all * MAX_AVOIDABLE,
        "{avoidable} of {all}"
    );
    // Both answers for every kind, or the comparison says little.
    for (kind, counts) in Kind::ALL.iter().zip(&counts) {
        assert!(counts.sat > 8 && counts.unsat > 4, "{}", kind.name());
    }
}

/// The long run of `cargo xtask solver`: from the seed in `IOCO_SOLVER_SEED`, as long as
/// `IOCO_SOLVER_MINUTES` says.
#[test]
#[ignore = "a long run: cargo xtask solver --minutes N"]
#[allow(
    clippy::disallowed_methods,
    reason = "a run whose length is given in minutes looks at the clock"
)]
fn a_long_run_with_new_seeds_finds_nothing() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let minutes = number("IOCO_SOLVER_MINUTES").unwrap_or(1);
    let first = number("IOCO_SOLVER_SEED").unwrap_or(QUESTIONS);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60 * minutes);
    let mut comparison = Comparison::new();
    let mut counts = [Counts::default(); Kind::ALL.len()];
    let mut wrong = 0;
    let mut seed = first;
    while std::time::Instant::now() < end {
        if let Err(finding) = comparison.seed(seed, &mut counts) {
            println!("{finding}");
            wrong += 1;
        }
        seed += 1;
    }
    println!("seeds {first} to {}\n{}", seed - 1, table(&counts));
    assert_eq!(wrong, 0, "findings are printed above");
}
