//! Conformance-testing suites for finite deterministic models: the W, Wp and HSI methods.
//!
//! A model that answers every stimulus in one way is a finite state machine ([`Machine`]). Suites of
//! this kind are *m-complete*: every system with at most `m = n + k` states, where `n` is the number
//! of states of the model, that differs from the model at all fails at least one test. That is more
//! than any coverage promises, and it is paid for in tests.
//!
//! All three methods bring the system into every state by an *access sequence* (together: the
//! *state cover* V), let it do up to `k + 1` further steps, and then ask where it is:
//!
//! * **W** (Chow 1978) asks with the whole *characterisation set* W, which tells every two states
//!   apart: `V · I^≤(k+1) · W`.
//! * **Wp** (Fujiwara et al. 1991) asks with all of W after up to `k` steps, and after the last one
//!   only with the *state identifier* of the state where the system should be, which tells that
//!   state from all others.
//! * **HSI** (Petrenko, Luo et al. 1993-94) asks with *harmonised* state identifiers everywhere: for
//!   every two states, the identifiers of both contain a sequence that tells them apart. It needs no
//!   stimulus where the model has none, so it is the one for partial models.
//!
//! Identifiers are made of beginnings of sequences of W, so that suites of Wp and HSI are never
//! larger than that of W.

mod identify;
mod machine;
mod model;
mod sequences;
mod splitting;

use ioco_budget::{Budget, Meter};

pub use identify::Identifiers;
pub use machine::{Machine, MachineError, Response};
pub use model::{ModelMachine, NotAMachine};
pub use sequences::{Node, Sequences};

/// How a system is asked where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    W,
    Wp,
    Hsi,
}

impl Method {
    pub const ALL: [Method; 3] = [Method::W, Method::Wp, Method::Hsi];

    pub fn name(self) -> &'static str {
        match self {
            Method::W => "w",
            Method::Wp => "wp",
            Method::Hsi => "hsi",
        }
    }

    pub fn named(name: &str) -> Option<Method> {
        let mut all = Method::ALL.into_iter();
        all.find(|method| method.name() == name)
    }
}

/// The suite of a method for systems with up to `extra` more states than the machine, which must be
/// minimal. `limit` bounds the stimuli of all tests together, counted once where tests begin alike.
pub fn suite(
    machine: &Machine,
    method: Method,
    extra: u32,
    limit: usize,
) -> Result<Sequences, MachineError> {
    let budget = Budget {
        steps: u64::MAX,
        ..Budget::default()
    };
    suite_within(machine, method, extra, limit, &Meter::new(&budget, None))
}

/// The same; it ends early when the meter says so.
pub fn suite_within(
    machine: &Machine,
    method: Method,
    extra: u32,
    limit: usize,
    meter: &Meter<'_>,
) -> Result<Sequences, MachineError> {
    if method != Method::Hsi
        && let Some((state, input)) = machine.undefined()
    {
        return Err(MachineError::Partial { state, input });
    }
    let identifiers = Identifiers::within(machine, meter)?;
    let mut suite = Sequences::new(limit);
    let longest = extra as usize + 1;
    // Where the access sequence of a state ends.
    let mut reached = vec![Node::ROOT; machine.states()];
    for (state, before) in machine.spanning_tree() {
        if let Some((source, input)) = before {
            reached[state] = suite.add_from(reached[source], &[input])?;
        }
        // Sequences of up to `longest` further inputs: where all but the last input end, the last one, the state that
        // they lead to, and how many they are.
        let mut open = vec![(reached[state], None, state, 0)];
        while let Some((node, last, state, steps)) = open.pop() {
            meter.spend(1)?;
            let node = suite.add_from(node, last.as_slice())?;
            let asked = match method {
                Method::W => identifiers.characterisation(),
                Method::Wp if steps < longest => identifiers.characterisation(),
                Method::Wp => identifiers.of_state(state),
                Method::Hsi => identifiers.harmonised(state),
            };
            for question in asked {
                suite.add_from(node, question)?;
            }
            if steps < longest {
                for (input, response) in machine.responses(state) {
                    open.push((node, Some(input), response.target, steps + 1));
                }
            }
        }
    }
    Ok(suite)
}
