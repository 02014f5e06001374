//! Random systems: a model played from one concrete state, with delays, queues and faults, as a
//! connection in virtual time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use ioco_adapters::{AdapterError, Arrival, Arrived, Connection};
use ioco_sts::{Action, Direction, LabelId, StructId, StructKind, Sts, Type, Value};
use rand::RngExt as _;

use super::{Dice, dice, one_in, pick};
use crate::reference::{Event, Set, State, Theory, Val};

/// How a system behaves beside what its model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Stimuli and responses travel for a while, and may cross.
    pub crossing: bool,
    /// Nanoseconds between steps at most.
    pub delay: u64,
    /// Nanoseconds on the way at most.
    pub latency: u64,
    /// A response is lost, late or wrong, or comes uncalled, once in so many steps; 0 is never.
    pub lost: u32,
    pub late: u32,
    pub wrong: u32,
    pub extra: u32,
    /// Says when it is silent.
    pub claims: bool,
    /// Answers after nine tenths of the time that the states which it may be in allow: later than the shortest
    /// time-out, and in time.
    pub barely_in_time: bool,
}

impl Behaviour {
    pub fn random(dice: &mut Dice, sts: &Sts) -> Behaviour {
        let shortest = shortest_timeout(sts);
        let faulty = one_in(dice, 2);
        let mut rate = |often: u32| match faulty && one_in(dice, 3) {
            true => often,
            false => 0,
        };
        let (lost, late, wrong, extra) = (rate(4), rate(6), rate(4), rate(8));
        let delay = match dice.random_range(0..4) {
            0 => shortest / 50,
            1 => shortest * 9 / 10,
            _ => shortest / 4,
        };
        let crossing = one_in(dice, 3);
        let claims = one_in(dice, 6);
        // Only where nothing else is wrong does every failure need an explanation.
        let barely_in_time = !faulty && !crossing && one_in(dice, 3);
        Behaviour {
            crossing,
            delay: if crossing {
                delay.min(shortest / 4)
            } else {
                delay
            },
            latency: if crossing { shortest / 4 } else { 0 },
            lost,
            late,
            wrong,
            extra,
            claims,
            barely_in_time,
        }
    }

    /// Nothing is lost, late, wrong or uncalled.
    pub fn is_right(&self) -> bool {
        [self.lost, self.late, self.wrong, self.extra] == [0; 4]
    }

    /// Answers soon, and without a fault.
    pub fn calm(sts: &Sts) -> Behaviour {
        Behaviour {
            crossing: false,
            delay: shortest_timeout(sts) / 50,
            latency: 0,
            lost: 0,
            late: 0,
            wrong: 0,
            extra: 0,
            claims: false,
            barely_in_time: false,
        }
    }

    /// The same with stimuli and responses that may cross.
    pub fn crossing(self, sts: &Sts) -> Behaviour {
        let latency = shortest_timeout(sts) / 4;
        Behaviour {
            crossing: true,
            delay: self.delay.min(latency / 8),
            latency,
            barely_in_time: false,
            ..self
        }
    }
}

/// What takes longer than this may be taken for silence.
fn shortest_timeout(sts: &Sts) -> u64 {
    let own = sts.locations().iter().filter_map(|l| l.timeout);
    own.chain([sts.timeout()]).min().unwrap_or(sts.timeout())
}

const MAX_UNSEEN: u32 = 40;

/// Something that the tester saw, when it saw it.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Stimulus {
        action: Action,
        overtaken: bool,
    },
    Response(Action),
    Unknown(String),
    /// A wait ended without a response; it counts as silence only if the tester takes it for that.
    Waited {
        claimed: bool,
    },
    Silence {
        claimed: bool,
    },
}

/// What the tester saw since the reset, in order, each with its time.
pub type Log = Rc<RefCell<Vec<(u64, Entry)>>>;

pub struct System {
    theory: Theory,
    /// The model that is tested against: its labels are spoken.
    spoken: Arc<Sts>,
    behaviour: Behaviour,
    dice: Dice,
    seed: u64,
    resets: u64,
    state: State,
    now: u64,
    /// Steps in a row that were not observed.
    unseen: u32,
    next_act: Option<u64>,
    /// The states in which the tester may take the system to be, and since when.
    seen_as: Set,
    seen_at: u64,
    /// A stimulus came that the model does not describe in the state of the system.
    ignored: bool,
    /// It found no values for a response, which it may owe all the same.
    speechless: bool,
    inbox: VecDeque<(u64, Action)>,
    outbox: VecDeque<(u64, Arrival)>,
    log: Log,
}

impl System {
    /// `played` is the model that the system follows; it may differ from the one it is tested
    /// against.
    pub fn new(played: Arc<Sts>, spoken: Arc<Sts>, behaviour: Behaviour, seed: u64) -> System {
        let theory = Theory::new(played);
        let state = start(&theory);
        let seen_as = theory.initial();
        System {
            theory,
            spoken,
            behaviour,
            dice: dice(seed),
            seed,
            resets: 0,
            state,
            now: 0,
            unseen: 0,
            next_act: None,
            seen_as,
            seen_at: 0,
            ignored: false,
            speechless: false,
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            log: Log::default(),
        }
    }

    /// Playing this model has cost too much.
    pub fn is_over_limit(&self) -> bool {
        self.theory.is_over_limit()
    }

    /// Since the reset every stimulus was one that the model describes, and nothing was left unsaid for want of values:
    /// a system without faults has done what its model says.
    pub fn followed_all(&self) -> bool {
        !self.ignored && !self.speechless && !self.is_over_limit()
    }

    pub fn log(&self) -> Log {
        Rc::clone(&self.log)
    }

    fn up_to(&mut self, most: u64) -> u64 {
        match most {
            0 => 0,
            most => self.dice.random_range(0..=most),
        }
    }

    fn schedule(&mut self) {
        self.unseen += 1;
        if self.unseen > MAX_UNSEEN {
            // It goes round in internal steps for ever, and is silent.
            self.next_act = None;
            return;
        }
        let delay = match self.behaviour.barely_in_time {
            true => 0,
            false => self.behaviour.delay,
        };
        let mut delay = 1 + self.up_to(delay);
        if self.behaviour.late > 0 && one_in(&mut self.dice, self.behaviour.late) {
            delay += 10_000_000_000;
        }
        self.next_act = Some(self.now + delay);
    }

    /// The tester sees this now.
    fn is_seen(&mut self, event: &Event) {
        self.seen_as = self.theory.after(&self.seen_as, event);
        self.seen_at = self.now;
    }

    /// When a system that answers barely in time answers.
    fn deadline(&self) -> u64 {
        match self.behaviour.barely_in_time {
            true => self.seen_at + self.theory.timeout(&self.seen_as) / 10 * 9,
            false => 0,
        }
    }

    fn send(&mut self, arrival: Arrival) {
        self.unseen = 0;
        let latency = self.up_to(self.behaviour.latency);
        let earliest = self.outbox.back().map_or(0, |(at, _)| *at);
        self.outbox
            .push_back(((self.now + latency).max(earliest), arrival));
    }

    /// The system takes a stimulus; one that its model does not know there changes nothing.
    fn receive(&mut self, action: &Action) {
        self.unseen = 0;
        let label = self.spoken.label(action.label);
        let own = self.theory.sts().label_named(label.direction, &label.name);
        let Some(own) = own else { return };
        let event = Event {
            label: own,
            ..Event::of(action)
        };
        self.ignored |= !self.step(&event);
        self.schedule();
    }

    /// Takes a step of its model, if there is one. `after` closes over internal steps; staying early or late on
    /// that way is both possible.
    fn step(&mut self, event: &Event) -> bool {
        let here = Set {
            states: [self.state.clone()].into(),
            incomplete: false,
        };
        let reached = self.theory.after(&here, event).states;
        let reached: Vec<State> = reached.into_iter().collect();
        if reached.is_empty() {
            return false;
        }
        self.state = pick(&mut self.dice, &reached).clone();
        self.is_seen(event);
        true
    }

    /// Does one thing by itself, if there is any.
    fn act(&mut self) {
        self.next_act = None;
        let behaviour = self.behaviour;
        if behaviour.extra > 0 && one_in(&mut self.dice, behaviour.extra) {
            let labels: Vec<LabelId> = self.spoken.labels_of(Direction::Response).collect();
            if !labels.is_empty() {
                let label = *pick(&mut self.dice, &labels);
                let values = self.any_values(label);
                self.send(Arrival::Response(Action { label, values }));
            }
        }
        let internal = self.theory.internal_steps(&self.state);
        let mut responses = self.theory.observable(&self.state, Direction::Response);
        let known = responses.len();
        responses.retain(|(id, _)| self.theory.witness(&self.state, *id).is_some());
        self.speechless |= responses.len() < known;
        let early = self.now < self.deadline();
        if early && internal.is_empty() && !responses.is_empty() {
            self.next_act = Some(self.deadline());
            return;
        }
        let choices = match early {
            true => internal.len(),
            false => internal.len() + responses.len(),
        };
        if choices == 0 {
            return;
        }
        let choice = self.dice.random_range(0..choices);
        if let Some(next) = internal.get(choice) {
            self.state = next.clone();
            return self.schedule();
        }
        let (switch, own) = responses[choice - internal.len()];
        let mut options = self.theory.witnesses(&self.state, switch, 40);
        options.extend(self.theory.witness(&self.state, switch));
        let values = pick(&mut self.dice, &options).clone();
        let event = Event { label: own, values };
        self.step(&event);
        let lost = behaviour.lost > 0 && one_in(&mut self.dice, behaviour.lost);
        if !lost {
            let arrival = self.spoken_response(&event);
            self.send(arrival);
        }
        self.schedule();
    }

    fn spoken_response(&mut self, event: &Event) -> Arrival {
        let label = self.theory.sts().label(event.label);
        let name = label.name.clone();
        let Some(id) = self.spoken.label_named(Direction::Response, &name) else {
            return Arrival::Unknown(name);
        };
        let parameters = self.spoken.label(id).parameters.clone();
        let mut values: Vec<Value> = Vec::new();
        for (value, parameter) in event.values.iter().zip(&parameters) {
            match value.to_value(&parameter.ty, self.spoken.types()) {
                Some(value) => values.push(value),
                None => return Arrival::Unknown(name),
            }
        }
        values.resize(parameters.len(), Value::Void);
        if self.behaviour.wrong > 0 && one_in(&mut self.dice, self.behaviour.wrong) {
            let others = self.any_values(id);
            for (value, other) in values.iter_mut().zip(others) {
                if one_in(&mut self.dice, 2) {
                    *value = other;
                }
            }
        }
        Arrival::Response(Action { label: id, values })
    }

    fn any_values(&mut self, label: LabelId) -> Vec<Value> {
        let parameters = self.spoken.label(label).parameters.clone();
        let simple: Vec<Val> = simple_values(&self.spoken);
        parameters
            .iter()
            .map(|parameter| {
                let fitting: Vec<Value> = simple
                    .iter()
                    .filter_map(|v| v.to_value(&parameter.ty, self.spoken.types()))
                    .collect();
                pick(&mut self.dice, &fitting).clone()
            })
            .collect()
    }

    /// Lets time pass until something arrives at the tester, at most until then.
    fn advance(&mut self, until: u64) -> Option<Arrival> {
        loop {
            let out = self.outbox.front().map(|(at, _)| *at);
            let inward = self.inbox.front().map(|(at, _)| *at);
            let soonest = [out, inward, self.next_act].into_iter().flatten().min();
            let Some(at) = soonest.filter(|at| *at <= until) else {
                self.now = self.now.max(until);
                return None;
            };
            self.now = self.now.max(at);
            if out == Some(at) {
                return self.outbox.pop_front().map(|(_, arrival)| arrival);
            }
            if inward == Some(at) {
                if let Some((_, action)) = self.inbox.pop_front() {
                    self.receive(&action);
                }
            } else {
                self.act();
            }
        }
    }

    fn arrived(&mut self, what: Arrival) -> Arrived {
        let entry = match &what {
            Arrival::Response(action) => Entry::Response(action.clone()),
            Arrival::Unknown(text) => Entry::Unknown(text.clone()),
            Arrival::Quiescent => Entry::Waited { claimed: true },
            Arrival::Silence => Entry::Waited { claimed: false },
        };
        self.log.borrow_mut().push((self.now, entry));
        Arrived {
            what,
            at: self.now,
            raw: Vec::new(),
        }
    }

    /// Nothing will come until the next stimulus.
    fn is_silent(&self) -> bool {
        self.outbox.is_empty() && self.inbox.is_empty() && self.next_act.is_none()
    }
}

/// Values that are worth trying everywhere.
pub(crate) fn simple_values(sts: &Sts) -> Vec<Val> {
    let mut found: Vec<Val> = vec![Val::Void, Val::Bool(true), Val::Bool(false)];
    found.extend((-1..5).map(Val::int));
    found.extend(sts.constants().iter().map(Val::of));
    found.extend(["", "a", "zq"].map(|text| Val::Text(text.to_owned())));
    for (id, declared) in sts.types().enums.iter().enumerate() {
        found.extend((0..declared.members.len() as u32).map(|m| Val::Member(id as u32, m)));
    }
    let items = found.clone();
    found.push(Val::List(Vec::new()));
    found.extend(items.iter().map(|item| Val::List(vec![item.clone()])));
    for (id, declared) in sts.types().structs.iter().enumerate() {
        let ty = Type::Struct(StructId::from_index(id));
        match declared.kind {
            StructKind::Plain | StructKind::Entry => {
                for item in &items {
                    let fields = vec![item.clone(); declared.fields.len()];
                    found.push(Val::Record(id as u32, fields));
                }
            }
            StructKind::Set => {
                let some = items.iter().map(|item| Val::Set([item.clone()].into()));
                let all = some.chain([Val::Set([].into())]);
                found.extend(all.filter_map(|set| set.ordered(&ty, sts.types())));
            }
            StructKind::Hash => {
                let values = &items;
                let pairs = items
                    .iter()
                    .flat_map(|k| values.iter().map(move |v| (k.clone(), v.clone())));
                let some = pairs.map(|pair| Val::Hash([pair].into()));
                let all = some.chain([Val::Hash([].into())]);
                found.extend(all.filter_map(|hash| hash.ordered(&ty, sts.types())));
            }
        }
    }
    found
}

fn start(theory: &Theory) -> State {
    let sts = theory.sts();
    State {
        locations: sts.processes().iter().map(|p| p.initial).collect(),
        values: sts
            .variables()
            .iter()
            .map(|v| Val::of(&v.initial))
            .collect(),
    }
}

impl Connection for System {
    fn now(&self) -> u64 {
        self.now
    }

    fn reset_until(&mut self, _stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.resets += 1;
        self.dice = dice(self.seed.wrapping_add(self.resets));
        self.unseen = 0;
        self.inbox.clear();
        self.outbox.clear();
        self.log.borrow_mut().clear();
        self.state = start(&self.theory);
        self.seen_as = self.theory.initial();
        self.seen_at = self.now;
        self.ignored = false;
        self.speechless = false;
        self.schedule();
        Ok(())
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        _stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let latency = self.up_to(self.behaviour.latency);
        let earliest = self.inbox.back().map_or(0, |(at, _)| *at);
        let at = (self.now + latency).max(earliest);
        if self.behaviour.crossing {
            self.inbox.push_back((at, stimulus.clone()));
        } else {
            self.receive(stimulus);
        }
        let overtaken = self.behaviour.crossing;
        let entry = Entry::Stimulus {
            action: stimulus.clone(),
            overtaken,
        };
        self.log.borrow_mut().push((self.now, entry));
        Ok(overtaken)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let now = self.now;
        Ok(self.advance(now).map(|arrival| self.arrived(arrival)))
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let what = match self.advance(until) {
            Some(arrival) => arrival,
            None => Arrival::Silence,
        };
        let claims = what == Arrival::Silence && self.behaviour.claims && self.is_silent();
        let what = if claims { Arrival::Quiescent } else { what };
        Ok(self.arrived(what))
    }

    fn is_virtual(&self) -> bool {
        true
    }
}
