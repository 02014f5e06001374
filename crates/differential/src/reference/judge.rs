//! What a sequence of observations proves, where stimuli may be on their way.
//!
//! Between tester and system are two queues. An *order* says which of the stimuli given so far the
//! system has seen, and when; each possible order has a trace and so a set of states of its own. An
//! observation is a deviation when no order allows it. An order in which the system got a stimulus
//! that the model does not accept there allows everything from then on (underspecification).

use std::collections::BTreeSet;

use ioco_sts::Relation;

use super::theory::{Event, Set, Theory};

/// What the tester sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A stimulus was handed over; responses that come later may have been sent before the system
    /// saw it, if `overtaken`.
    Stimulus {
        event: Event,
        overtaken: bool,
    },
    Response(Event),
    /// A response that is none of the model's.
    Unknown,
    /// The time-out passed. Everything has arrived.
    Silence,
}

/// What is known after some observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Every observation was allowed in some order, and no order is unspecified.
    Allowed,
    /// The last observation is a deviation.
    Deviation,
    /// An order allows anything, or the reference does not know.
    Open,
}

/// One possible order: where the model is, and the stimuli that the system has not seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    set: Set,
    pending: Vec<Event>,
}

pub struct Judge<'t> {
    theory: &'t Theory,
    relation: Relation,
    orders: BTreeSet<Order>,
    /// An order was unspecified.
    free: bool,
    /// The reference did not know something.
    unsure: bool,
    /// Whether a silence was allowed was not known, so the states after it are not certain.
    uncertain: bool,
}

impl<'t> Judge<'t> {
    pub fn new(theory: &'t Theory, relation: Relation) -> Judge<'t> {
        let start = Order {
            set: theory.initial(),
            pending: Vec::new(),
        };
        Judge {
            theory,
            relation,
            orders: BTreeSet::from([start]),
            free: false,
            unsure: false,
            uncertain: false,
        }
    }

    /// The set of states, where the order is certain.
    pub fn certain_set(&self) -> Option<&Set> {
        let order = self.orders.first()?;
        (self.orders.len() == 1 && order.pending.is_empty() && !self.free).then_some(&order.set)
    }

    /// The sets of states once everything has arrived.
    pub fn settled(&mut self) -> Vec<Set> {
        let orders: Vec<Order> = self.orders.iter().cloned().collect();
        let mut found = Vec::new();
        for order in orders {
            let count = order.pending.len();
            found.extend(self.delivered(&order, count).map(|order| order.set));
        }
        found
    }

    pub fn is_free(&self) -> bool {
        self.free
    }

    pub fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// Whether the tester may give this stimulus now: in every order in which everything has
    /// arrived.
    pub fn accepts(&mut self, event: &Event) -> bool {
        let settled = self.settled();
        settled
            .iter()
            .any(|set| self.theory.accepts(set, event, self.relation))
    }

    /// The order after the system has seen the first `count` pending stimuli; `None` where the
    /// model does not accept one of them.
    fn delivered(&mut self, order: &Order, count: usize) -> Option<Order> {
        let mut set = order.set.clone();
        for event in &order.pending[..count] {
            if !self.theory.accepts(&set, event, self.relation) {
                self.unsure |= set.incomplete;
                self.free = true;
                return None;
            }
            set = self.theory.after(&set, event);
        }
        Some(Order {
            set,
            pending: order.pending[count..].to_vec(),
        })
    }

    pub fn observe(&mut self, observation: &Observation) -> Judgement {
        let theory = self.theory;
        if theory.take_unsure() && theory.is_over_limit() {
            self.unsure = true;
            return Judgement::Open;
        }
        let before = std::mem::take(&mut self.orders);
        let mut incomplete = false;
        for order in &before {
            incomplete |= order.set.incomplete;
            match observation {
                Observation::Stimulus { event, overtaken } => {
                    let mut order = order.clone();
                    order.pending.push(event.clone());
                    if *overtaken {
                        self.orders.insert(order);
                    } else {
                        let all = order.pending.len();
                        let arrived = self.delivered(&order, all);
                        self.orders.extend(arrived);
                    }
                }
                Observation::Response(event) => {
                    for count in 0..=order.pending.len() {
                        let Some(seen) = self.delivered(order, count) else {
                            break;
                        };
                        let set = theory.after(&seen.set, event);
                        self.keep(Order { set, ..seen });
                    }
                }
                Observation::Unknown => {
                    for count in 0..=order.pending.len() {
                        self.delivered(order, count);
                    }
                }
                Observation::Silence => {
                    if let Some(seen) = self.delivered(order, order.pending.len()) {
                        let set = theory.after_silence(&seen.set);
                        self.keep(Order { set, ..seen });
                    }
                }
            }
        }
        let unsure = theory.take_unsure();
        self.unsure |= unsure;
        self.uncertain |= unsure && *observation == Observation::Silence;
        match () {
            () if self.free || self.unsure => Judgement::Open,
            () if !self.orders.is_empty() => Judgement::Allowed,
            () if incomplete => {
                self.unsure = true;
                Judgement::Open
            }
            () => Judgement::Deviation,
        }
    }

    fn keep(&mut self, order: Order) {
        if !order.set.states.is_empty() {
            self.orders.insert(order);
        }
    }

    /// Whether some order certainly explains everything. States may be missing from a set, but those
    /// that are in it are certain.
    pub fn is_certainly_allowed(&self) -> bool {
        !self.orders.is_empty() && !self.uncertain
    }

    /// Whether some order still explains everything, whatever is unspecified.
    pub fn is_explained(&self) -> bool {
        !self.orders.is_empty()
    }
}
