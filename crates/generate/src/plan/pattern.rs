//! What a way through the model must do, in order, as a small automaton over its moves.

use ioco_aml::query::{Item, Query};
use ioco_sts::{Expr, LocationId, Sts, SwitchId, UnaryOp};

use crate::cover::Goal;
use crate::cover::conditions::{Target, targets};
use crate::moves::Move;

/// What must happen, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    pub items: Vec<Item>,
    /// After all items one step, internal or not, by one of these switches, with a condition on the label's
    /// parameters and the variables before it. Nothing more where there are none.
    takes: Vec<(SwitchId, Expr)>,
}

/// How much of a pattern is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Progress {
    /// The item that comes next.
    pub item: u32,
    /// Steps of a gap so far, as far as they matter.
    pub count: u32,
}

impl Progress {
    fn next(self) -> Progress {
        Progress {
            item: self.item + 1,
            count: 0,
        }
    }
}

impl From<&Query> for Pattern {
    fn from(query: &Query) -> Pattern {
        Pattern::of(query.items.clone())
    }
}

impl Pattern {
    pub fn of(items: Vec<Item>) -> Pattern {
        let takes = Vec::new();
        Pattern { items, takes }
    }

    fn gap() -> Item {
        Item::Gap {
            least: 0,
            most: None,
            without: Vec::new(),
        }
    }

    /// Anything, until one of the locations is visited.
    pub fn visits(locations: Vec<LocationId>) -> Pattern {
        let here = Item::Here {
            locations,
            condition: Expr::TRUE,
        };
        Pattern::of(vec![Pattern::gap(), here])
    }

    /// Anything, until one of the goals is covered; `None` where there is nothing to do for them.
    pub(crate) fn covers(sts: &Sts, goals: &[Goal]) -> Option<Pattern> {
        let (mut locations, mut taking, mut there) = (Vec::new(), Vec::new(), Expr::TRUE);
        for target in goals.iter().flat_map(|goal| targets(sts, *goal)) {
            match target {
                // Only plain locations come in numbers, and nothing is asked of the variables there.
                Target::At(location, condition) => {
                    locations.push(location);
                    there = condition;
                }
                Target::Taking(switch, condition) => taking.push((switch, condition)),
            }
        }
        match (locations.is_empty(), taking.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Pattern {
                items: vec![Pattern::gap()],
                takes: taking,
            }),
            (false, _) => {
                let condition = there;
                let here = Item::Here {
                    locations,
                    condition,
                };
                Some(Pattern::of(vec![Pattern::gap(), here]))
            }
        }
    }

    pub fn is_complete(&self, progress: Progress) -> bool {
        progress.item as usize >= self.items.len() + usize::from(!self.takes.is_empty())
    }

    /// The most steps that the pattern itself allows, where it has no gap without a limit.
    pub fn longest(&self) -> Option<u32> {
        let mut longest = u32::from(!self.takes.is_empty());
        for item in &self.items {
            longest = longest.saturating_add(match item {
                Item::Step(_) => 1,
                Item::Gap { most, .. } => (*most)?,
                Item::Here { .. } => 0,
            });
        }
        Some(longest)
    }

    /// Whether every way that matches has the same number of observable steps.
    pub fn is_of_one_length(&self) -> bool {
        let fixed = |item: &Item| matches!(item, Item::Step(_) | Item::Here { .. });
        self.takes.is_empty() && self.items.iter().all(fixed)
    }

    /// What a move can do for the pattern: the progress after it, and a condition on the label's
    /// parameters and the variables before the move.
    pub fn after(&self, at: Progress, step: &Move) -> Vec<(Progress, Expr)> {
        let mut found = Vec::new();
        if self.is_complete(at) {
            return found;
        }
        let label = step.label.filter(|_| step.observable);
        let Some(item) = self.items.get(at.item as usize) else {
            let taken = self
                .takes
                .iter()
                .filter(|(id, _)| step.switches.contains(id));
            found.extend(taken.map(|(_, condition)| (at.next(), condition.clone())));
            // Another internal step may come first.
            found.extend(label.is_none().then_some((at, Expr::TRUE)));
            return found;
        };
        match (item, label) {
            // Internal steps happen by themselves.
            (_, None) => found.push((at, Expr::TRUE)),
            (Item::Step(matchers), Some(label)) => {
                let fitting = matchers.iter().filter(|matcher| matcher.label == label);
                found.extend(fitting.map(|matcher| (at.next(), matcher.condition.clone())));
            }
            (
                Item::Gap {
                    least,
                    most,
                    without,
                },
                Some(label),
            ) => {
                if most.is_some_and(|most| at.count >= most) {
                    return found;
                }
                let mut condition = Expr::TRUE;
                for matcher in without.iter().filter(|matcher| matcher.label == label) {
                    if matcher.condition == Expr::TRUE {
                        return found;
                    }
                    let not = Expr::unary(UnaryOp::Not, matcher.condition.clone());
                    condition = Expr::and(condition, not);
                }
                // Counted no farther than it matters, so that progress stays comparable.
                let counted = most.unwrap_or(*least);
                let count = (at.count + 1).min(counted);
                found.push((Progress { count, ..at }, condition));
            }
            (Item::Here { .. }, Some(_)) => {}
        }
        found
    }

    /// The progress without a step, in one of these locations, and a condition on the variables.
    pub fn idle(&self, at: Progress, locations: &[LocationId]) -> Option<(Progress, Expr)> {
        match self.items.get(at.item as usize)? {
            Item::Gap { least, .. } if at.count >= *least => Some((at.next(), Expr::TRUE)),
            Item::Here {
                locations: wanted,
                condition,
            } if wanted.is_empty() || wanted.iter().any(|l| locations.contains(l)) => {
                Some((at.next(), condition.clone()))
            }
            _ => None,
        }
    }
}
