//! MC/DC goals against the definition of masking MC/DC (Chilenski 2001), over all assignments to the conditions.

use std::collections::BTreeSet;

use ioco_smv::explicit::{Limits, reachable};
use ioco_smv::{Criterion, GoalOptions, Model, load};
use proptest::prelude::*;

const VARIABLES: [&str; 3] = ["a", "b", "c"];

/// A model in which all variables are free and the guard is the only decision.
fn model(guard: &str) -> Model {
    let text = format!(
        "MODULE main VAR a : boolean; b : boolean; c : boolean; out : boolean;\n\
         ASSIGN init(out) := case {guard} : TRUE; TRUE : FALSE; esac;"
    );
    let (model, diagnostics) = load(&text, "m.smv");
    model.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// A bit for every variable.
type Assignment = usize;

fn is_set(assignment: Assignment, variable: usize) -> bool {
    assignment >> variable & 1 == 1
}

#[derive(Clone, Debug)]
enum Guard {
    Variable(usize),
    Not(Box<Guard>),
    Join(Box<Guard>, &'static str, Box<Guard>),
}

impl Guard {
    fn text(&self) -> String {
        match self {
            Guard::Variable(variable) => VARIABLES[*variable].to_owned(),
            Guard::Not(inner) => format!("!({})", inner.text()),
            Guard::Join(left, operator, right) => {
                format!("(({}) {operator} ({}))", left.text(), right.text())
            }
        }
    }

    fn eval(&self, assignment: Assignment) -> bool {
        match self {
            Guard::Variable(variable) => is_set(assignment, *variable),
            Guard::Not(inner) => !inner.eval(assignment),
            Guard::Join(left, operator, right) => {
                let (left, right) = (left.eval(assignment), right.eval(assignment));
                match *operator {
                    "&" => left && right,
                    "|" => left || right,
                    "->" => !left || right,
                    "xor" => left != right,
                    _ => left == right,
                }
            }
        }
    }

    fn mentions(&self, variable: usize) -> bool {
        match self {
            Guard::Variable(this) => *this == variable,
            Guard::Not(inner) => inner.mentions(variable),
            Guard::Join(left, _, right) => left.mentions(variable) || right.mentions(variable),
        }
    }

    /// The pairs of tests that show the influence of a condition: it is true in the first and false in the second,
    /// decides the guard in both, and the guard has different values.
    fn pairs(&self, variable: usize) -> BTreeSet<(Assignment, Assignment)> {
        let decides = |at: &Assignment| self.eval(*at) != self.eval(*at ^ 1 << variable);
        let all: Vec<Assignment> = (0..1 << VARIABLES.len()).filter(decides).collect();
        let (with, without): (Vec<_>, Vec<_>) = all.iter().partition(|at| is_set(**at, variable));
        let pairs = with
            .iter()
            .flat_map(|with: &Assignment| without.iter().map(|without| (*with, *without)));
        pairs
            .filter(|(with, without)| self.eval(*with) != self.eval(*without))
            .collect()
    }
}

fn goals(model: &mut Model) -> Vec<String> {
    let goals = model.goals(&[Criterion::Mcdc], &GoalOptions::default());
    goals.into_iter().map(|goal| goal.text).collect()
}

/// The assignments that fulfil a goal.
fn fulfilling(model: &mut Model, goal: &str) -> Vec<Assignment> {
    let reach = reachable(model, Limits::default()).expect("16 states");
    let mut fulfils = |assignment: &Assignment| {
        let sign = |variable| {
            if is_set(*assignment, variable) {
                ""
            } else {
                "!"
            }
        };
        let [a, b, c] = [0, 1, 2].map(sign);
        let asked = format!("({goal}) & {a}a & {b}b & {c}c");
        let asked = model.user_goal(&asked).expect("a goal");
        let distance = reach.distance(model, asked.expr, asked.transition);
        distance.is_some()
    };
    (0..1 << VARIABLES.len())
        .filter(|assignment| fulfils(assignment))
        .collect()
}

/// The pairs of tests that two goals accept.
fn accepted(guard: &str) -> Vec<BTreeSet<(Assignment, Assignment)>> {
    let mut model = model(guard);
    let goals = goals(&mut model);
    let pairs = goals.chunks(2).map(|goals| {
        let [with, without] = [0, 1].map(|goal| fulfilling(&mut model, &goals[goal]));
        let pairs = with
            .iter()
            .flat_map(|with| without.iter().map(|without| (*with, *without)));
        pairs.collect()
    });
    pairs.collect()
}

#[test]
fn a_condition_that_decides_in_one_direction_has_one_pair_of_goals() {
    assert_eq!(goals(&mut model("a")), ["a", "!a"]);
    for guard in ["a & b", "a | b", "a -> b", "!(a & !b)", "a & b | a & c"] {
        let conditions = 2 + usize::from(guard.contains('c'));
        assert_eq!(goals(&mut model(guard)).len(), 2 * conditions, "{guard}");
    }
}

#[test]
fn under_xor_the_other_side_has_the_same_value_in_both_tests() {
    for guard in ["a xor b", "a xnor b", "a <-> b"] {
        let apart = |pairs: &BTreeSet<(Assignment, Assignment)>, variable: usize| {
            let kept = |at: Assignment| at & !(1 << variable) & 0b011;
            pairs.iter().all(|(one, other)| kept(*one) == kept(*other))
        };
        let accepted = accepted(guard);
        assert_eq!(accepted.len(), 4, "{guard}");
        let right = accepted
            .iter()
            .zip([0, 0, 1, 1])
            .all(|(pairs, variable)| !pairs.is_empty() && apart(pairs, variable));
        assert!(right, "{guard}: {accepted:?}");
    }
}

/// The fixed value of one side does not make the goals of the other infeasible.
#[test]
fn a_side_of_xor_that_never_changes_leaves_the_other_a_pair() {
    for side in ["TRUE", "FALSE"] {
        let accepted = accepted(&format!("a xor {side}"));
        let complete = accepted.iter().filter(|pairs| !pairs.is_empty());
        assert_eq!(complete.count(), 1, "{side}");
    }
}

fn guard() -> impl Strategy<Value = Guard> {
    let variable = (0..VARIABLES.len()).prop_map(Guard::Variable);
    variable.prop_recursive(4, 12, 2, |inner| {
        let operator = prop::sample::select(vec!["&", "|", "->", "xor", "xnor", "<->"]);
        let operand = inner.clone();
        prop_oneof![
            1 => inner.prop_map(|inner| Guard::Not(Box::new(inner))),
            3 => (operand.clone(), operator, operand).prop_map(|(left, operator, right)| {
                Guard::Join(Box::new(left), operator, Box::new(right))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_goals_accept_the_pairs_of_the_definition_and_no_others(guard in guard()) {
        let mut by_definition = BTreeSet::new();
        for variable in (0..VARIABLES.len()).filter(|variable| guard.mentions(*variable)) {
            by_definition.extend(guard.pairs(variable).into_iter().map(|pair| (variable, pair)));
        }
        let mut by_goals = BTreeSet::new();
        for pairs in accepted(&guard.text()) {
            // The condition of these two goals is the one that changes in every pair and decides in both tests.
            let variables = (0..VARIABLES.len()).filter(|variable| {
                let right = guard.pairs(*variable);
                pairs.iter().all(|pair| right.contains(pair))
            });
            let variables: Vec<usize> = variables.collect();
            prop_assert!(!variables.is_empty(), "{pairs:?}");
            by_goals.extend(variables.into_iter().flat_map(|variable| {
                pairs.iter().map(move |pair| (variable, *pair))
            }));
        }
        prop_assert_eq!(by_goals, by_definition);
    }
}
