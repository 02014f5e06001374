//! The record of the run under way: handed to the store as it happens, reported to the observer once it
//! is there.
//!
//! A store that refuses (a full disk, a server that went away) ends the record and not the run: what a run
//! finds is reported whatever becomes of the disk. The person is warned once.

use std::time::{Duration, Instant};

use ioco_budget::Until;
use ioco_engine::{CoverageSnapshot, Event, FailureFile};
use ioco_store::{NewRun, OrderRow, Place, Recording, StoreError};

use crate::error::{CampaignError, ErrorKind};
use crate::history::{self, stop};
use crate::observer::Observer;
use crate::project::Project;
use crate::results::Results;

/// Waiting for the store takes at most one part in so many of the time.
const SHARE: u32 = 20;
/// Waiting more often than this reports nothing sooner.
const OFTEN: Duration = Duration::from_millis(5);
/// Events that are kept in memory until they are reported. After one slow wait the next comes late, and a fast system
/// does much in between.
const MAX_UNREPORTED: usize = 10_000;

pub(crate) struct Record {
    /// `None` when the store has refused.
    recording: Option<Recording>,
    run: i64,
    /// Why the rest is not kept, until it is reported.
    refused: Option<StoreError>,
    /// The same, for later questions.
    lost: Option<String>,
    /// The campaign that another coordinator has resumed.
    superseded: Option<String>,
    /// Handed over, and not reported yet.
    untold: Vec<Event>,
    settled: Instant,
    /// How long the last wait was.
    waited: Duration,
}

impl Record {
    /// Begins a run in the project's store. Where the disk refuses that, the run is kept in a temporary
    /// folder, and where that refuses too, nowhere.
    pub fn begin(
        project: &mut Project,
        run: NewRun,
        until: &Until,
        observer: &mut dyn Observer,
    ) -> Result<Record, CampaignError> {
        let place = history::place(project)?;
        let refused = match begin_at(&place, run.clone(), until) {
            Ok(recording) => return Ok(Record::of(Ok(recording))),
            Err(refused) => refused,
        };
        if until.is_stopped() {
            return Err(CampaignError {
                kind: ErrorKind::Interrupted,
                ..stop(refused)
            });
        }
        // A damaged file and a wrong address are for the person to look at.
        let by_disk = matches!(
            refused,
            StoreError::Failed { .. } | StoreError::Unreachable { .. } | StoreError::Held { .. }
        );
        if !by_disk || !matches!(place, Place::File(_)) {
            return Err(stop(refused));
        }
        if project.elsewhere.is_none()
            && let Ok(elsewhere) = Results::elsewhere()
        {
            let old = project.elsewhere.replace(elsewhere.clone());
            let begun = history::place(project).map(|place| begin_at(&place, run, until));
            if let Ok(Ok(recording)) = begun {
                observer.warning(&format!(
                    "{refused}; the results of this run are in {}",
                    elsewhere.display()
                ));
                return Ok(Record::of(Ok(recording)));
            }
            project.elsewhere = old;
            let _ = std::fs::remove_dir_all(&elsewhere);
        }
        Ok(Record::of(Err(refused)))
    }

    /// Goes on with the run of a campaign.
    pub fn resume(
        project: &Project,
        campaign: &str,
        until: &Until,
    ) -> Result<Record, CampaignError> {
        let place = history::place(project)?;
        let until = until_at(&place, until);
        let recording = Recording::resume_until(&place, campaign, until).map_err(stop)?;
        Ok(Record::of(Ok(recording)))
    }

    fn of(begun: Result<Recording, StoreError>) -> Record {
        let (recording, refused) = match begun {
            Ok(recording) => (Some(recording), None),
            Err(refused) => (None, Some(refused)),
        };
        Record {
            run: recording.as_ref().map_or(0, Recording::run),
            recording,
            refused,
            lost: None,
            superseded: None,
            untold: Vec::new(),
            settled: Instant::now(),
            waited: Duration::ZERO,
        }
    }

    /// The number of the run; 0 where it has none.
    pub fn run(&self) -> i64 {
        self.run
    }

    /// Which coordinator of its campaign records this run; 0 without a campaign.
    pub fn coordinator(&self) -> u64 {
        self.recording.as_ref().map_or(0, Recording::coordinator)
    }

    /// Whether everything so far is, or will be, in the store.
    pub fn is_kept(&self) -> bool {
        self.recording.is_some()
    }

    /// Does something with the store; after its first refusal, nothing.
    fn with(&mut self, work: impl FnOnce(&mut Recording) -> Result<(), StoreError>) {
        if let Some(recording) = &mut self.recording
            && let Err(refused) = work(recording)
        {
            match refused {
                StoreError::Superseded { campaign } => self.superseded = Some(campaign),
                refused => {
                    self.lost = Some(refused.to_string());
                    self.refused = Some(refused);
                }
            }
            self.recording = None;
        }
    }

    /// Hands events over.
    pub fn events(&mut self, events: Vec<Event>) {
        self.with(|recording| recording.events(&events));
        self.untold.extend(events);
    }

    /// Whether it is time to wait for the store. Against a system at the usual speed that is so
    /// after every test; a faster one runs ahead by a few milliseconds.
    pub fn is_due(&self) -> bool {
        let is_full = self.untold.len() >= MAX_UNREPORTED;
        is_full || self.settled.elapsed() >= (self.waited * SHARE).max(OFTEN)
    }

    pub fn failure(&mut self, file: &FailureFile, test: u64, flaky: bool) {
        self.with(|recording| recording.failure(file, test, flaky));
    }

    pub fn coverage(&mut self, snapshot: CoverageSnapshot) {
        self.with(|recording| recording.coverage(snapshot));
    }

    /// An order of a campaign.
    pub fn order(&mut self, order: OrderRow) {
        self.with(|recording| recording.order(order));
    }

    /// What became of an order, with everything that it adds to the run; `None` withdraws the order.
    pub fn outcome(&mut self, number: u64, worker: &str, body: Option<String>, events: Vec<Event>) {
        self.with(|recording| recording.outcome(number, worker, body, &events));
        self.untold.extend(events);
    }

    /// So many more outcomes count for nothing.
    pub fn discarded(&mut self, more: u64) {
        self.with(|recording| recording.discarded(more));
    }

    /// What the clock of the run shows.
    pub fn clock(&mut self, now: u64) {
        self.with(|recording| recording.clock(now));
    }

    /// Waits until everything is in the store. Who hands out work to others does not go on without it.
    pub fn commit(&mut self) -> Result<(), CampaignError> {
        self.with(Recording::flush);
        if let Some(campaign) = self.superseded.clone() {
            // That coordinator goes on with it.
            return Err(stop(StoreError::Superseded { campaign }));
        }
        if self.recording.is_some() {
            return Ok(());
        }
        // Said here.
        self.refused = None;
        let why = self.lost.clone();
        let why =
            why.unwrap_or_else(|| "the store cannot keep the results of the campaign".to_owned());
        let error = CampaignError::usage(why);
        Err(error.hint("`ioco campaign resume` continues the campaign"))
    }

    /// Waits until everything is in the store, and reports it.
    pub fn settle(&mut self, observer: &mut dyn Observer) {
        let begun = Instant::now();
        self.with(Recording::flush);
        self.settled = Instant::now();
        self.waited = self.settled - begun;
        if let Some(refused) = self.refused.take() {
            observer.warning(&format!(
                "{refused}; the rest of this run is not recorded ({})",
                refused.hint()
            ));
        }
        for event in self.untold.drain(..) {
            observer.event(&event);
        }
    }
}

fn begin_at(place: &Place, run: NewRun, until: &Until) -> Result<Recording, StoreError> {
    Recording::begin_until(place, run, until_at(place, until))
}

/// How long a store is waited for.
fn until_at(place: &Place, until: &Until) -> Until {
    match place {
        // A file answers, and a short run waits for those that write into it at the same time.
        Place::File(_) => until.by(None),
        // A server that says nothing must not take longer than the whole run.
        _ => until.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_says_nothing_is_given_up_when_the_time_of_the_run_is_up() {
        // Takes connections, since the system queues them, and never answers.
        let mute = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = mute.local_addr().expect("an address");
        let url = format!("postgres://nobody@{address}/nothing");
        let place = Place::new("unused".as_ref(), Some(&url)).expect("an address");
        let until = Until::forever(Instant::now).by(Some(Instant::now()));
        let refused = begin_at(&place, NewRun::default(), &until).err();
        // The store's own limit on connecting is longer, and says something else.
        let refused = refused.expect("no database").to_string();
        assert!(refused.contains("did not answer in time"), "{refused}");
    }

    #[test]
    fn a_file_is_waited_for_however_short_the_run_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place::new(&folder.path().join("ioco.db"), None).expect("a file");
        let until = Until::forever(Instant::now).by(Some(Instant::now()));
        assert!(begin_at(&place, NewRun::default(), &until).is_ok());
    }

    #[test]
    fn after_a_slow_wait_unreported_results_stay_bounded() {
        let refused = StoreError::Failed {
            place: String::new(),
            why: String::new(),
        };
        let mut record = Record::of(Err(refused));
        // The store took very long once.
        record.waited = Duration::from_secs(3600);
        let event = Event::TestStarted {
            test: 1,
            seed: 1,
            at: 0,
            name: None,
        };
        let mut handed_over = 0;
        while !record.is_due() {
            record.events(vec![event.clone(); 100]);
            handed_over += 100;
            assert!(handed_over <= MAX_UNREPORTED, "{handed_over}");
        }
    }
}
