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
    /// Which of the seldom types the model has; all of them make it too large to enumerate.
    seldom: usize,
}

/// Variables of a seldom type, and what may be said about them.
struct Seldom {
    declared: &'static str,
    assigned: &'static str,
    leaves: &'static [&'static str],
    numbers: &'static [&'static str],
}

const SELDOM: [Seldom; 4] = [
    Seldom {
        declared: "w : {-1, minus, 2};",
        assigned: "w := case a : -1; b : minus; TRUE : {-1, 2}; esac;",
        leaves: &["e != w", "w = minus", "w in {-1, 2}", "w = -1"],
        numbers: &[],
    },
    Seldom {
        declared: "levels : array 1..1 + 1 of 2 - 3..1;",
        assigned: "levels[1] := -toint(b); levels[2] := -levels[1];",
        leaves: &["levels[2] = 1", "levels[f + 1] < 0"],
        numbers: &["levels[1]", "levels[2]", "levels[1 + f]", "-levels[1]"],
    },
    Seldom {
        declared: "tints : array -1..0 of {red, blue};",
        assigned: "tints[-1] := red; tints[0] := bits[0] ? blue : tints[-1];",
        leaves: &["tints[-1] = e", "tints[0] != red", "tints[-f] = blue"],
        numbers: &[],
    },
    Seldom {
        declared: "grid : array 1..2 of array -1..0 of boolean;",
        assigned: "grid[1][-1] := a; grid[1][0] := b; grid[2][0] := n > m; grid[2][-1] := grid[1][f - 1];",
        leaves: &["grid[2][-1]", "grid[1][0] = grid[2][0]", "grid[2][-f]"],
        numbers: &[],
    },
];

impl Models {
    fn boolean(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.boolean_leaf();
        }
        let deeper = depth - 1;
        match self.dice.below(20) {
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
            14..19 => self.seldom(deeper),
            _ => {
                let (first, then) = (self.boolean(deeper), self.boolean(deeper));
                let otherwise = self.boolean(deeper);
                format!("case {first} : {then}; TRUE : {otherwise}; esac")
            }
        }
    }

    fn seldom_type(&self) -> &'static Seldom {
        &SELDOM[self.seldom]
    }

    /// What NuSMV has beside the common constructs.
    fn seldom(&mut self, deeper: u32) -> String {
        match self.dice.below(5) {
            0 => {
                let operator = self.dice.pick(&["&&", "||"]);
                let (left, right) = (self.boolean(deeper), self.boolean(deeper));
                format!("({left} {operator} {right})")
            }
            1 => {
                let operator = self.dice.pick(&["=", "!="]);
                let (left, right) = (self.boolean(deeper), self.boolean(deeper));
                format!("(({left}) {operator} ({right}))")
            }
            2 => {
                let (left, right) = (self.integer(deeper), self.integer(0));
                format!("(({left} union {right}) in {{0, 1, {}}})", self.integer(0))
            }
            // Without a last branch for the rest: the condition around it leaves none.
            3 => {
                let value = self.boolean(deeper);
                format!("case a | b : case a : {value}; b : !a; esac; TRUE : FALSE; esac")
            }
            _ if self.place == Place::Step => {
                // There is no next() in next(), and the inputs have no next value.
                self.place = Place::State;
                let inner = self.boolean(deeper);
                self.place = Place::Step;
                format!("next({inner})")
            }
            _ => format!("(-({}) <= {})", self.integer(0), self.integer(deeper)),
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
            "same",
        ];
        leaves.extend(self.seldom_type().leaves);
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
            let mut leaves = vec![
                "n", "m", "0", "1", "2", "3", "-1", "f", "c", "sum", "-n", "-(m - 1)",
            ];
            leaves.extend(self.seldom_type().numbers);
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
        match self.dice.below(12) {
            11 => format!("-({})", self.integer(deeper)),
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
        text += "  sum := case n > m : n - m; TRUE : m - n; esac;\n  hot := e = red | bits[0];\n  same := s.both;\n";
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
        text += &format!(
            "VAR {}\nASSIGN {}\n",
            self.seldom_type().declared,
            self.seldom_type().assigned
        );
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
        text += &format!("INVARSPEC {};\n", self.boolean(1));
        text +=
            "CTLSPEC AG a;\nCTLSPEC NAME possible := EF b\nPSLSPEC always a;\nCOMPUTE MIN[a, b]\n";
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

fn models(number: u64) -> Models {
    Models {
        dice: Dice(number),
        place: Place::State,
        choices: false,
        seldom: number as usize % SELDOM.len(),
    }
}

fn compare(number: u64, counts: &mut Counts) {
    let mut models = models(number);
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
    let technique = Technique::ALL[(number / 4 % 4) as usize];
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

/// A generator that loses a construct tests less, and nothing else would tell.
#[test]
fn every_construct_is_generated() {
    let texts: Vec<String> = (0..200).map(|number| models(number).model()).collect();
    let all = texts.concat();
    let constructs = [
        "!(",
        " & ",
        " | ",
        " && ",
        " || ",
        " -> ",
        " <-> ",
        " xor ",
        " xnor ",
        " = ",
        " != ",
        " < ",
        " <= ",
        " > ",
        " >= ",
        " in {",
        " union ",
        "..",
        " ? ",
        " + ",
        " - ",
        " * ",
        " / ",
        " mod ",
        "-(",
        "-n",
        "abs(",
        "min(",
        "max(",
        "toint(",
        "bool(",
        "count(",
        "next((",
        "{TRUE, FALSE}",
        "case a | b : case a",
        "self.up",
        "running",
        "process ",
        "[f - 1]",
        "[-f]",
        "[2][-1]",
        "{-1, minus, 2}",
        "same := s.both",
        "INIT ",
        "INVAR ",
        "TRANS ",
        "IVAR ",
        "FROZENVAR ",
        "CONSTANTS ",
        "DEFINE ",
        "ISA ",
        "INVARSPEC NAME ",
        "INVARSPEC (",
        "\nSPEC ",
        "CTLSPEC NAME ",
        "CTLSPEC AG",
        "LTLSPEC ",
        "PSLSPEC ",
        "COMPUTE ",
        "FAIRNESS ",
        "JUSTICE ",
        "COMPASSION(",
    ];
    for construct in constructs {
        assert!(all.contains(construct), "`{construct}` is in no model");
    }
    let is_union_in = |text: &String| {
        let unions = text.split(" union ").skip(1);
        unions.into_iter().any(|rest| rest.contains(") in {0, 1, "))
    };
    assert!(texts.iter().any(is_union_in));
}
