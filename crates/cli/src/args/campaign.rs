//! Arguments of the commands for campaigns on many machines.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ioco_nats::Access;

use super::{ModelArguments, StoreArguments, SystemArguments, Test};

/// The NATS server, and the credentials for it.
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

    /// The client certificate
    #[arg(long, value_name = "FILE", requires = "nats_key")]
    pub nats_certificate: Option<PathBuf>,

    /// The key of the client certificate
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
    /// Resume a campaign whose coordinator has ended, from the store alone
    Resume(CampaignResume),
    /// List campaigns and workers
    Status(NatsArguments),
    /// Show the progress of a campaign, worker by worker, until it ends
    Watch {
        /// The name of the campaign, from `ioco campaign status` [default: all]
        campaign: Option<String>,

        #[command(flatten)]
        nats: NatsArguments,
    },
    /// List the campaigns of the store with their orders and outcomes
    Show {
        /// The name of the campaign [default: all]
        campaign: Option<String>,

        #[command(flatten)]
        store: StoreArguments,
    },
    /// Carry out one order of the store again, on the system that ioco.toml names here, and compare the outcomes
    Repeat {
        /// The name of the campaign, from `ioco campaign show`
        campaign: String,

        /// The number of the order; without confirming runs, order 17 is test 17
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        order: u64,

        #[command(flatten)]
        store: StoreArguments,
    },
    /// Stop a campaign and keep its results
    Stop {
        /// The name of the campaign, from `ioco campaign status`
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

    /// Give the test of a worker to another worker after this time without a heartbeat
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub lease: String,

    /// Keep orders and outcomes on this many servers of a NATS cluster; 3 tolerate the failure of one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub replicas: u8,

    /// The name of the campaign, part of the subjects of its messages [default: derived from the time]
    #[arg(long, value_name = "NAME")]
    pub campaign: Option<String>,

    /// Only workers with this label take part; can be repeated
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
}

#[derive(Debug, Args)]
pub struct CampaignResume {
    /// The name of the campaign, from `ioco campaign show`
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
    /// Listen on this port of the loopback address
    #[arg(long, value_name = "PORT", default_value_t = 4222)]
    pub port: u16,
}
