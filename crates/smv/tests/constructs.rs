//! Generated models with every construct of the language, and every technique held against explicit enumeration. A fixed
//! share runs with the tests; `cargo xtask agreement --models N` runs more.

use ioco_smv::explicit::{Limits, reachable};
use ioco_smv::{
    Criterion, Edge, GoalOptions, Options, Severity, Technique, Verdict, generate, load,
};

/// Splitmix, so that a model is known by its number.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Where an expression stands decides what it may speak of.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// One state: INIT, INVAR, DEFINE.
    State,
    /// A step: the inputs, and next().
    Step,
    /// A step, in an assignment to next(x): inputs, but next() only of what is assigned before.
    Assigned,
}

struct Models {
    dice: Dice,
    place: Place,
    /// Choices are possible: sets, ranges, unions.
    choices: bool,
}

impl Models {
    fn boolean(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.boolean_leaf();
        }
        let deeper = depth - 1;
        match self.dice.below(15) {
            0 => format!("!({})", self.boolean(deeper)),
            1 | 2 => format!("({} & {})", self.boolean(deeper), self.boolean(deeper)),
            3 | 4 => format!("({} | {})", self.boolean(deeper), self.boolean(deeper)),
            5 => format!("({} -> {})", self.boolean(deeper), self.boolean(deeper)),
            6 => format!("({} <-> {})", self.boolean(deeper), self.boolean(deeper)),
            7 => {
                let operator = self.dice.pick(&["xor", "xnor"]);
                format!(
                    "({} {operator} {})",
                    self.boolean(deeper),
                    self.boolean(deeper)
                )
            }
            8 | 9 => {
                let operator = self.dice.pick(&["=", "!=", "<", "<=", ">", ">="]);
                format!(
                    "({} {operator} {})",
                    self.integer(deeper),
                    self.integer(deeper)
                )
            }
            10 => format!(
                "({} in {{{}, {}}})",
                self.integer(deeper),
                self.integer(0),
                self.integer(0)
            ),
            11 => format!(
                "({} in {}..{})",
                self.integer(deeper),
                self.integer(0),
                self.integer(0)
            ),
            12 => format!("bool({})", self.integer(deeper)),
            13 => format!(
                "({} ? {} : {})",
                self.boolean(deeper),
                self.boolean(deeper),
                self.boolean(deeper)
            ),
            _ => {
                let (first, then) = (self.boolean(deeper), self.boolean(deeper));
                let otherwise = self.boolean(deeper);
                format!("case {first} : {then}; TRUE : {otherwise}; esac")
            }
        }
    }

    fn boolean_leaf(&mut self) -> String {
        let mut leaves = vec![
            "a",
            "b",
            "s.up",
            "TRUE",
            "e = red",
            "e in {red, blue}",
            "u = none",
            "bits[0]",
            "bits[1]",
            "hot",
        ];
        if self.place != Place::State {
            leaves.extend(["i", "k = 2"]);
        }
        if self.place == Place::Step {
            leaves.extend(["next(a)", "next(n) = n", "next(e) = red", "next(s.up)"]);
        }
        if self.choices {
            leaves.extend(["{TRUE, FALSE}", "(a union b)"]);
        }
        self.dice.pick(&leaves).to_owned()
    }

    fn integer(&mut self, depth: u32) -> String {
        if depth == 0 {
            let mut leaves = vec!["n", "m", "0", "1", "2", "3", "-1", "f", "c", "sum"];
            if self.place != Place::State {
                leaves.push("k");
            }
            if self.place == Place::Step {
                leaves.push("next(m)");
            }
            if self.choices {
                leaves.extend(["{0, 2}", "(0..n)", "(n union 1)", "(m..n)"]);
            }
            return self.dice.pick(&leaves).to_owned();
        }
        let deeper = depth - 1;
        match self.dice.below(11) {
            0 | 1 => format!("({} + {})", self.integer(deeper), self.integer(deeper)),
            2 => format!("({} - {})", self.integer(deeper), self.integer(deeper)),
            3 => format!("({} * {})", self.integer(deeper), self.integer(deeper)),
            4 => format!("({} / {})", self.integer(deeper), self.divisor()),
            5 => format!("({} mod {})", self.integer(deeper), self.divisor()),
            6 => format!("abs({})", self.integer(deeper)),
            7 => {
                let function = self.dice.pick(&["min", "max"]);
                format!(
                    "{function}({}, {})",
                    self.integer(deeper),
                    self.integer(deeper)
                )
            }
            8 => format!("toint({})", self.boolean(deeper)),
            9 => format!(
                "count({}, {}, {})",
                self.boolean(deeper),
                self.boolean(0),
                self.boolean(0)
            ),
            _ => {
                let (condition, then) = (self.boolean(deeper), self.integer(deeper));
                format!(
                    "case {condition} : {then}; TRUE : {}; esac",
                    self.integer(deeper)
                )
            }
        }
    }

    /// Mostly a constant: a divisor that can be zero is an error of the model, unless a guard is before it.
    fn divisor(&mut self) -> &'static str {
        self.dice.pick(&["2", "3", "-2", "(n + 1)", "(m * m + 1)"])
    }

    fn model(&mut self) -> String {
        let mut text = String::from(
            "MODULE main\nVAR a : boolean; b : boolean; n : 0..3; m : 0..3; e : {red, green, blue};\n  \
             u : {none, 2, 1, 0, 3, 4}; bits : array 0..1 of boolean; s : cell(a, n);\nIVAR i : boolean; k : 1..2;\n\
             FROZENVAR f : 0..1;\n",
        );
        self.choices = false;
        self.place = Place::State;
        text += "CONSTANTS unused;\n";
        text += &format!(
            "DEFINE c := toint(a) + {};\n",
            self.dice.pick(&["n", "m", "1"])
        );
        text += "  sum := case n > m : n - m; TRUE : m - n; esac;\n  hot := e = red | bits[0];\n";
        text += "ASSIGN\n  init(n) := 0;\n  init(e) := red;\n  init(f) := {0, 1};\n";
        self.choices = true;
        text += &format!(
            "  init(a) := {};\n",
            self.dice.pick(&["FALSE", "{TRUE, FALSE}", "f = 1"])
        );
        self.place = Place::Assigned;
        text += &format!("  next(a) := {};\n", self.boolean(2));
        // A sum stays in the domain by its rest, or by its bounds.
        let value = self.integer(2);
        text += &match self.dice.below(4) {
            0 => format!("  next(n) := abs({value}) mod 4;\n"),
            1 => format!("  next(n) := max(0, min(3, {value}));\n"),
            2 => "  next(n) := 0..m;\n".to_owned(),
            _ => format!(
                "  next(n) := case n != 0 : case 6 / n > {} : 0; TRUE : n; esac; TRUE : {{1, 3}}; esac;\n",
                self.dice.below(4)
            ),
        };
        if !self.dice.chance(3) {
            text += "  next(m) := case next(n) = 2 : 3; bits[n mod 2] : (m + k) mod 4; TRUE : m; esac;\n";
        }
        text += &format!(
            "  next(e) := {};\n",
            self.dice.pick(&[
                "e",
                "{red, green}",
                "i ? blue : e",
                "case e = red : green; e = green : {red, blue}; e = blue : e; esac"
            ])
        );
        text += &format!(
            "  next(u) := {};\n",
            self.dice.pick(&[
                "u",
                "n",
                "case u = n : none; TRUE : m; esac",
                "{2, none}",
                "(n union none)"
            ])
        );
        text += &format!("  next(bits[0]) := {};\n", self.boolean(1));
        if self.dice.chance(2) {
            text += "  bits[1] := n = 3;\n";
        }
        self.choices = self.dice.chance(3);
        self.place = Place::State;
        if self.dice.chance(3) {
            text += &format!("INIT {}\n", self.boolean(2));
        }
        if self.dice.chance(3) {
            text += &format!("INVAR {}\n", self.boolean(2));
        }
        self.place = Place::Step;
        if self.dice.chance(3) {
            text += &format!("TRANS {}\n", self.boolean(2));
        }
        self.choices = false;
        self.place = Place::State;
        text += &format!("INVARSPEC NAME safe := {};\n", self.boolean(2));
        text += "SPEC AG (a -> EF b)\nLTLSPEC G F a;\nFAIRNESS a\nJUSTICE b;\nCOMPASSION(a, b)\n";
        let process = self.dice.chance(4);
        if process {
            text = text.replace(
                "s : cell(a, n);",
                "s : cell(a, n); p : process runner(b); q : process runner(b);",
            );
        }
        text += "MODULE cell(given, level)\nISA base\nVAR up : boolean;\nASSIGN init(up) := FALSE; next(up) := given xor (level > 1);\n\
                 MODULE base\nDEFINE both := up & self.up;\n";
        if process {
            text += "MODULE runner(shared)\nVAR own : boolean;\nASSIGN next(own) := !own & running; next(shared) := own;\n";
        }
        text
    }
}

/// What became of one model.
#[derive(Default)]
struct Counts {
    models: usize,
    refused: usize,
    large: usize,
    goals: usize,
    covered: usize,
    infeasible: usize,
    unknown: usize,
}

fn compare(number: u64, counts: &mut Counts) {
    let mut models = Models {
        dice: Dice(number),
        place: Place::State,
        choices: false,
    };
    let text = models.model();
    let (model, diagnostics) = load(&text, "generated.smv");
    let Some(mut model) = model else {
        // A generated sum may leave a domain, a generated divisor may be zero: errors of the model, not of ours.
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
        for error in errors {
            let expected = [
                "outside of its domain",
                "division by zero",
                "not exhaustive",
                "too large",
            ];
            let known = expected.iter().any(|part| error.message.contains(part));
            assert!(known, "model {number}: {error}\n{text}");
        }
        counts.refused += 1;
        return;
    };
    let limits = Limits {
        states: 1_000,
        work: 300_000,
    };
    let Some(reach) = reachable(&model, limits) else {
        counts.large += 1;
        return;
    };
    counts.models += 1;
    let criteria = [
        Criterion::Value,
        Criterion::Decision,
        Criterion::Condition,
        Criterion::Mcdc,
        Criterion::Invariant,
    ];
    let options = GoalOptions {
        max_values: Some(6),
        inputs: true,
        reached_guards: number.is_multiple_of(2),
        boolean_sides: number.is_multiple_of(3),
        ..GoalOptions::default()
    };
    let mut goals = model.goals(&criteria, &options);
    models.place = Place::Step;
    models.choices = true;
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(models.boolean(2));
    }
    own.push("case n = 1 : a; n = 2 : b; esac".to_owned());
    own.push("!case n = 1 : a; n = 2 : b; esac".to_owned());
    own.push("n = 0 & (m / n > 1 xor a)".to_owned());
    for goal in own {
        match model.user_goal(&goal) {
            Ok(goal) => goals.push(goal),
            Err(problem) => {
                let refused = problem.message.contains("too large");
                assert!(refused, "model {number}, goal {goal}: {problem}\n{text}");
            }
        }
    }
    let technique = Technique::ALL[(number % 4) as usize];
    let options = Options {
        technique,
        time_per_goal: 1000.0,
        jobs: 1,
        nodes: 400_000,
        ..Options::default()
    };
    let edge = Edge {
        clock: &|| 0.0,
        stop: &|| false,
    };
    let results = generate(&model, &goals, &options, edge, &mut |_| {});
    assert_eq!(results.len(), goals.len());
    counts.goals += goals.len();
    for (goal, result) in goals.iter().zip(&results) {
        let distance = reach.distance(&model, goal.expr, goal.transition);
        let what = || {
            let method = &result.method;
            let name = technique.name();
            format!(
                "model {number}, {name}, goal {} ({method}), distance {distance:?}\n{text}",
                goal.text
            )
        };
        match result.verdict {
            Verdict::Covered => {
                counts.covered += 1;
                let test = result.test().expect("a covered goal has a test");
                assert_eq!(model.check_run(test), Ok(()), "{}", what());
                let hit = model.first_hit(test, goal.expr, goal.transition);
                assert!(hit.is_some(), "{}", what());
                assert!(
                    distance.is_some_and(|distance| distance < test.len()),
                    "{}",
                    what()
                );
            }
            Verdict::Infeasible => {
                counts.infeasible += 1;
                assert_eq!(distance, None, "{}", what());
            }
            Verdict::Unknown => {
                counts.unknown += 1;
                let incomplete = matches!(technique, Technique::Strong | Technique::Weak);
                assert!(incomplete || result.method.contains("too"), "{}", what());
            }
        }
    }
}

#[test]
fn generated_models_agree_with_enumeration() {
    let asked = std::env::var("IOCO_AGREEMENT_MODELS").ok();
    let wanted = asked.and_then(|text| text.parse().ok()).unwrap_or(8);
    let mut counts = Counts::default();
    let mut number = 0;
    while counts.models < wanted {
        compare(number, &mut counts);
        number += 1;
        let tried = counts.models + counts.refused + counts.large;
        assert!(
            tried < 20 * wanted + 100,
            "too few of the generated models are of use"
        );
    }
    println!(
        "{} models ({} refused, {} too large): {} goals, {} covered, {} infeasible, {} unknown",
        counts.models,
        counts.refused,
        counts.large,
        counts.goals,
        counts.covered,
        counts.infeasible,
        counts.unknown
    );
}
