//! A model as a machine: the states are those in which the system waits for a stimulus, the inputs
//! its stimuli with their values, and an output is what the system says until it waits again.

use std::fmt;

use ioco_budget::Interrupt;
use ioco_sts::{
    Action, Direction, Explored, ExploredStep, FlattenError, Step, Sts, SwitchId, explore,
};
use rustc_hash::FxHashMap;

use super::machine::{Machine, MachineError, Response};

/// Why a model is no machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAMachine {
    /// Its states cannot be listed.
    Listing(FlattenError),
    /// An internal step, in this state.
    Internal(String),
    /// In this state the system says something before it is asked.
    Unasked(String),
    /// In this state the system may say different things.
    Choice(String, Vec<String>),
    /// In this state a stimulus may lead to different states.
    Fork(String, String),
    /// From this state on responses follow each other without end.
    Endless(String),
    /// In this state the system owes a response and accepts a stimulus as well.
    Both(String),
    NoStimuli,
}

impl fmt::Display for NotAMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAMachine::Listing(error) => write!(f, "its states cannot be listed: {error}"),
            NotAMachine::Internal(state) => write!(f, "it has an internal step in {state}"),
            NotAMachine::Unasked(state) => {
                write!(f, "it responds in {state} before it receives a stimulus")
            }
            NotAMachine::Choice(state, responses) => {
                write!(
                    f,
                    "in {state} it may respond in different ways: {}",
                    responses.join(", ")
                )
            }
            NotAMachine::Fork(state, stimulus) => {
                write!(
                    f,
                    "in {state} the stimulus {stimulus} may lead to different states"
                )
            }
            NotAMachine::Endless(state) => write!(f, "from {state} on it sends responses forever"),
            NotAMachine::Both(state) => {
                write!(
                    f,
                    "in {state} it accepts a stimulus although a response is due"
                )
            }
            NotAMachine::NoStimuli => f.write_str("it has no stimuli"),
        }
    }
}

impl std::error::Error for NotAMachine {}

/// What a stimulus leads to: its switch, and the responses with theirs.
#[derive(Clone, Debug)]
struct Exchange {
    stimulus: SwitchId,
    responses: Vec<(Action, SwitchId)>,
    target: usize,
}

/// A model, read as a machine.
#[derive(Clone, Debug)]
pub struct ModelMachine {
    /// Minimal.
    machine: Machine,
    inputs: Vec<Action>,
    /// Per state of the minimal machine, one of its states in the words of the model.
    names: Vec<String>,
    /// Per state in which the model waits, and per input.
    exchanges: Vec<Vec<Option<Exchange>>>,
    initial: usize,
}

impl ModelMachine {
    /// Reads a model with at most `limit` states, until a stop is requested.
    pub fn new(
        sts: &Sts,
        limit: usize,
        interrupt: &Interrupt,
    ) -> Result<ModelMachine, NotAMachine> {
        let explored = explore(sts, limit, interrupt).map_err(NotAMachine::Listing)?;
        Exploration::new(sts, &explored)?.machine()
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    pub fn inputs(&self) -> &[Action] {
        &self.inputs
    }

    /// States in which the model waits; the machine may have fewer, where some behave alike.
    pub fn waiting(&self) -> usize {
        self.exchanges.len()
    }

    /// What is wrong, in the words of the model.
    pub fn explain(&self, sts: &Sts, error: &MachineError) -> String {
        match error {
            MachineError::Partial { state, input } => format!(
                "{} does not accept {}",
                self.names[*state],
                self.inputs[*input].show(sts)
            ),
            MachineError::Alike { left, right } => format!(
                "no stimuli that both accept distinguish {} from {}",
                self.names[*left], self.names[*right]
            ),
            other => other.to_string(),
        }
    }

    /// A sequence of inputs as a test: the stimuli, and the responses or the silence after each;
    /// and the switches that it takes. The silence after responses needs no step, because a
    /// response too many is seen at the next one.
    pub fn test(&self, sequence: &[usize]) -> (Vec<Step>, Vec<SwitchId>) {
        let mut steps = Vec::new();
        let mut switches = Vec::new();
        let mut state = self.initial;
        for input in sequence {
            let Some(exchange) = &self.exchanges[state][*input] else {
                break;
            };
            steps.push(Step::Stimulus(self.inputs[*input].clone()));
            switches.push(exchange.stimulus);
            for (action, switch) in &exchange.responses {
                steps.push(Step::Response(action.clone()));
                switches.push(*switch);
            }
            if exchange.responses.is_empty() {
                steps.push(Step::Quiescence);
            }
            state = exchange.target;
        }
        (steps, switches)
    }
}

struct Exploration<'a> {
    sts: &'a Sts,
    explored: &'a Explored,
    /// Per state, its steps.
    leaving: Vec<Vec<&'a ExploredStep>>,
    /// Per state, its number among those in which the model waits.
    waiting: Vec<Option<usize>>,
}

impl<'a> Exploration<'a> {
    fn new(sts: &'a Sts, explored: &'a Explored) -> Result<Exploration<'a>, NotAMachine> {
        let mut leaving: Vec<Vec<&ExploredStep>> = vec![Vec::new(); explored.states.len()];
        for step in &explored.steps {
            leaving[step.source].push(step);
        }
        let mut exploration = Exploration {
            sts,
            explored,
            leaving,
            waiting: Vec::new(),
        };
        let mut count = 0;
        for state in 0..explored.states.len() {
            let waits = exploration.waits(state)?;
            exploration.waiting.push(waits.then_some(count));
            count += usize::from(waits);
        }
        Ok(exploration)
    }

    fn name(&self, state: usize) -> String {
        self.explored.states[state].show(self.sts)
    }

    fn direction(&self, action: &Action) -> Direction {
        self.sts.label(action.label).direction
    }

    /// Whether the model waits for a stimulus in a state, where it does what machines can.
    fn waits(&self, state: usize) -> Result<bool, NotAMachine> {
        let mut responses = Vec::new();
        let mut stimuli = false;
        for step in &self.leaving[state] {
            match &step.action {
                None => return Err(NotAMachine::Internal(self.name(state))),
                Some(action) if self.direction(action) == Direction::Response => {
                    responses.push(action.show(self.sts));
                }
                Some(_) => stimuli = true,
            }
        }
        match responses.len() {
            0 => Ok(true),
            1 if stimuli => Err(NotAMachine::Both(self.name(state))),
            1 => Ok(false),
            _ => {
                responses.sort_unstable();
                responses.dedup();
                Err(NotAMachine::Choice(self.name(state), responses))
            }
        }
    }

    fn machine(&self) -> Result<ModelMachine, NotAMachine> {
        let Some(initial) = self.waiting[0] else {
            return Err(NotAMachine::Unasked(self.name(0)));
        };
        let stimuli = self.explored.steps.iter().filter_map(|s| s.action.as_ref());
        let mut inputs: Vec<Action> = stimuli
            .filter(|action| self.direction(action) == Direction::Stimulus)
            .cloned()
            .collect();
        inputs.sort_unstable();
        inputs.dedup();
        if inputs.is_empty() {
            return Err(NotAMachine::NoStimuli);
        }
        let numbers: FxHashMap<&Action, usize> = inputs.iter().zip(0..).collect();
        let mut exchanges = Vec::new();
        let mut names = Vec::new();
        for state in 0..self.explored.states.len() {
            if self.waiting[state].is_some() {
                exchanges.push(self.exchanges(state, &numbers)?);
                names.push(self.name(state));
            }
        }
        let mut outputs: FxHashMap<Vec<&Action>, usize> = FxHashMap::default();
        let mut table = Vec::new();
        for row in &exchanges {
            let mut entries = Vec::new();
            for exchange in row {
                entries.push(exchange.as_ref().map(|exchange| {
                    let said = exchange.responses.iter().map(|(action, _)| action);
                    let fresh = outputs.len();
                    Response {
                        output: *outputs.entry(said.collect()).or_insert(fresh),
                        target: exchange.target,
                    }
                }));
            }
            table.push(entries);
        }
        let (machine, merged) = Machine::new(initial, inputs.len(), table).minimal();
        let mut merged_names = vec![String::new(); machine.states()];
        for (name, state) in names.into_iter().zip(merged).rev() {
            merged_names[state] = name;
        }
        Ok(ModelMachine {
            machine,
            inputs,
            names: merged_names,
            exchanges,
            initial,
        })
    }

    /// What each stimulus leads to from a state in which the model waits.
    fn exchanges(
        &self,
        state: usize,
        numbers: &FxHashMap<&Action, usize>,
    ) -> Result<Vec<Option<Exchange>>, NotAMachine> {
        let mut row: Vec<Option<Exchange>> = vec![None; numbers.len()];
        for step in &self.leaving[state] {
            let Some(action) = &step.action else { continue };
            let entry = &mut row[numbers[action]];
            if entry.is_some() {
                return Err(NotAMachine::Fork(self.name(state), action.show(self.sts)));
            }
            *entry = Some(self.exchange(step)?);
        }
        Ok(row)
    }

    fn exchange(&self, stimulus: &ExploredStep) -> Result<Exchange, NotAMachine> {
        let mut responses = Vec::new();
        let mut at = stimulus.target;
        loop {
            if let Some(target) = self.waiting[at] {
                return Ok(Exchange {
                    stimulus: stimulus.switch,
                    responses,
                    target,
                });
            }
            // A state in which the model does not wait has one step, which is a response.
            let step = self.leaving[at][0];
            if let Some(action) = &step.action {
                responses.push((action.clone(), step.switch));
            }
            if responses.len() > self.explored.states.len() {
                return Err(NotAMachine::Endless(self.name(stimulus.target)));
            }
            at = step.target;
        }
    }
}
