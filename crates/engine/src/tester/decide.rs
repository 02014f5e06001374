//! Choosing the next command: by the strategy, or by the script.

use ioco_sts::{Cause, Menu, Step, Verdict};
use rand::RngExt as _;

use super::Tester;
use super::ending::{MAX_ANSWERS, Until};
use super::test::{Phase, Plan};
use crate::port::Command;
use crate::settings::WaitPolicy;
use crate::silence::{self, Context, Listening};
use crate::strategy::{Choice, Situation};

/// With so many stimuli in flight a strategy waits for what comes before it gives another.
const MAX_IN_FLIGHT: usize = 8;

/// One time in so many a stimulus is given although the system is about to speak again.
const INTERRUPTION: u32 = 8;

impl Plan {
    pub(super) fn script(stimuli: Vec<ioco_sts::Action>) -> Plan {
        Plan::Script {
            stimuli,
            next: 0,
            listened: false,
            goes_on: false,
        }
    }

    /// These stimuli first, then the strategy.
    pub(super) fn beginning(stimuli: Vec<ioco_sts::Action>) -> Plan {
        Plan::Script {
            stimuli,
            next: 0,
            listened: false,
            goes_on: true,
        }
    }
}

impl Tester {
    pub(super) fn decide(&mut self, now: u64) -> Command {
        self.bound_memory();
        self.test.menu = self.semantics.menu(self.test.set);
        if let Some(command) = self.ending(now) {
            return command;
        }
        match self.test.plan {
            Plan::Script { .. } => self.decide_scripted(now),
            Plan::Strategy | Plan::Guide(_) => self.decide_by_strategy(now),
        }
    }

    fn decide_by_strategy(&mut self, now: u64) -> Command {
        let mut may_wait = !self.test.quiet;
        let mut interrupts = false;
        if let (WaitPolicy::Worthwhile { share }, true) = (self.settings.wait, self.is_free()) {
            match self.listening(share, now) {
                // Otherwise nobody would ever interrupt a system that never stops speaking. A strategy that may
                // wait would wait: the response that is due is worth something as well.
                Listening::Whole if self.interrupts() => {
                    interrupts = true;
                    may_wait = false;
                }
                Listening::Whole => return self.wait(now),
                Listening::Look(time) => return self.wait_for(time, false, now),
                // Where only silence is possible, more of it shows nothing.
                Listening::No => may_wait &= !self.test.menu.responses.is_empty(),
            }
        }
        if self.test.in_flight.len() >= MAX_IN_FLIGHT {
            return self.wait(now);
        }
        // Who asks for one test wants one, whatever a reset costs.
        let is_only = self.settings.stop.tests == Some(1);
        let may_restart = self.ends_by_choice && !self.test.has_beginning && !is_only;
        let test = &mut self.test;
        let chooser = match &mut test.plan {
            Plan::Guide(chooser) => chooser,
            Plan::Strategy | Plan::Script { .. } => &mut self.strategy,
        };
        let situation = Situation {
            semantics: &mut self.semantics,
            set: test.set,
            menu: &test.menu,
            coverage: self.steering.as_ref().unwrap_or(&self.coverage),
            rng: &mut test.rng,
            wait: self.settings.wait,
            budget: self.settings.step_budget,
            may_wait,
            interrupt: &self.interrupt,
            test: test.number,
            restart: may_restart.then(|| self.costs.of_restart()),
        };
        let choice = chooser.choose(&test.trace, situation);
        if self.interrupt.is_raised() {
            return self.interrupt(now);
        }
        match choice {
            Choice::Give(stimulus, followed) => {
                self.test.phase = Phase::Giving {
                    stimulus: stimulus.clone(),
                    followed,
                };
                Command::Give(stimulus)
            }
            Choice::Wait => self.wait(now),
            // It found no stimulus to interrupt with.
            Choice::End | Choice::Restart | Choice::Lost(_) if interrupts => self.wait(now),
            Choice::Restart => {
                self.test.is_restarted = true;
                self.end(Verdict::Pass, Until::NothingDue, now)
            }
            Choice::End => self.end(Verdict::Pass, Until::NothingDue, now),
            Choice::Reached => self.end(Verdict::Pass, Until::Silence, now),
            Choice::Lost(reason) => self.end(Verdict::Inconclusive(reason), Until::NothingDue, now),
        }
    }

    /// Whether to leave it to the strategy to give a stimulus although a response is due: chance decides, once the
    /// system has spoken.
    fn interrupts(&mut self) -> bool {
        let test = &mut self.test;
        may_interrupt(&test.menu, test.responses_in_a_row)
            && test.rng.random_range(0..INTERRUPTION) == 0
    }

    /// The strategy chooses by itself: no guide and no suite says what to wait for.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.test.plan, Plan::Strategy) && !self.strategy.is_guided()
    }

    /// Whether silence is worth waiting for now.
    fn listening(&self, share: f64, now: u64) -> Listening {
        let test = &self.test;
        if test.quiet {
            return Listening::No;
        }
        let context = Context {
            situation: silence::situation(self.semantics.set(test.set), &test.trace),
            timeout: self.semantics.timeout(test.set),
            share,
            elapsed: now.saturating_sub(self.started.unwrap_or(now)),
            shortest: self.settings.shortest_wait,
            looked: test.looked,
            answered: test.responses_in_a_row > 0,
        };
        let listening = self.silences.listening(&test.menu, context);
        let Some(before) = self.repeats.as_ref().filter(|_| test.menu.silence) else {
            return listening;
        };
        // Time has decided then; now the test that is repeated does.
        let was_silent = before.silences.contains(&(test.trace.len() as u64));
        match listening {
            _ if was_silent => Listening::Whole,
            Listening::Whole if test.looked => Listening::No,
            Listening::Whole => Listening::Look(self.silences.look(
                self.settings.shortest_wait,
                self.semantics.timeout(test.set),
            )),
            Listening::Look(_) | Listening::No => listening,
        }
    }

    /// Waits as long as silence needs to count as quiescence here; not longer than the run may take
    /// where the system may be silent.
    pub(super) fn wait(&mut self, now: u64) -> Command {
        let time = self.semantics.timeout(self.test.set);
        let may_be_cut = self.test.counts && self.test.menu.silence && self.test.ending.is_none();
        if may_be_cut
            && let Some(left) = self.time_left(now)
            && left < time
        {
            return self.wait_for(left, false, now);
        }
        self.wait_for(time, true, now)
    }

    pub(super) fn wait_for(&mut self, time: u64, whole: bool, now: u64) -> Command {
        self.test.phase = Phase::Awaiting { since: now, whole };
        Command::Await {
            until: now.saturating_add(time),
        }
    }

    fn decide_scripted(&mut self, now: u64) -> Command {
        let Plan::Script {
            stimuli,
            next,
            listened,
            goes_on,
        } = &self.test.plan
        else {
            return self.end(Verdict::Pass, Until::NothingDue, now);
        };
        if *goes_on && *next == stimuli.len() {
            return self.go_on(now);
        }
        let goes_on = *goes_on;
        let talks = self.test.responses_in_a_row >= MAX_ANSWERS;
        let stimulus = stimuli.get(*next).cloned();
        if !talks && !self.test.quiet && stimulus.is_some() {
            if !self.test.menu.responses.is_empty() {
                return self.wait(now);
            }
            // The model allows no response here. A short look shows one that comes all the same.
            let look = self
                .settings
                .shortest_wait
                .min(self.semantics.timeout(self.test.set));
            if *next > 0 && !*listened && look > 0 {
                return self.wait_for(look, false, now);
            }
        }
        let Some(stimulus) = stimulus else {
            return self.end(Verdict::Pass, Until::Silence, now);
        };
        let step = Step::Stimulus(stimulus.clone());
        let accepted = self.semantics.accepts(self.test.set, &stimulus);
        match self.semantics.follow(self.test.set, &step) {
            Some(followed) if accepted => {
                self.test.phase = Phase::Giving {
                    stimulus: stimulus.clone(),
                    followed,
                };
                Command::Give(stimulus)
            }
            // The system took another way that the model allows: that is worth testing too.
            _ if goes_on => self.go_on(now),
            _ => {
                let shown = stimulus.show(&self.sts);
                let number = *next + 1;
                let why = format!("stimulus {number} of the test, {shown}, is not offered here");
                let verdict = Verdict::inconclusive(Cause::NotOffered, why);
                self.end(verdict, Until::NothingDue, now)
            }
        }
    }

    /// The strategy takes over from a script.
    fn go_on(&mut self, now: u64) -> Command {
        self.test.plan = Plan::Strategy;
        self.test.has_beginning = true;
        self.decide_by_strategy(now)
    }

    /// Forgets state sets when there are too many of them. The sets of stimuli in flight cannot be
    /// kept; then it is left for later.
    fn bound_memory(&mut self) {
        if self.semantics.is_crowded(self.settings.remember) && self.test.in_flight.is_empty() {
            let test = &mut self.test;
            test.set = test.in_flight.forget(&mut self.semantics, test.set);
            self.visited.clear();
        }
    }
}

/// Whether a response is due of a system that has spoken, and there is something to interrupt it with.
fn may_interrupt(menu: &Menu, responses_in_a_row: u64) -> bool {
    !menu.silence && !menu.stimuli.is_empty() && responses_in_a_row > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioco_sts::{LabelId, Offer};

    #[test]
    fn only_a_system_that_has_spoken_and_must_go_on_is_interrupted() {
        let menu = |silence, may_give: bool| {
            let offer = Offer {
                label: LabelId::from_index(0),
                switches: Vec::new(),
            };
            Menu {
                silence,
                stimuli: may_give.then_some(offer).into_iter().collect(),
                ..Menu::default()
            }
        };
        for silence in [false, true] {
            for may_give in [false, true] {
                for spoken in 0..3 {
                    assert_eq!(
                        may_interrupt(&menu(silence, may_give), spoken),
                        !silence && may_give && spoken > 0
                    );
                }
            }
        }
    }
}
