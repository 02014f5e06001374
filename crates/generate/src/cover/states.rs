//! Every reachable state of a model whose data is finite: a test that visits it, by exploring all of
//! them with all values, nearest first.

use std::collections::VecDeque;
use std::rc::Rc;

use ioco_budget::Interrupt;
use ioco_sts::{FlattenError, State, Sts, SwitchId, explore};

use super::instance::Instance;
use crate::confirm::Confirm;
use crate::moves::moves_from;

/// What came out.
#[derive(Debug)]
pub struct States {
    /// All reachable states, the initial one first.
    pub states: Vec<State>,
    /// Per state, the number of the test that visits it; `None` where the second walk did not
    /// confirm that test.
    pub visited: Vec<Option<usize>>,
    pub tests: Vec<Instance>,
}

/// Visits every reachable state, if there are at most `limit`. A test goes to a state from which no
/// state is nearer than by another way; the states on its way are visited by it too.
pub fn states(
    sts: &Sts,
    limit: usize,
    confirm: &mut Confirm,
    interrupt: &Interrupt,
) -> Result<States, FlattenError> {
    let explored = explore(sts, limit, interrupt)?;
    let count = explored.states.len();
    let mut steps_from: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, step) in explored.steps.iter().enumerate() {
        steps_from[step.source].push(number);
    }
    // The step that first led to each state, nearest first.
    let mut entered: Vec<Option<usize>> = vec![None; count];
    let mut leads_on = vec![false; count];
    let mut known = vec![false; count];
    let mut queue = VecDeque::from([0]);
    known[0] = true;
    while let Some(state) = queue.pop_front() {
        for number in &steps_from[state] {
            let target = explored.steps[*number].target;
            if !known[target] {
                known[target] = true;
                entered[target] = Some(*number);
                leads_on[state] = true;
                queue.push_back(target);
            }
        }
    }
    let mut found = States {
        visited: vec![None; count],
        states: explored.states,
        tests: Vec::new(),
    };
    for last in (0..count).filter(|state| !leads_on[*state]) {
        if interrupt.is_raised() {
            // The states that are left stay unvisited.
            break;
        }
        let mut way = vec![last];
        let mut numbers = Vec::new();
        while let Some(number) = entered[way[way.len() - 1]] {
            numbers.push(number);
            way.push(explored.steps[number].source);
        }
        way.reverse();
        numbers.reverse();
        let mut test = Instance {
            steps: Vec::new(),
            states: way
                .iter()
                .map(|state| found.states[*state].clone())
                .collect(),
        };
        for (position, number) in numbers.iter().enumerate() {
            let step = &explored.steps[*number];
            let (from, to) = (&test.states[position], &test.states[position + 1]);
            let mut moves = moves_from(sts, &from.locations).into_iter();
            let leads = |switches: &[SwitchId]| {
                let target = |id: &SwitchId| {
                    let switch = sts.switch(*id);
                    to.locations[sts.location(switch.source).process.index()] == switch.target
                };
                switches.contains(&step.switch) && switches.iter().all(target)
            };
            if let Some(taken) = moves.find(|m| leads(&m.switches)) {
                test.steps.push((Rc::new(taken), step.action.clone()));
            }
        }
        if test.steps.len() == numbers.len() && confirm.steps(test.path()).is_ok() {
            for state in way {
                found.visited[state].get_or_insert(found.tests.len());
            }
            found.tests.push(test);
        }
    }
    Ok(found)
}
