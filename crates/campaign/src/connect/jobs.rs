//! Several systems side by side: what tells their connections apart.

use super::{ConnectionSpec, PORT, Transport};
use crate::connect::Start;
use crate::error::CampaignError;
use crate::sections::amp::AmpWay;

/// Stands for the number of the job, from 1, in commands and addresses.
const JOB: &str = "{job}";

impl ConnectionSpec {
    /// The system of one job.
    pub fn for_job(&self, job: usize) -> ConnectionSpec {
        ConnectionSpec {
            way: self.way.with_job(job),
            ..self.clone()
        }
    }

    /// Refuses several jobs that would all reach the same system.
    pub fn check_jobs(&self, jobs: usize) -> Result<(), CampaignError> {
        if jobs <= 1 || self.way.is_own_for_each_job() {
            return Ok(());
        }
        Err(CampaignError::usage(format!(
            "{jobs} jobs need {jobs} systems, and {} is one",
            self.way.show()
        ))
        .hint(format!(
            "have ioco start the systems ([sut] start with {PORT}), or write {JOB} into the address: it stands for \
             the number of the job"
        )))
    }
}

impl Transport {
    /// With `{job}` filled in.
    pub(super) fn with_job(&self, job: usize) -> Transport {
        let fill = |text: &String| text.replace(JOB, &job.to_string());
        match self {
            Transport::Command(words) => Transport::Command(words.iter().map(fill).collect()),
            Transport::Shell(line) => Transport::Shell(fill(line)),
            Transport::Tcp(address) => Transport::Tcp(fill(address)),
            Transport::TcpListen(address) => Transport::TcpListen(fill(address)),
            Transport::TcpChannels(channels) => {
                let filled = channels.iter().map(|(name, a)| (name.clone(), fill(a)));
                Transport::TcpChannels(filled.collect())
            }
            Transport::Amp(amp) => Transport::Amp(AmpWay {
                listen: fill(&amp.listen),
                ..amp.clone()
            }),
            Transport::Http(address) => Transport::Http(fill(address)),
            Transport::Simulated(seed) => Transport::Simulated(*seed),
            Transport::Started(start, way) => {
                let start = Start {
                    command: fill(&start.command),
                    before: start.before.as_ref().map(fill),
                    after: start.after.as_ref().map(fill),
                    ready_log: start.ready_log.as_ref().map(fill),
                    fresh: start.fresh,
                };
                Transport::Started(start, Box::new(way.with_job(job)))
            }
        }
    }

    fn is_own_for_each_job(&self) -> bool {
        match self {
            Transport::Command(_) | Transport::Shell(_) | Transport::Simulated(_) => true,
            Transport::Started(_, way) => way.mentions_port() || way.is_own_for_each_job(),
            Transport::Tcp(_)
            | Transport::TcpListen(_)
            | Transport::TcpChannels(_)
            | Transport::Amp(_)
            | Transport::Http(_) => self.with_job(1) != self.with_job(2),
        }
    }
}
