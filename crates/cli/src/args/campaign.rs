//! Arguments of the commands for campaigns on many machines.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ioco_nats::Access;

use super::{ModelArguments, StoreArguments, SystemArguments, Test};

/// Where the NATS server is, and how to prove who we are.
#[derive(Clone, Debug, Args)]
pub struct NatsArguments {
    /// The NATS server; tls://HOST:PORT encrypts; servers of one cluster are separated by commas
    #[arg(
        long = "nats",
        value_name = "URL",
        default_value = "nats://127.0.0.1:4222"
    )]
    pub url: String,

    /// A NATS credentials file
    #[arg(long, value_name = "FILE")]
    pub nats_credentials: Option<PathBuf>,

    /// The certificates of the authority that signed the server's certificate
    #[arg(long, value_name = "FILE")]
    pub nats_ca: Option<PathBuf>,

    /// Our own certificate
    #[arg(long, value_name = "FILE", requires = "nats_key")]
    pub nats_certificate: Option<PathBuf>,

    /// The key of our own certificate
    #[arg(long, value_name = "FILE", requires = "nats_certificate")]
    pub nats_key: Option<PathBuf>,
}

impl NatsArguments {
    pub fn access(&self) -> Access {
        let own = self.nats_certificate.clone().zip(self.nats_key.clone());
        Access {
            url: self.url.clone(),
            credentials: self.nats_credentials.clone(),
            ca: self.nats_ca.clone(),
            certificate: own,
            insecure: crate::typed::is_insecure(),
        }
    }
}

#[derive(Debug, Args)]
pub struct Campaign {
    #[command(subcommand)]
    pub command: CampaignCommand,
}

#[derive(Debug, Subcommand)]
pub enum CampaignCommand {
    /// Start a campaign: hand out tests to workers, and keep what they find
    Start(Box<CampaignStart>),
    /// Go on with a campaign whose coordinator is gone, from the store alone
    Resume(CampaignResume),
    /// List campaigns and workers
    Status(NatsArguments),
    /// Show how far a campaign is, worker by worker, until it is over
    Watch {
        /// The campaign, as `ioco campaign status` names it [default: all of them]
        campaign: Option<String>,

        #[command(flatten)]
        nats: NatsArguments,
    },
    /// Show what the store has of campaigns: orders, outcomes, and what is still open
    Show {
        /// The campaign [default: all of them]
        campaign: Option<String>,

        #[command(flatten)]
        store: StoreArguments,
    },
    /// Stop a campaign; it keeps its results
    Stop {
        /// The campaign, as `ioco campaign status` names it
        campaign: String,

        #[command(flatten)]
        nats: NatsArguments,
    },
}

#[derive(Debug, Args)]
pub struct CampaignStart {
    #[command(flatten)]
    pub test: Test,

    #[command(flatten)]
    pub nats: NatsArguments,

    /// A worker that says nothing about its test for this time loses it to another worker
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub lease: String,

    /// So many servers of a NATS cluster keep orders and outcomes: 3 can lose one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub replicas: u8,

    /// The name of the campaign; orders and outcomes have it in their subjects [default: made from the time]
    #[arg(long, value_name = "NAME")]
    pub campaign: Option<String>,

    /// Only workers with this label take part; can be repeated
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
}

#[derive(Debug, Args)]
pub struct CampaignResume {
    /// The campaign, as `ioco campaign show` names it
    pub campaign: String,

    #[command(flatten)]
    pub store: StoreArguments,

    #[command(flatten)]
    pub nats: NatsArguments,

    /// Replace a coordinator that is still running
    #[arg(long)]
    pub take_over: bool,

    /// Write a JUnit report of the whole run to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Worker {
    #[command(flatten)]
    pub model: ModelArguments,

    #[command(flatten)]
    pub system: SystemArguments,

    #[command(flatten)]
    pub nats: NatsArguments,

    /// Test this many systems side by side; {job} in commands and addresses is the number of the job
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,

    /// A label that campaigns can ask for; can be repeated
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,

    /// The name of this worker [default: the process and the machine]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct Nats {
    /// Listen at this port of this machine
    #[arg(long, value_name = "PORT", default_value_t = 4222)]
    pub port: u16,
}
