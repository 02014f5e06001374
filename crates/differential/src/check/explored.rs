//! `explore`: the state sets of a model and what they offer, along random traces.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioco_solve::GuardSolver;
use ioco_sts::{Action, Answer, Direction, LabelId, Relation, Semantics, SetId, Step, Sts, Value};

use super::{Counts, Finding, hint_all, on_label, semantics, show_set, texts};
use crate::generate::{Dice, pick, simple_values};
use crate::reference::{Event, Set, State, Theory, Val};

const WALKS: usize = 3;
const STEPS: usize = 5;

pub fn check(
    sts: &Arc<Sts>,
    relation: Relation,
    dice: &mut Dice,
    counts: &mut Counts,
) -> Option<Finding> {
    let theory = Theory::new(Arc::clone(sts));
    for _ in 0..WALKS {
        let mut walk = Walk {
            sts,
            theory: &theory,
            semantics: semantics(sts, relation),
            relation,
            trace: Vec::new(),
        };
        if let Some(finding) = walk.run(dice, counts) {
            return Some(finding);
        }
    }
    None
}

struct Walk<'a> {
    sts: &'a Arc<Sts>,
    theory: &'a Theory,
    semantics: Semantics,
    relation: Relation,
    trace: Vec<Step>,
}

impl Walk<'_> {
    fn run(&mut self, dice: &mut Dice, counts: &mut Counts) -> Option<Finding> {
        let mut here = (self.semantics.initial(), self.theory.initial());
        for _ in 0..STEPS {
            if self.theory.is_over_limit() {
                return None;
            }
            self.theory.take_unsure();
            let mut candidates = self.candidates(&here.1, dice);
            if here.1.incomplete {
                // Sets that are cut off are large, and say little.
                candidates.truncate(3);
            }
            if let Some(found) = self.compare(here.0, &here.1, &candidates, dice, counts) {
                return Some(found);
            }
            let next = self.follow_all(here.0, &here.1, &candidates, counts);
            let next = match next {
                Ok(next) => next,
                Err(found) => return Some(found),
            };
            if next.is_empty() {
                return None;
            }
            let (step, set, expected) = pick(dice, &next).clone();
            self.trace.push(step);
            here = (set, expected);
        }
        None
    }

    fn finding(&self, kind: &str, set: SetId, expected: &Set, detail: String) -> Finding {
        let trace: Vec<String> = self.trace.iter().map(|s| s.show(self.sts)).collect();
        let own: Vec<String> = self
            .semantics
            .set(set)
            .states
            .iter()
            .take(6)
            .map(|s| s.show(self.sts))
            .collect();
        let reference = show_set(expected, self.sts);
        Finding {
            kind: format!("explore: {kind}"),
            detail: format!(
                "{:?} after [{}]\nioco: {}\nreference: {reference}\n{detail}",
                self.relation,
                trace.join(" "),
                own.join(" / "),
            ),
            ..Finding::default()
        }
    }

    /// Labels with values that the model may or may not allow here.
    fn candidates(&self, set: &Set, dice: &mut Dice) -> Vec<(Direction, Action)> {
        let mut found: BTreeSet<(Direction, LabelId, Vec<Val>)> = BTreeSet::new();
        for state in set.states.iter().take(20) {
            for direction in [Direction::Stimulus, Direction::Response] {
                for (id, label) in self.theory.observable(state, direction) {
                    let mut values = self.theory.witnesses(state, id, 4);
                    values.extend(self.theory.witness(state, id));
                    found.extend(values.into_iter().map(|values| (direction, label, values)));
                }
            }
        }
        let simple = simple_values(self.sts);
        for direction in [Direction::Stimulus, Direction::Response] {
            for label in self.sts.labels_of(direction) {
                for _ in 0..3 {
                    let values = self.sts.label(label).parameters.iter().map(|p| {
                        let fitting: Vec<&Val> = simple
                            .iter()
                            .filter(|v| v.fits(&p.ty, self.sts.types()))
                            .collect();
                        (*pick(dice, &fitting)).clone()
                    });
                    found.insert((direction, label, values.collect()));
                }
            }
        }
        found
            .into_iter()
            .filter_map(|(direction, label, values)| {
                let parameters = &self.sts.label(label).parameters;
                let both = values.iter().zip(parameters);
                let values: Option<Vec<Value>> = both
                    .map(|(v, p)| v.to_value(&p.ty, self.sts.types()))
                    .collect();
                Some((
                    direction,
                    Action {
                        label,
                        values: values?,
                    },
                ))
            })
            .collect()
    }

    fn compare(
        &mut self,
        set: SetId,
        expected: &Set,
        candidates: &[(Direction, Action)],
        dice: &mut Dice,
        counts: &mut Counts,
    ) -> Option<Finding> {
        let own = Arc::clone(self.semantics.set(set));
        let states: BTreeSet<State> = own
            .states
            .iter()
            .map(|s| State {
                locations: s.locations.to_vec(),
                values: s.valuation.iter().map(Val::of).collect(),
            })
            .collect();
        if self.theory.take_unsure() {
            counts.open("explore: state set");
            return None;
        }
        if own.truncated || expected.incomplete {
            counts.open("explore: state set");
            let misses = expected.states.iter().any(|s| !states.contains(s));
            if !own.truncated && misses {
                let detail = "more states than ioco has, and it does not say so".to_owned();
                return Some(self.finding("truncation is not known", set, expected, detail));
            }
            return None;
        }
        counts.decided("explore: state set");
        if states != expected.states {
            return Some(self.finding("other states", set, expected, String::new()));
        }
        let timeout = self.semantics.timeout(set);
        counts.decided("explore: time-out");
        if timeout != self.theory.timeout(expected) {
            let detail = format!(
                "{timeout} ns, reference {} ns",
                self.theory.timeout(expected)
            );
            return Some(self.finding("another time-out", set, expected, detail));
        }
        self.compare_menu(set, expected, dice, counts)
            .or_else(|| self.compare_stimuli(set, expected, candidates, counts))
    }

    fn compare_menu(
        &mut self,
        set: SetId,
        expected: &Set,
        dice: &mut Dice,
        counts: &mut Counts,
    ) -> Option<Finding> {
        let menu = self.semantics.menu(set);
        let unknown = |q: &Answer| *q == Answer::Unknown;
        hint_all(self.theory, std::slice::from_ref(expected), dice);
        let solver = &mut GuardSolver::new();
        if let Some(found) = texts::check(self.theory, expected, solver, counts) {
            return Some(found);
        }
        self.theory.take_unsure();
        let silence = !self.theory.after_silence(expected).states.is_empty();
        if self.theory.take_unsure() || menu.quiescent.iter().any(unknown) {
            counts.open("explore: silence");
        } else {
            counts.decided("explore: silence");
            if menu.silence != silence {
                let detail = format!(
                    "ioco allows silence: {}, reference: {silence}",
                    menu.silence
                );
                return Some(self.finding("silence", set, expected, detail));
            }
        }
        for direction in [Direction::Stimulus, Direction::Response] {
            for label in self.sts.labels_of(direction) {
                let offers = match direction {
                    Direction::Stimulus => &menu.stimuli,
                    _ => &menu.responses,
                };
                let offer = offers.iter().find(|o| o.label == label);
                let open =
                    offer.is_some_and(|o| o.switches.iter().all(|s| s.feasible == Answer::Unknown));
                let witness = expected.states.iter().find_map(|state| {
                    let mut ids = self.theory.observable(state, direction).into_iter();
                    ids.find_map(|(id, _)| match on_label(self.sts, id) == Some(label) {
                        true => self.theory.witness(state, id),
                        false => None,
                    })
                });
                if self.theory.take_unsure() || open {
                    counts.open("explore: menu");
                    continue;
                }
                counts.decided("explore: menu");
                // Under uioco a stimulus on the menu need not have values that every state takes.
                let claims = offer.is_some();
                let wrong = match (direction, self.relation) {
                    (Direction::Stimulus, Relation::Uioco) => claims && witness.is_none(),
                    _ => claims != witness.is_some(),
                };
                if wrong {
                    let name = self.sts.label(label).marked_name();
                    let detail = format!("{name}: on the menu {claims}, reference {witness:?}");
                    let kind = match direction {
                        Direction::Stimulus => "menu of stimuli",
                        _ => "menu of responses",
                    };
                    return Some(self.finding(kind, set, expected, detail));
                }
            }
        }
        None
    }

    fn compare_stimuli(
        &mut self,
        set: SetId,
        expected: &Set,
        candidates: &[(Direction, Action)],
        counts: &mut Counts,
    ) -> Option<Finding> {
        for (direction, action) in candidates {
            if *direction != Direction::Stimulus {
                continue;
            }
            let accepts = self.semantics.accepts(set, action);
            let reference = self
                .theory
                .accepts(expected, &Event::of(action), self.relation);
            if self.theory.take_unsure() {
                counts.open("explore: stimulus");
                continue;
            }
            counts.decided("explore: stimulus");
            if accepts != reference {
                let shown = action.show(self.sts);
                let detail = format!("{shown}: ioco {accepts}, reference {reference}");
                return Some(self.finding("stimulus", set, expected, detail));
            }
        }
        None
    }

    /// Follows every candidate, and silence, on both sides.
    #[allow(clippy::type_complexity)]
    fn follow_all(
        &mut self,
        set: SetId,
        expected: &Set,
        candidates: &[(Direction, Action)],
        counts: &mut Counts,
    ) -> Result<Vec<(Step, SetId, Set)>, Finding> {
        let mut next = Vec::new();
        let mut steps = vec![Step::Quiescence];
        steps.extend(
            candidates
                .iter()
                .map(|(direction, action)| match direction {
                    Direction::Stimulus => Step::Stimulus(action.clone()),
                    _ => Step::Response(action.clone()),
                }),
        );
        for step in steps {
            let followed = self.semantics.after(set, &step);
            let reached = match &step {
                Step::Quiescence => self.theory.after_silence(expected),
                Step::Stimulus(action) | Step::Response(action) => {
                    self.theory.after(expected, &Event::of(action))
                }
            };
            let unsure = self.theory.take_unsure();
            let truncated = self.semantics.set(set).truncated || expected.incomplete;
            let unknown = step == Step::Quiescence
                && self
                    .semantics
                    .menu(set)
                    .quiescent
                    .contains(&Answer::Unknown);
            if unsure || unknown {
                counts.open("explore: step");
                continue;
            }
            let possible = !reached.states.is_empty();
            if !truncated || (possible && !self.semantics.set(set).truncated) {
                counts.decided("explore: step");
                if followed.is_some() != possible {
                    let shown = step.show(self.sts);
                    let detail =
                        format!("{shown}: ioco {}, reference {possible}", followed.is_some());
                    return Err(self.finding("step", set, expected, detail));
                }
            } else {
                counts.open("explore: step");
            }
            if let Some(followed) = followed
                && possible
            {
                next.push((step, followed, reached));
            }
        }
        Ok(next)
    }
}
