//! The coordinator's side of the work: which order comes next, which are under way, and what came back. The
//! coordinator's tester keeps the numbers, the coverage and the failures of the run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use ioco_engine::{Bits, Carried, Input, SavedStep, TestReport, Tester, test_seed};
use ioco_store::OrderRow;
use ioco_sts::{Execution, SwitchId, Verdict};
use serde::{Deserialize, Serialize};

use super::doing::WorkerRows;
use super::{Executor, Order, Outcome, Recipe, SavedEnd, Task, WORK_VERSION, saved};
use crate::error::CampaignError;
use crate::observer::Observer;
use crate::order::Script;
use crate::record::Record;
use crate::session::Session;
use crate::system::SystemName;

/// How long to wait for an outcome before looking whether the run is to stop.
const SLICE: Duration = Duration::from_millis(50);

/// Outcomes that are counted before they are kept and acknowledged together.
const TOGETHER: usize = 64;

/// How often those who watch hear what workers do.
const SHOW: Duration = Duration::from_millis(100);

/// How often the record hears of a coordinator that has nothing to keep: one that was replaced finds out, and the time
/// that is left is known to the next.
const BEAT: Duration = Duration::from_secs(1);

/// What orders and outcomes are counted and kept with.
pub(crate) struct OrderBook<'a> {
    pub session: &'a mut Session,
    /// Where orders and outcomes are kept, so that another process can go on with them.
    pub record: Option<&'a mut Record>,
}

impl<'a> OrderBook<'a> {
    /// For orders that nobody needs to go on with.
    pub fn of(session: &'a mut Session) -> OrderBook<'a> {
        OrderBook {
            session,
            record: None,
        }
    }
}

/// A test that is written down, in line for an order.
pub(crate) enum Planned {
    /// A failure of an earlier run, by its position in the campaign's list.
    Known(usize, Script),
    Script(Script),
    /// A test of a suite: its position, its name and the suite's file with it alone.
    Suite {
        index: usize,
        name: String,
        suite: String,
    },
}

/// What an order under way is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Purpose {
    /// The failure of an earlier run at this position.
    Known(usize),
    /// The test of a suite at this position.
    Suite(usize, String),
    Test,
    Replay,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Issued {
    pub purpose: Purpose,
    /// The number and the name of the test.
    pub test: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Open switches that were handed out with it. After a coordinator is resumed, others may go for them too.
    #[serde(skip)]
    pub aim: Vec<SwitchId>,
    /// Steps that it may take.
    pub steps: u64,
}

/// A test that came back and was counted.
pub(crate) struct Finished {
    pub report: TestReport,
    pub purpose: Purpose,
    pub outcome: Outcome,
}

pub(crate) struct Dispatch {
    pub(super) executor: Box<dyn Executor>,
    campaign: String,
    model: String,
    system: SystemName,
    recipe: Recipe,
    beginning: Vec<SavedStep>,
    pub(super) planned: VecDeque<Planned>,
    /// After what is planned, the strategy goes on.
    by_strategy: bool,
    pub(super) orders: u64,
    pub(super) tests: u64,
    revision: u64,
    pub(super) under_way: BTreeMap<u64, Issued>,
    pub(super) finished: VecDeque<Finished>,
    /// Tests whose system was not ready when the time was up: what they say depends on whether any was.
    unready: Vec<(Carried, Purpose, Outcome)>,
    pub(super) replayed: BTreeMap<u64, Outcome>,
    /// Said to a person already.
    said: BTreeSet<String>,
    notices: Vec<String>,
    warnings: Vec<String>,
    /// Until when outcomes are waited for, once the run is to end.
    until: Option<Instant>,
    /// Orders that are handed out once the record has them.
    pub(super) unsent: Vec<Order>,
    /// Outcomes that are acknowledged once the record has them.
    unacknowledged: usize,
    /// When the record heard of this coordinator last.
    beaten: Option<Instant>,
    rows: WorkerRows,
    /// When those who watch heard of the workers last.
    shown: Option<Instant>,
}

impl Dispatch {
    pub fn new(
        executor: Box<dyn Executor>,
        campaign: String,
        model: String,
        system: SystemName,
        recipe: Recipe,
    ) -> Dispatch {
        Dispatch {
            executor,
            campaign,
            model,
            system,
            recipe,
            beginning: Vec::new(),
            planned: VecDeque::new(),
            by_strategy: true,
            orders: 0,
            tests: 0,
            revision: 0,
            under_way: BTreeMap::new(),
            finished: VecDeque::new(),
            unready: Vec::new(),
            replayed: BTreeMap::new(),
            said: BTreeSet::new(),
            notices: Vec::new(),
            warnings: Vec::new(),
            until: None,
            unsent: Vec::new(),
            unacknowledged: 0,
            beaten: None,
            rows: WorkerRows::default(),
            shown: None,
        }
    }

    /// Which tests there are.
    pub fn plan(&mut self, planned: Vec<Planned>, by_strategy: bool, beginning: Vec<SavedStep>) {
        self.planned = planned.into();
        self.by_strategy = by_strategy;
        self.beginning = beginning;
    }

    /// What workers said since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        let mut notices = std::mem::take(&mut self.notices);
        notices.extend(self.executor.take_notices());
        notices
    }

    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The next test that came back, in the order of arrival; `None` once the run is over and everything is back.
    pub fn next(
        &mut self,
        book: &mut OrderBook<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Finished>, CampaignError> {
        loop {
            self.report_workers(book.session, observer);
            if let Some(finished) = self.finished.pop_front() {
                return Ok(Some(finished));
            }
            let waits = self.refill(book)?;
            if self.is_given_up(book.session) || (self.under_way.is_empty() && !waits) {
                if self.unready.is_empty() {
                    return Ok(None);
                }
                self.count_unready(book);
                continue;
            }
            self.pump(book)?;
        }
    }

    /// Reports to the observer what the workers do, also while no test comes back.
    fn report_workers(&mut self, session: &mut Session, observer: &mut dyn Observer) {
        if self.shown.is_some_and(|at| at.elapsed() < SHOW) {
            return;
        }
        self.shown = Some(Instant::now());
        let doing = self.executor.doing();
        observer.workers(&self.rows.with(doing), &mut session.tester);
    }

    /// Withdraws what is still under way: every order has one outcome, and what comes later counts for nothing.
    pub fn withdraw(&mut self, book: &mut OrderBook<'_>) -> Result<(), CampaignError> {
        self.unsent.clear();
        for number in std::mem::take(&mut self.under_way).into_keys() {
            if let Some(record) = &mut book.record {
                record.outcome(number, "", None, Vec::new());
            }
        }
        self.commit(book)
    }

    /// The campaign is over, and the record has all of it.
    pub fn close(&mut self) {
        self.executor.close();
    }

    /// Hands out the orders, and acknowledges the outcomes, that the record has now.
    fn commit(&mut self, book: &mut OrderBook<'_>) -> Result<(), CampaignError> {
        let is_due = self.beaten.is_none_or(|at| at.elapsed() >= BEAT);
        if self.unsent.is_empty() && self.unacknowledged == 0 && !is_due {
            return Ok(());
        }
        if let Some(record) = &mut book.record {
            if is_due {
                record.clock(book.session.now());
                self.beaten = Some(Instant::now());
            }
            record.commit()?;
        }
        // Those that wait to be counted are not in the record yet.
        if self.unready.is_empty() && std::mem::take(&mut self.unacknowledged) > 0 {
            self.executor.acknowledge();
        }
        for order in self.unsent.drain(..) {
            self.executor.submit(order)?;
        }
        Ok(())
    }

    /// Whether nobody waits for outcomes any more.
    pub(super) fn is_given_up(&mut self, session: &Session) -> bool {
        if !session.is_over() {
            return false;
        }
        if self.until.is_none() {
            self.executor.cancel();
            self.until = Instant::now().checked_add(self.executor.grace());
        }
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Waits a moment for outcomes, and counts them.
    pub(super) fn pump(&mut self, book: &mut OrderBook<'_>) -> Result<(), CampaignError> {
        self.executor.ends_at(book.session.over_at());
        self.commit(book)?;
        let mut wait = SLICE;
        for _ in 0..TOGETHER {
            let Some(outcome) = self.executor.next(wait)? else {
                break;
            };
            self.take(outcome, book);
            wait = Duration::ZERO;
        }
        Ok(())
    }

    fn take(&mut self, mut outcome: Outcome, book: &mut OrderBook<'_>) {
        self.unacknowledged += 1;
        // One that comes twice counts once; one that comes after its order was withdrawn counts for nothing.
        let Some(issued) = self.under_way.remove(&outcome.order) else {
            if let Some(record) = &mut book.record {
                record.discarded(1);
            }
            return;
        };
        for notice in outcome.notices.drain(..) {
            if self.said.insert(notice.clone()) {
                self.notices.push(notice);
            }
        }
        for warning in outcome.warnings.drain(..) {
            if self.said.insert(warning.clone()) {
                self.warnings.push(warning);
            }
        }
        if let Purpose::Replay = issued.purpose {
            if let Some(record) = &mut book.record {
                // No test keeps its steps.
                let body = Some(outcome.kept_whole());
                record.outcome(outcome.order, &outcome.worker, body, Vec::new());
            }
            self.replayed.insert(outcome.order, outcome);
            return;
        }
        let carried = self.carried(&outcome, &issued, book.session);
        let is_inconclusive = matches!(carried.execution.verdict, Verdict::Inconclusive(_));
        let now = book.session.now();
        if is_inconclusive && !carried.is_ready() && book.session.tester.is_over(now) {
            self.unready.push((carried, issued.purpose, outcome));
            return;
        }
        self.count(carried, issued.purpose, outcome, book);
    }

    /// Counts a test that came back, and keeps its outcome.
    fn count(
        &mut self,
        carried: Carried,
        purpose: Purpose,
        outcome: Outcome,
        book: &mut OrderBook<'_>,
    ) {
        let Some(finished) = self.absorb(carried, purpose, outcome, book.session) else {
            return;
        };
        let execution = &finished.report.execution;
        let is_failed = execution.deviation().is_some();
        let steps = execution.trace.len() as u64;
        self.rows.count(&finished.outcome.worker, steps, is_failed);
        if let Some(record) = &mut book.record {
            let outcome = &finished.outcome;
            // The steps of a test that passed are kept with the test.
            let body = match finished.report.execution.verdict {
                Verdict::Pass => outcome.kept(),
                _ => outcome.kept_whole(),
            };
            let events = book.session.tester.take_events();
            record.outcome(outcome.order, &outcome.worker, Some(body), events);
        }
        self.finished.push_back(finished);
    }

    /// A test that came back, in terms of the model.
    pub(super) fn carried(
        &self,
        outcome: &Outcome,
        issued: &Issued,
        session: &mut Session,
    ) -> Carried {
        Carried {
            number: issued.test,
            seed: test_seed(self.recipe.seed, issued.test),
            name: issued.name.clone(),
            execution: outcome.execution(session.tester.semantics()),
            times: outcome.times.clone(),
            duration: outcome.duration,
            covered: outcome.covered.clone(),
            lessons: outcome.lessons.clone(),
        }
    }

    /// Counts the tests that waited for a system until the time was up.
    fn count_unready(&mut self, book: &mut OrderBook<'_>) {
        let session = &*book.session;
        let is_error = !session.tester.was_ready() && !session.interrupt.is_raised();
        for (mut carried, purpose, mut outcome) in std::mem::take(&mut self.unready) {
            if is_error {
                let verdict = Tester::never_ready();
                outcome.end = SavedEnd::new(&verdict, &book.session.sts);
                carried.execution.verdict = verdict;
            }
            self.count(carried, purpose, outcome, book);
        }
    }

    /// Puts a test that came back into the run.
    pub(super) fn absorb(
        &mut self,
        carried: Carried,
        purpose: Purpose,
        outcome: Outcome,
        session: &mut Session,
    ) -> Option<Finished> {
        let now = session.now();
        let report = session
            .tester
            .absorb(carried.clone(), now)
            .or_else(|rejected| {
                let verdict = Verdict::unusable(rejected.to_string());
                let execution = Execution {
                    trace: Vec::new(),
                    verdict,
                };
                session.tester.absorb(
                    Carried {
                        execution,
                        covered: Default::default(),
                        ..carried
                    },
                    now,
                )
            });
        self.revision += 1;
        // Without coverage nothing is refused.
        report.ok().map(|report| Finished {
            report,
            purpose,
            outcome,
        })
    }

    /// Gives every worker that has nothing to do an order, as long as the run goes on. Whether there is more to do
    /// than workers.
    pub(super) fn refill(&mut self, book: &mut OrderBook<'_>) -> Result<bool, CampaignError> {
        let session = &mut *book.session;
        if session.interrupt.is_raised() {
            let now = session.now();
            session.tester.handle(Input::Interrupted, now);
            self.planned.clear();
            return Ok(false);
        }
        loop {
            let session = &mut *book.session;
            let now = session.now();
            let is_over = session.tester.is_over(now);
            match self.planned.front() {
                Some(Planned::Known(..)) => {}
                Some(Planned::Script(_)) if session.tester.summary().errors == 0 => {}
                Some(Planned::Suite { .. }) if !is_over => {}
                // They stay planned: a failure that uses up the limit may turn out to be one that does not count.
                Some(_) => return Ok(false),
                None if self.by_strategy && !is_over => {}
                None => return Ok(false),
            }
            if self.under_way.len() >= self.executor.capacity() {
                return Ok(true);
            }
            let test = self.tests + 1;
            let mut aim = Vec::new();
            let task = match self.planned.pop_front() {
                Some(Planned::Known(index, script)) => {
                    let (name, stimuli) = (script.name.clone(), &script.stimuli);
                    let task = Task::Script {
                        test,
                        name: name.clone(),
                        stimuli: saved(stimuli, &session.sts),
                    };
                    (task, Purpose::Known(index), Some(name))
                }
                Some(Planned::Script(script)) => {
                    let task = Task::Script {
                        test,
                        name: script.name.clone(),
                        stimuli: saved(&script.stimuli, &session.sts),
                    };
                    (task, Purpose::Test, Some(script.name))
                }
                Some(Planned::Suite { index, name, suite }) => {
                    let steps = session.tester.settings().stop.steps_per_test;
                    let task = Task::Suite { test, steps, suite };
                    (task, Purpose::Suite(index, name.clone()), Some(name))
                }
                None => match self.by_strategy(test, session) {
                    Some((task, tour)) => {
                        aim = tour;
                        (task, Purpose::Test, None)
                    }
                    None => return Ok(false),
                },
            };
            self.tests = test;
            let (task, purpose, name) = task;
            let steps = match &task {
                Task::Strategy { steps, .. } => *steps,
                _ => 0,
            };
            self.issue(
                task,
                Issued {
                    purpose,
                    test,
                    name,
                    aim,
                    steps,
                },
                book,
            )?;
        }
    }

    /// The next test of the strategy, and the open switches that it goes for; `None` where the limits of the run leave
    /// none.
    fn by_strategy(&self, test: u64, session: &Session) -> Option<(Task, Vec<SwitchId>)> {
        let stop = session.tester.settings().stop;
        if stop.tests.is_some_and(|tests| test > tests) {
            return None;
        }
        let mut steps = stop.steps_per_test;
        if let Some(limit) = stop.total_steps {
            let promised: u64 = self.under_way.values().map(|issued| issued.steps).sum();
            let taken = session.tester.summary().steps();
            steps = steps.min(limit.saturating_sub(taken.saturating_add(promised)));
            if steps == 0 {
                return None;
            }
        }
        let (aim, reserved) = self.aim(steps, session);
        let coverage = session.tester.coverage();
        let bits = |switches: &mut dyn Iterator<Item = &SwitchId>| {
            let numbers: BTreeSet<u32> = switches.map(|switch| switch.index() as u32).collect();
            match numbers.is_empty() {
                true => Bits::default(),
                false => Bits::of_numbers(&numbers, coverage.switches()),
            }
        };
        let task = Task::Strategy {
            test,
            steps,
            beginning: self.beginning.clone(),
            known: coverage.map(self.revision),
            aim: bits(&mut aim.iter()),
            reserved: bits(&mut reserved.iter()),
            lessons: session.tester.lessons(),
        };
        Some((task, aim))
    }

    /// The open switches that the next order goes for, and those that it leaves to the orders under way.
    fn aim(&self, steps: u64, session: &Session) -> (Vec<SwitchId>, BTreeSet<SwitchId>) {
        let mut orders: BTreeMap<SwitchId, usize> = BTreeMap::new();
        for switch in self.under_way.values().flat_map(|issued| &issued.aim) {
            *orders.entry(*switch).or_default() += 1;
        }
        // Nobody needs to leave alone what was covered in passing.
        orders.retain(|switch, _| session.tester.is_open(*switch));
        // Where somebody goes for each open one already, those that the fewest go for.
        let fewest = orders.values().min().copied().unwrap_or(0);
        for least in [0, fewest] {
            let busy = orders.iter().filter(|(_, count)| **count > least);
            let others: BTreeSet<SwitchId> = busy.map(|(switch, _)| *switch).collect();
            let tour = session.tester.tour(&others, steps);
            if !tour.is_empty() {
                return (tour, others);
            }
        }
        (Vec::new(), BTreeSet::new())
    }

    pub(super) fn issue(
        &mut self,
        task: Task,
        issued: Issued,
        book: &mut OrderBook<'_>,
    ) -> Result<u64, CampaignError> {
        self.orders += 1;
        let order = Order {
            version: WORK_VERSION,
            campaign: self.campaign.clone(),
            number: self.orders,
            model: self.model.clone(),
            system: self.system.clone(),
            recipe: self.recipe.clone(),
            time: book.session.time_left(),
            task,
        };
        match &mut book.record {
            None => self.executor.submit(order)?,
            Some(record) => {
                // Plain data: always JSON.
                let purpose = serde_json::to_string(&issued).unwrap_or_default();
                let body = serde_json::to_string(&order).unwrap_or_default();
                record.order(OrderRow {
                    number: order.number,
                    purpose,
                    body,
                });
                self.unsent.push(order);
            }
        }
        self.under_way.insert(self.orders, issued);
        Ok(self.orders)
    }
}
