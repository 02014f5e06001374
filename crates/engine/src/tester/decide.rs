//! Choosing the next command: by the strategy, or by the script.

use ioco_sts::{Step, Verdict};

use super::Tester;
use super::race::MAX_ON_THE_WAY;
use super::test::{Phase, Plan};
use crate::codes::NOT_OFFERED;
use crate::port::Command;
use crate::strategy::{Choice, Situation, Strategy};

/// A test that has reached its last step waits for so many responses more while one is due.
const GRACE: u64 = 16;

/// After so many responses in a row a script gives its next stimulus although the system is still
/// talking.
const MAX_ANSWERS: u64 = 256;

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
        match self.test.plan {
            Plan::Script { .. } => self.decide_scripted(now),
            Plan::Strategy | Plan::Guide(_) => self.decide_by_strategy(now),
        }
    }

    fn decide_by_strategy(&mut self, now: u64) -> Command {
        let may_wait = !self.test.quiet;
        let limit = self.settings.stop.steps_per_test;
        let over_long = self.test.steps() >= limit;
        if over_long || self.should_stop_within_test(now).is_some() {
            let due = !self.test.menu.silence && may_wait;
            return if due && self.test.steps() < limit.saturating_add(GRACE) {
                self.wait(now)
            } else {
                let verdict = match self.chooser().unfinished() {
                    Some(reason) => Verdict::Inconclusive(reason),
                    None => Verdict::Pass,
                };
                self.finish(verdict, now)
            };
        }
        if self.test.race.len() >= MAX_ON_THE_WAY {
            return self.wait(now);
        }
        let test = &mut self.test;
        let chooser = match &mut test.plan {
            Plan::Guide(chooser) => chooser,
            Plan::Strategy | Plan::Script { .. } => &mut self.strategy,
        };
        let situation = Situation {
            semantics: &mut self.semantics,
            set: test.set,
            menu: &test.menu,
            coverage: &self.coverage,
            rng: &mut test.rng,
            wait: self.settings.wait,
            budget: self.settings.step_budget,
            may_wait,
        };
        match chooser.choose(&test.trace, situation) {
            Choice::Give(stimulus, followed) => {
                self.test.phase = Phase::Giving {
                    stimulus: stimulus.clone(),
                    followed,
                };
                Command::Give(stimulus)
            }
            Choice::Wait => self.wait(now),
            Choice::End => self.finish(Verdict::Pass, now),
            Choice::Reached if may_wait && self.test.responses_in_a_row < MAX_ANSWERS => {
                self.wait(now)
            }
            Choice::Reached => self.finish(Verdict::Pass, now),
            Choice::Lost(reason) => self.finish(Verdict::Inconclusive(reason), now),
        }
    }

    fn chooser(&self) -> &Strategy {
        match &self.test.plan {
            Plan::Guide(chooser) => chooser,
            Plan::Strategy | Plan::Script { .. } => &self.strategy,
        }
    }

    /// Waits as long as silence needs to count as quiescence here.
    fn wait(&mut self, now: u64) -> Command {
        let time = self.semantics.timeout(self.test.set);
        self.wait_for(time, true, now)
    }

    fn wait_for(&mut self, time: u64, whole: bool, now: u64) -> Command {
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
            return self.finish(Verdict::Pass, now);
        };
        if *goes_on && *next == stimuli.len() {
            return self.go_on(now);
        }
        let goes_on = *goes_on;
        let talks = self.test.responses_in_a_row >= MAX_ANSWERS;
        let stimulus = stimuli.get(*next).cloned();
        if !talks && !self.test.quiet {
            let last = stimulus.is_none();
            if last || !self.test.menu.responses.is_empty() {
                return self.wait(now);
            }
            // The model allows no response here. A short look shows one that comes all the same.
            let look = self
                .settings
                .glance
                .min(self.semantics.timeout(self.test.set));
            if *next > 0 && !*listened && look > 0 {
                return self.wait_for(look, false, now);
            }
        }
        let Some(stimulus) = stimulus else {
            return self.finish(Verdict::Pass, now);
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
                let reason = format!("stimulus {number} of the test, {shown}, {NOT_OFFERED}");
                self.finish(Verdict::Inconclusive(reason), now)
            }
        }
    }

    /// The strategy takes over from a script.
    fn go_on(&mut self, now: u64) -> Command {
        self.test.plan = Plan::Strategy;
        self.decide_by_strategy(now)
    }

    /// Forgets state sets when there are too many of them. Sets of stimuli on their way cannot be
    /// kept; then it is left for later.
    fn bound_memory(&mut self) {
        if self.semantics.is_crowded(self.settings.remember) && self.test.race.is_empty() {
            self.test.set = self.semantics.forget_all_but(self.test.set);
            self.visited.clear();
        }
    }
}
