//! Guards that compare one parameter with something known, in every form: the answer that is read off
//! them, and the extremes, against trying all values. How many are read off, and how many take a search, is
//! counted: a form that is no longer read off shows.

use std::collections::BTreeMap;

use ioco_solve::{Deadline, GuardSolver, Part, choose_values, extreme_values};
use ioco_sts::{
    Answer, BinaryOp, Direction, EnumId, EnumType, Env, Expr, Function, FunctionId, IntRange,
    Label, LabelId, Parameter, Question, Sts, StsBuilder, Type, UnaryOp, Value,
};
use rand::SeedableRng as _;
use rust_decimal::Decimal;

use BinaryOp::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Sub};

const COMPARISONS: [BinaryOp; 6] = [Eq, Ne, Lt, Le, Gt, Ge];
const COLOUR: EnumId = EnumId(0);

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn p() -> Expr {
    Expr::Param(0)
}

fn not(inner: Expr) -> Expr {
    Expr::unary(UnaryOp::Not, inner)
}

fn constant(value: Value) -> Expr {
    Expr::Const(value)
}

fn tenths(tenths: i64) -> Value {
    Value::Decimal(Decimal::new(tenths, 1))
}

fn array(items: &[Value]) -> Value {
    Value::Array(items.into())
}

fn within(subject: Expr, low: Expr, high: Expr) -> Expr {
    Expr::InRange(Box::new([subject, low, high]))
}

fn one_of(items: Vec<Expr>) -> Expr {
    Expr::InSet(Box::new(p()), items)
}

fn is_stored(guard: &Expr) -> bool {
    let Expr::Binary(Or, both) = guard else {
        return false;
    };
    matches!(&**both, [_, Expr::InRange(_)])
}

struct Asker {
    sts: Sts,
    label: LabelId,
    /// All values of the parameter, or enough of them, in their order.
    values: Vec<Value>,
    complete: bool,
    /// How often which answer was given, by the part that gave it.
    answers: BTreeMap<String, u32>,
    rng: rand_chacha::ChaCha8Rng,
}

impl Asker {
    fn new(ty: Type, values: Vec<Value>, complete: bool) -> Asker {
        let mut builder = StsBuilder::new("guards");
        builder.types().enums.push(EnumType {
            name: "Colour".to_owned(),
            members: ["Red", "Green", "Blue"].map(str::to_owned).to_vec(),
        });
        let label = builder.label(Label {
            name: "ask".to_owned(),
            channel: String::new(),
            direction: Direction::Stimulus,
            parameters: vec![Parameter {
                name: "p".to_owned(),
                ty,
            }],
        });
        Asker {
            sts: builder.build(),
            label,
            values,
            complete,
            answers: BTreeMap::new(),
            rng: rand_chacha::ChaCha8Rng::seed_from_u64(1),
        }
    }

    fn holds(&self, guard: &Expr, value: &Value) -> bool {
        let env = Env {
            variables: &[],
            parameters: std::slice::from_ref(value),
            functions: &[],
        };
        guard.holds(env) == Ok(true)
    }

    fn ask(&mut self, guard: &Expr) {
        let solutions: Vec<&Value> = { self.values.iter() }
            .filter(|v| self.holds(guard, v))
            .collect();
        let unset = self.holds(guard, &Value::Void);
        let possible = unset || !solutions.is_empty();
        let deadline = Deadline::steps(5_000);
        let question = Question {
            sts: &self.sts,
            label: self.label,
            guard,
            valuation: &[],
        };
        let answer = GuardSolver::new().answer(question, &deadline);
        match answer {
            Answer::Yes => assert!(possible || !self.complete, "{guard:?}"),
            Answer::No => assert!(!possible, "{guard:?}: {solutions:?}"),
            Answer::Unknown => {}
        }
        let part = deadline.answered_by().map_or("", |part| part.name());
        *self
            .answers
            .entry(format!("{answer:?} {part}"))
            .or_default() += 1;
        // A parameter that is not mentioned stays unset, as does one that is only stored.
        let mentioned = !guard.params().is_empty() && !is_stored(guard);
        for largest in [false, true] {
            let Some(found) = extreme_values(&self.sts, self.label, guard, &[], largest) else {
                continue;
            };
            *self.answers.entry("extreme".to_owned()).or_default() += 1;
            assert!(self.holds(guard, &found[0]), "{guard:?} {found:?}");
            if found[0].is_void() {
                assert!(solutions.is_empty() || !mentioned, "{guard:?}");
                continue;
            }
            let seen = if largest {
                solutions.last()
            } else {
                solutions.first()
            };
            let passed = seen.is_some_and(|s| {
                if largest {
                    **s > found[0]
                } else {
                    **s < found[0]
                }
            });
            assert!(!passed, "{guard:?}: {seen:?} passes {found:?}");
            assert!(
                !self.complete || seen == Some(&&found[0]),
                "{guard:?} {found:?}"
            );
        }
        let rng = &mut self.rng;
        let chosen = choose_values(&self.sts, self.label, guard, &[], rng, &deadline);
        assert!(!(chosen.is_unsat() && possible), "{guard:?}");
        if let Some(values) = chosen.sat() {
            assert!(self.holds(guard, &values[0]), "{guard:?}: {values:?}");
            let ty = &self.sts.label(self.label).parameters[0].ty;
            assert!(
                self.sts.types().fits(&values[0], ty),
                "{guard:?}: {values:?}"
            );
            let set = !values[0].is_void();
            assert!(set || solutions.is_empty() || !mentioned, "{guard:?}");
        }
    }

    /// Each guard as it is, negated, and together with others.
    fn ask_all(&mut self, guards: &[Expr], others: &[Expr]) {
        for guard in guards {
            self.ask(guard);
            self.ask(&not(guard.clone()));
            for other in others {
                self.ask(&bin(And, other.clone(), guard.clone()));
            }
        }
    }

    fn summary(&self) -> String {
        let answers = self.answers.iter().map(|(what, n)| format!("{what} {n}"));
        answers.collect::<Vec<_>>().join(", ")
    }
}

fn integer_guards(constants: &[i64]) -> Vec<Expr> {
    let int = Expr::int;
    let zero = bin(Mul, int(0), p());
    let subjects = [
        p(),
        Expr::unary(UnaryOp::Neg, p()),
        bin(Add, p(), int(3)),
        bin(Add, int(-2), p()),
        bin(Sub, p(), int(3)),
        bin(Sub, int(3), p()),
        bin(Mul, int(2), p()),
        bin(Mul, p(), int(-3)),
        bin(Mul, p(), p()),
        bin(Add, bin(Mul, int(2), p()), int(1)),
        zero,
    ];
    let mut guards = Vec::new();
    for subject in &subjects {
        for value in constants {
            for op in COMPARISONS {
                guards.push(bin(op, subject.clone(), int(*value)));
                guards.push(bin(op, int(*value), subject.clone()));
            }
            let next = value.saturating_add(2);
            guards.push(within(subject.clone(), int(*value), int(next)));
        }
    }
    guards
}

#[test]
fn guards_on_a_small_integer() {
    let small = Type::Int(IntRange { min: -4, max: 5 });
    let values = (-4..=5).map(Value::Int).collect();
    let mut asker = Asker::new(small, values, true);
    let others = [
        bin(Ne, p(), Expr::int(0)),
        bin(Gt, p(), Expr::int(3)),
        bin(Ne, p(), constant(Value::Void)),
        one_of([-4, 2, 7].map(Expr::int).to_vec()),
    ];
    asker.ask_all(&integer_guards(&[-7, -3, -1, 0, 1, 4, 6]), &others);
    let summary = "No box 1609, No narrowing 19, Yes box 4178, Yes narrowing 33, Yes nearby 167, extreme 6992";
    assert_eq!(asker.summary(), summary);
}

#[test]
fn guards_at_the_ends_of_64_bits() {
    let (min, max) = (i64::MIN, i64::MAX);
    let values = [
        min,
        min + 1,
        min + 2,
        min + 3,
        -1,
        0,
        1,
        max - 3,
        max - 2,
        max - 1,
        max,
    ];
    let mut asker = Asker::new(Type::INTEGER, values.map(Value::Int).to_vec(), false);
    let others = [bin(Ne, p(), Expr::int(max)), bin(Gt, p(), Expr::int(0))];
    asker.ask_all(&integer_guards(&[min, min + 1, 0, max - 1, max]), &others);
    let summary =
        "No box 828, No narrowing 47, Yes box 1925, Yes narrowing 40, Yes nearby 20, extreme 3588";
    assert_eq!(asker.summary(), summary);
}

/// Between two integers there is room for decimals.
#[test]
fn guards_on_a_decimal_in_sums() {
    let values = (-72..=72).map(|n| Value::Decimal(Decimal::new(n * 5, 2)));
    let mut asker = Asker::new(Type::Decimal, values.collect(), false);
    let others = [
        bin(Gt, bin(Mul, Expr::int(2), p()), Expr::int(2)),
        bin(Lt, p(), Expr::int(2)),
        bin(Ne, p(), constant(tenths(15))),
    ];
    asker.ask_all(&integer_guards(&[-3, -1, 0, 1, 3]), &others);
    let summary = "No box 246, No narrowing 194, Unknown box 135, Yes box 248, \
                   Yes narrowing 568, Yes nearby 2184, extreme 388";
    assert_eq!(asker.summary(), summary);
}

#[test]
fn guards_on_other_kinds() {
    let decimals = (-25..=25).map(tenths).collect();
    let members = (0..3).map(|m| Value::Enum(COLOUR, m)).collect();
    let truths = [false, true].map(Value::Bool).to_vec();
    let strings = ["", "a", "aa", "b"].map(Value::str).to_vec();
    let kinds = [
        (
            Type::Decimal,
            decimals,
            false,
            [tenths(-25), tenths(0), tenths(15), Value::Int(2)].to_vec(),
        ),
        (
            Type::Enum(COLOUR),
            members,
            true,
            [0, 1, 2].map(|m| Value::Enum(COLOUR, m)).to_vec(),
        ),
        (Type::Bool, truths.clone(), true, truths),
        (Type::Str, strings.clone(), false, strings),
        (
            Type::Array(Box::new(Type::Decimal)),
            vec![array(&[]), array(&[tenths(30)])],
            false,
            // Integers stand for decimals.
            vec![
                array(&[]),
                array(&[Value::Int(3)]),
                array(&[Value::str("a")]),
            ],
        ),
        (
            Type::Int(IntRange { min: -1, max: 2 }),
            (-1..=2).map(Value::Int).collect(),
            true,
            [Value::Int(0), Value::Int(2), tenths(-10), tenths(15)].to_vec(),
        ),
    ];
    let mut summaries = Vec::new();
    for (ty, values, complete, constants) in kinds {
        let mut asker = Asker::new(ty, values, complete);
        let failing = bin(Div, Expr::int(1), Expr::int(0));
        let mut constants: Vec<Expr> = constants.into_iter().map(constant).collect();
        let all = constants.clone();
        constants.extend([
            constant(Value::Enum(EnumId(1), 1)),
            constant(Value::Void),
            constant(Value::str("b")),
            failing.clone(),
        ]);
        let mut guards = vec![
            p(),
            Expr::TRUE,
            Expr::FALSE,
            bin(Eq, p(), p()),
            bin(Ne, p(), p()),
        ];
        for value in &constants {
            let sides = |op| [bin(op, p(), value.clone()), bin(op, value.clone(), p())];
            guards.extend(COMPARISONS.into_iter().flat_map(sides));
            for other in &constants {
                guards.push(within(p(), value.clone(), other.clone()));
                guards.push(one_of(vec![value.clone(), other.clone()]));
                // As the update of a variable that stores the parameter says it.
                let unset = bin(Eq, p(), constant(Value::Void));
                let stored = within(p(), value.clone(), other.clone());
                guards.push(bin(Or, unset, stored));
                guards.push(bin(Or, bin(Eq, value.clone(), other.clone()), p()));
            }
        }
        guards.push(one_of(all.clone()));
        let others = [
            bin(Ne, p(), all[0].clone()),
            bin(Ge, p(), all[1].clone()),
            one_of(all.clone()),
            not(one_of(all[1..].to_vec())),
            bin(Eq, p(), constant(Value::Void)),
        ];
        asker.ask_all(&guards, &others);
        summaries.push(asker.summary());
    }
    assert_eq!(
        summaries,
        [
            "No box 1407, No narrowing 96, Yes box 971, Yes nearby 32, extreme 1310",
            "No box 1204, No narrowing 82, Yes box 700, Yes narrowing 8, Yes nearby 8, extreme 944",
            "No box 1015, No narrowing 72, Yes box 467, extreme 678",
            "No box 952, No languages 94, No narrowing 318, Yes box 588, Yes languages 490, Yes narrowing 64, extreme 500",
            "No box 1421, No narrowing 98, Yes box 372, Yes narrowing 100, Yes nearby 11, extreme 552",
            "No box 1516, No narrowing 98, Yes box 862, Yes narrowing 10, Yes nearby 20, extreme 1176",
        ]
    );
}

/// An evaluation that reaches a limit decides nothing.
#[test]
fn a_limit_of_evaluation_is_no_answer() {
    let call = |argument: Expr| Expr::Call(FunctionId(0), vec![argument]);
    let local = || Expr::Local(0);
    let less = || call(bin(Sub, local(), Expr::int(1)));
    let mut builder = StsBuilder::new("guards");
    builder.function(Function {
        name: "f".to_owned(),
        parameters: vec![("n".to_owned(), Type::INTEGER)],
        result: Type::INTEGER,
        body: Expr::If(Box::new([
            bin(Le, local(), Expr::int(0)),
            Expr::int(1),
            bin(Add, less(), less()),
        ])),
    });
    let parameter = |name: &str| Parameter {
        name: name.to_owned(),
        ty: Type::INTEGER,
    };
    let label = builder.label(Label {
        name: "ask".to_owned(),
        channel: String::new(),
        direction: Direction::Stimulus,
        parameters: vec![parameter("p"), parameter("q")],
    });
    let sts = builder.build();
    let asked = |guard: &Expr, deadline: &Deadline<'_>| {
        let question = Question {
            sts: &sts,
            label,
            guard,
            valuation: &[],
        };
        GuardSolver::new().answer(question, deadline)
    };
    let answer = |guard: &Expr| asked(guard, &Deadline::steps(5_000));
    let endless = || call(Expr::int(60));
    let large = || bin(Gt, endless(), Expr::int(5));
    for guard in [
        bin(Eq, p(), endless()),
        within(p(), Expr::int(0), endless()),
        one_of(vec![Expr::int(1), endless()]),
        not(one_of(vec![Expr::int(1), endless()])),
        bin(And, large(), bin(Eq, p(), Expr::int(1))),
        bin(Or, large(), bin(Eq, p(), Expr::int(1))),
    ] {
        assert_ne!(answer(&guard), Answer::No, "{guard:?}");
    }
    // The one may stay unset, whatever the other is.
    let unset = bin(Eq, p(), constant(Value::Void));
    let other = within(Expr::Param(1), Expr::int(1), Expr::int(3));
    let seven = bin(Eq, Expr::Param(1), Expr::int(7));
    let guard = bin(And, bin(Or, unset, other), seven);
    assert_eq!(answer(&guard), Answer::Yes);
    // What compares two parameters is not read off.
    let deadline = Deadline::steps(5_000);
    let equal = bin(Eq, p(), Expr::Param(1));
    assert_eq!(asked(&equal, &deadline), Answer::Yes);
    assert_ne!(deadline.answered_by(), Some(Part::Box));
    let set = bin(Eq, p(), Expr::int(2));
    assert_eq!(answer(&bin(And, guard, set)), Answer::No);
}

/// What is drawn for a guard that is read off, without a step of a search.
fn drawn(ty: Type, guard: &Expr) -> BTreeMap<Value, u32> {
    let mut asker = Asker::new(ty, Vec::new(), false);
    let mut seen = BTreeMap::new();
    for _ in 0..1_000 {
        let (rng, none) = (&mut asker.rng, Deadline::steps(0));
        let chosen = choose_values(&asker.sts, asker.label, guard, &[], rng, &none);
        let values = chosen.sat().expect("read off");
        assert!(asker.holds(guard, &values[0]), "{guard:?} {values:?}");
        *seen.entry(values[0].clone()).or_default() += 1;
    }
    seen
}

#[test]
fn values_are_drawn_from_everywhere_and_more_often_from_the_bounds() {
    let both = |low: Expr, high: Expr| within(p(), low, high);
    let int = Expr::int;
    let seen = drawn(Type::INTEGER, &both(int(-5_000), int(90_000)));
    for value in [-5_000, -4_999, 0, 89_999, 90_000] {
        let count = seen.get(&Value::Int(value)).copied().unwrap_or(0);
        assert!(count > 30, "{value}: {count}");
    }
    assert!(seen.len() > 500);
    let seen = drawn(Type::INTEGER, &bin(Ne, p(), int(7)));
    let far = |v: &Value| matches!(v, Value::Int(n) if n.abs() > 1_000_000);
    assert!(seen.len() > 500 && !seen.keys().any(far));
    // All but one are excluded.
    let rest = (0..40).filter(|n| *n != 17).map(int).collect();
    let guard = bin(And, both(int(0), int(39)), not(one_of(rest)));
    assert!(drawn(Type::INTEGER, &guard).keys().eq([&Value::Int(17)]));
    let member = |m| Value::Enum(COLOUR, m);
    let colour = || Type::Enum(COLOUR);
    let seen = drawn(colour(), &bin(Ge, p(), constant(member(1))));
    assert!(seen.len() == 2 && seen.values().all(|count| *count > 400));
    let (red, green) = (constant(member(0)), constant(member(1)));
    let blue = drawn(colour(), &not(one_of(vec![red.clone(), green])));
    assert!(blue.keys().eq([&member(2)]));
    let seen = drawn(colour(), &one_of(vec![red, constant(member(2))]));
    assert!(seen.len() == 2 && seen.values().all(|count| *count > 400));
    let seen = drawn(Type::Bool, &bin(Ne, p(), constant(Value::Void)));
    assert!(seen.len() == 2 && seen.values().all(|count| *count > 400));
    assert!(
        drawn(Type::Bool, &not(p()))
            .keys()
            .eq([&Value::Bool(false)])
    );
    let decimal = |text: &str| Value::Decimal(text.parse().expect("a decimal"));
    let (low, high) = (decimal("0.125"), decimal("0.375"));
    let seen = drawn(
        Type::Decimal,
        &both(constant(low.clone()), constant(high.clone())),
    );
    let digits = |v: &Value| matches!(v, Value::Decimal(d) if d.scale() == 4);
    assert!(seen.len() > 300 && seen.keys().any(digits));
    assert!(seen[&low] > 80 && seen[&high] > 80);
    let seen = drawn(Type::Decimal, &bin(Ne, p(), constant(low)));
    let reach = Decimal::from(1_000_000);
    let near = |v: &Value| matches!(v, Value::Decimal(d) if d.abs() <= reach);
    let negative = |v: &&Value| matches!(v, Value::Decimal(d) if d.is_sign_negative());
    let below = seen.keys().filter(negative).count();
    assert!(seen.keys().all(near) && below > 300 && seen.len() - below > 300);
    let seen = drawn(Type::Str, &bin(Ne, p(), constant(Value::str("a"))));
    let length = |v: &Value| match v {
        Value::Str(text) => text.len(),
        _ => 0,
    };
    let lengths: std::collections::BTreeSet<usize> = seen.keys().map(length).collect();
    assert!(lengths.into_iter().eq(1..=8));
    let only = bin(Eq, p(), constant(Value::str("ab")));
    assert!(drawn(Type::Str, &only).keys().eq([&Value::str("ab")]));
}
