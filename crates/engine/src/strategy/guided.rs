//! A strategy that a guide leads: from outside, such as a planner with a solver.

use ioco_sts::{Cause, Reason, StateSet, Step};
use std::sync::Arc;

use super::random::Random;
use super::{Choice, Situation};
use crate::guide::{Advice, Guide, View};

/// Asks the guide, and turns its advice into what the tester does.
pub(crate) fn choose(
    guide: &mut dyn Guide,
    chance: &mut Random,
    trace: &[Step],
    situation: Situation<'_>,
) -> Choice {
    let set: Arc<StateSet> = Arc::clone(situation.semantics.set(situation.set));
    let sts = Arc::clone(situation.semantics.sts());
    let advice = guide.advise(View {
        sts: &sts,
        set: &set,
        menu: situation.menu,
        trace,
        coverage: situation.coverage,
        rng: &mut *situation.rng,
        may_wait: situation.may_wait,
        interrupt: situation.interrupt,
    });
    match advice {
        Advice::Give(action) => {
            let accepted = situation.semantics.accepts(situation.set, &action);
            let step = Step::Stimulus(action.clone());
            match situation.semantics.follow(situation.set, &step) {
                Some(followed) if accepted => Choice::Give(action, followed),
                // Under uioco a plan may ask for more than may be given.
                _ => {
                    let shown = action.show(&sts);
                    let why = format!("the plan asks for {shown}, which cannot be given here");
                    Choice::Lost(Reason::new(Cause::NotOffered, why))
                }
            }
        }
        // Silence was seen and nothing follows from more of it: what the guide waits for does not come.
        Advice::Listen => match guide.unfinished() {
            Some(why) if !situation.may_wait => Choice::Lost(Reason::new(Cause::GoalMissed, why)),
            _ => situation.wait_or_end(),
        },
        Advice::Chance => chance.choose(situation),
        Advice::End => Choice::End,
        Advice::Reached => Choice::Reached,
        Advice::Lost(why) => Choice::Lost(Reason::new(Cause::GoalMissed, why)),
    }
}
