//! `ioco campaign`: tests on many machines, through a NATS server.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ioco_budget::Until;
use ioco_campaign::work::WORK_VERSION;
use ioco_campaign::{Campaign, Hands, time};
use ioco_nats::{Announced, Bus, NatsExecutor, State};
use ioco_outside::Untrusted;

use super::test;
use crate::args::{self, CampaignCommand, Format};
use crate::exit::{Answer, CommandError, Exit};
use crate::watch::Terminal;
use crate::{interrupt, output};

pub fn run(arguments: &args::Campaign, format: Format) -> Answer {
    match &arguments.command {
        CampaignCommand::Start(start) => begin(start, format),
        CampaignCommand::Status(nats) => status(nats, format),
        CampaignCommand::Stop { campaign, nats } => stop(campaign, nats),
    }
}

fn begin(arguments: &args::CampaignStart, format: Format) -> Answer {
    let lease = Duration::from_nanos(time::parse(&arguments.lease)?);
    if lease < Duration::from_secs(2) {
        return Err(CommandError::usage("a lease is at least 2s")
            .hint("workers say twice a second that they still work"));
    }
    if arguments.test.jobs != 1 {
        return Err(
            CommandError::usage("--jobs belongs to the workers of a campaign")
                .hint("use ioco worker --jobs N"),
        );
    }
    let begun = Instant::now();
    let plan = test::plan(&arguments.test)?;
    let end = match plan.test.time.as_deref().map(time::parse).transpose()? {
        Some(limit) => begun.checked_add(Duration::from_nanos(limit)),
        None => None,
    };
    let campaign = new_name();
    let announced = Announced {
        version: WORK_VERSION,
        campaign: campaign.clone(),
        model: plan.model.hash.clone(),
        name: plan.model.sts.name().to_owned(),
        system: plan.reach.name.clone(),
        state: State::Running,
        orders: 0,
        outcomes: 0,
    };
    let interrupt = interrupt::listen();
    let bus = Bus::open_until(
        &arguments.nats.access(),
        &format!("ioco campaign {campaign}"),
        Until::raised(Instant::now, &interrupt).by(end),
    )?;
    let executor = NatsExecutor::open(bus, announced, lease, interrupt.clone())?;
    if format == Format::Text {
        say!("campaign {campaign}: waiting for workers (ioco worker --nats URL)");
    }
    let mut terminal = Terminal::new(format);
    let hands = Hands::Executor(campaign, Box::new(executor));
    let opened = Campaign::open_with(plan, hands, interrupt, &mut terminal)?;
    test::carry_out(opened, terminal, &arguments.test, format)
}

/// Names sort by the time at which campaigns began.
fn new_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |time| time.as_secs());
    format!("{seconds}-{}", std::process::id())
}

/// Anybody at the server can announce anything.
fn shown(text: &str) -> Untrusted {
    Untrusted::new(text)
}

fn status(nats: &args::NatsArguments, format: Format) -> Answer {
    let bus = Bus::open(&nats.access(), "ioco campaign status", &interrupt::listen())?;
    let (campaigns, workers) = (bus.campaigns()?, bus.workers()?);
    if format == Format::Json {
        output::json(&serde_json::json!({ "campaigns": campaigns, "workers": workers }))?;
        return Ok(Exit::Conforms);
    }
    for campaign in &campaigns {
        let state = match campaign.state {
            State::Running => "running",
            State::Stopping => "stopping",
            State::Done => "done",
        };
        output::print(&format!(
            "{:<22}  {state:<8}  {} against {}  {} orders, {} outcomes\n",
            shown(&campaign.campaign),
            shown(&campaign.name),
            campaign.system,
            campaign.orders,
            campaign.outcomes
        ));
    }
    for worker in &workers {
        let plural = if worker.jobs == 1 { "" } else { "s" };
        output::print(&format!(
            "worker {}  {} job{plural}, reaches {}, model {}\n",
            shown(&worker.worker),
            worker.jobs,
            worker.system,
            shown(&worker.model)
        ));
    }
    if campaigns.is_empty() && workers.is_empty() {
        say!("no campaigns and no workers");
    }
    Ok(Exit::Conforms)
}

fn stop(campaign: &str, nats: &args::NatsArguments) -> Answer {
    let bus = Bus::open(&nats.access(), "ioco campaign stop", &interrupt::listen())?;
    if bus.ask_to_stop(campaign)? {
        output::print(&format!("{campaign} stops\n"));
        return Ok(Exit::Conforms);
    }
    Err(
        CommandError::usage(format!("no campaign {campaign} is running"))
            .hint("ioco campaign status lists them"),
    )
}
