//! `ioco campaign`: tests on many machines, through a NATS server.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ioco_budget::Until;
use ioco_campaign::work::Outcome;
use ioco_campaign::work::{Doing, WORK_VERSION};
use ioco_campaign::{
    Campaign, Difference, ExecutorKind, Interrupted, KeptOrder, Project, history, shown_end, time,
    trust,
};
use ioco_nats::{Announced, Bus, NatsExecutor, Present, Queues, State, is_name};
use ioco_outside::Untrusted;
use serde::Serialize;

use super::test;
use crate::args::{self, CampaignCommand, Format};
use crate::exit::{Answer, CommandError, Exit};
use crate::watch::{ErrorsOnly, Terminal};
use crate::{interrupt, output, typed};

/// How often `watch` looks.
const LOOK: Duration = Duration::from_millis(500);

pub fn run(arguments: &args::Campaign, format: Format) -> Answer {
    match &arguments.command {
        CampaignCommand::Start(start) => begin(start, format),
        CampaignCommand::Resume(resume) => go_on(resume, format),
        CampaignCommand::Status(nats) => status(nats, format),
        CampaignCommand::Watch { campaign, nats } => watch(campaign.as_deref(), nats, format),
        CampaignCommand::Show { campaign, store } => show(campaign.as_deref(), store, format),
        CampaignCommand::Repeat {
            campaign,
            order,
            store,
        } => repeat(campaign, *order, store, format),
        CampaignCommand::Stop { campaign, nats } => stop(campaign, nats),
    }
}

/// How the server is to keep orders.
fn queues(arguments: &args::CampaignStart) -> Result<Queues, CommandError> {
    let lease = Duration::from_nanos(time::parse(&arguments.lease)?);
    if lease < Duration::from_secs(2) {
        return Err(CommandError::usage("a lease is at least 2s")
            .hint("workers say twice a second that they still work"));
    }
    Ok(Queues {
        lease: u64::try_from(lease.as_millis()).unwrap_or(u64::MAX),
        replicas: usize::from(arguments.replicas),
        labels: arguments.labels.clone(),
    })
}

fn bus(
    campaign: &str,
    nats: &args::NatsArguments,
    queues: &Queues,
    until: Until,
) -> Result<Bus, CommandError> {
    let name = format!("ioco campaign {campaign}");
    Ok(Bus::open_until(
        &nats.access(),
        &name,
        queues.replicas,
        until,
    )?)
}

fn begin(arguments: &args::CampaignStart, format: Format) -> Answer {
    let queues = queues(arguments)?;
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
    let campaign = arguments.campaign.clone().unwrap_or_else(new_name);
    if !is_name(&campaign) {
        return Err(CommandError::usage(format!(
            "'{campaign}' is not a valid name for a campaign"
        ))
        .hint("use at most 100 letters, digits, - and _"));
    }
    let announced = Announced {
        version: WORK_VERSION,
        campaign: campaign.clone(),
        model: plan.model.hash.clone(),
        name: plan.model.sts.name().to_owned(),
        system: plan.reach.name.clone(),
        ..Announced::default()
    };
    let interrupt = interrupt::listen();
    let until = Until::raised(Instant::now, &interrupt).by(end);
    let bus = bus(&campaign, &arguments.nats, &queues, until)?;
    if bus.campaign(&campaign)?.is_some() {
        // What is left of it at the server would be taken for this one's.
        return Err(
            CommandError::usage(format!("the server has a campaign {campaign} already"))
                .hint("choose another name, or resume it: ioco campaign resume"),
        );
    }
    let executor = NatsExecutor::open(bus, announced, queues, interrupt.clone());
    if format == Format::Text {
        say!("campaign {campaign}: waiting for workers (ioco worker --nats URL)");
    }
    let mut terminal = Terminal::new(format);
    let hands = ExecutorKind::Executor(campaign, Box::new(executor));
    let opened = Campaign::open_with(plan, hands, interrupt, &mut terminal)?;
    test::carry_out(opened, terminal, arguments.test.junit.as_deref(), format)
}

/// The project of this folder, with the store that was typed.
fn project(store: &args::StoreArguments) -> Result<Project, CommandError> {
    let mut project = typed::project_here()?;
    store.apply(&mut project);
    trust::store(&mut project, &mut ErrorsOnly)?;
    Ok(project)
}

fn go_on(arguments: &args::CampaignResume, format: Format) -> Answer {
    let campaign = arguments.campaign.clone();
    let interrupted = Interrupted::find(project(&arguments.store)?, &campaign)?;
    let queues = Queues::read(interrupted.executor())?;
    let announced = Announced {
        version: WORK_VERSION,
        campaign: campaign.clone(),
        model: interrupted.model.hash.clone(),
        name: interrupted.model.sts.name().to_owned(),
        system: interrupted.system.clone(),
        ..Announced::default()
    };
    let interrupt = interrupt::listen();
    let until = Until::raised(Instant::now, &interrupt).by(interrupted.over_at()?);
    let bus = bus(&campaign, &arguments.nats, &queues, until)?;
    if !arguments.take_over && bus.is_led(&campaign)? {
        return Err(CommandError::usage(format!(
            "the coordinator of campaign {campaign} is running"
        ))
        .hint("--take-over replaces it"));
    }
    let executor = NatsExecutor::open(bus, announced, queues, interrupt.clone());
    let mut terminal = Terminal::new(format);
    let hands = ExecutorKind::Executor(campaign.clone(), Box::new(executor));
    let resumed = Campaign::resume(interrupted, hands, interrupt, &mut terminal)?;
    if format == Format::Text {
        say!("campaign {campaign} continues");
    }
    test::carry_out(resumed, terminal, arguments.junit.as_deref(), format)
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
        output::print(&line(campaign));
    }
    for worker in &workers {
        output::print(&format!(
            "worker {}  {}, reaches {}, model {}\n",
            shown(&worker.worker),
            output::count(worker.jobs as u64, "job"),
            worker.system,
            shown(&worker.model)
        ));
    }
    if campaigns.is_empty() && workers.is_empty() {
        say!("no campaigns and no workers");
    }
    Ok(Exit::Conforms)
}

fn line(campaign: &Announced) -> String {
    let state = match campaign.state {
        State::Running => "running",
        State::Stopping => "stopping",
        State::Done => "done",
    };
    format!(
        "{:<22}  {state:<8}  {} against {}  {} orders, {} outcomes\n",
        shown(&campaign.campaign),
        shown(&campaign.name),
        campaign.system,
        campaign.orders,
        campaign.outcomes
    )
}

fn watch(wanted: Option<&str>, nats: &args::NatsArguments, format: Format) -> Answer {
    let interrupt = interrupt::listen();
    let bus = Bus::open(&nats.access(), "ioco campaign watch", &interrupt)?;
    let mut last = String::new();
    while !interrupt.is_raised() {
        let mut campaigns = bus.campaigns()?;
        match wanted {
            Some(id) => campaigns.retain(|campaign| campaign.campaign == id),
            None => campaigns.retain(|campaign| campaign.state != State::Done),
        }
        if let (Some(id), true) = (wanted, campaigns.is_empty()) {
            return Err(CommandError::usage(format!("there is no campaign {id}"))
                .hint("ioco campaign status lists them"));
        }
        let workers = bus.workers()?;
        let text = match format {
            Format::Json => format!(
                "{}\n",
                serde_json::json!({ "campaigns": campaigns, "workers": workers })
            ),
            _ => picture(&campaigns, &workers),
        };
        if text != last {
            output::print(&text);
            last = text;
        }
        if wanted.is_some() && campaigns.iter().all(|c| c.state == State::Done) {
            return Ok(Exit::Conforms);
        }
        std::thread::sleep(LOOK);
    }
    Ok(Exit::Interrupted)
}

/// Campaigns, and what each worker did for them.
fn picture(campaigns: &[Announced], workers: &[Present]) -> String {
    let mut text = String::new();
    for campaign in campaigns {
        text.push_str(&line(campaign));
        for (worker, outcomes) in &campaign.workers {
            let here = workers.iter().find(|present| present.worker == *worker);
            let state = match here {
                Some(present) => output::count(present.jobs as u64, "job"),
                None => "gone".to_owned(),
            };
            let outcomes = output::count(*outcomes, "outcome");
            text.push_str(&format!("    {}  {state}  {outcomes}", shown(worker)));
            for doing in campaign.doing.iter().filter(|now| now.worker == *worker) {
                text.push_str(&format!("  {}", now(doing)));
            }
            text.push('\n');
        }
        // Those that have not brought anything yet.
        let is_new = |doing: &&Doing| !campaign.workers.contains_key(&doing.worker);
        for doing in campaign.doing.iter().filter(is_new) {
            text.push_str(&format!("    {}  {}\n", shown(&doing.worker), now(doing)));
        }
    }
    text
}

/// What a job of a worker does.
fn now(doing: &Doing) -> String {
    match doing.test {
        0 => "confirms a failure".to_owned(),
        test => format!("test {test}, step {}", doing.steps),
    }
}

fn show(wanted: Option<&str>, store: &args::StoreArguments, format: Format) -> Answer {
    let project = project(store)?;
    let store = history::open(&project)?;
    let mut campaigns = match &store {
        Some(store) => store.campaigns().map_err(history::stop)?,
        None => Vec::new(),
    };
    if let Some(id) = wanted {
        campaigns.retain(|campaign| campaign.id == id);
        if campaigns.is_empty() {
            return Err(CommandError::usage(format!(
                "the store has no campaign {id}"
            )));
        }
    }
    if campaigns.is_empty() {
        say!("the store has no campaigns");
    }
    for (store, campaign) in store
        .iter()
        .flat_map(|s| campaigns.iter().map(move |c| (s, c)))
    {
        let tally = store.tally(&campaign.id).map_err(history::stop)?;
        // Nanoseconds of its time.
        let (began, last) = store.clock(campaign.run).map_err(history::stop)?;
        let used = last.saturating_sub(began);
        if format == Format::Json {
            output::json(&serde_json::json!({
                "campaign": campaign.id,
                "run": campaign.run,
                "coordinators": campaign.coordinators,
                "finished": campaign.finished,
                "used": used,
                "tally": tally,
            }))?;
            continue;
        }
        let end = if campaign.finished {
            "over"
        } else {
            "not over"
        };
        output::print(&format!(
            "{:<22}  run {}  {end}  {} orders: {} outcomes, {} withdrawn, {} open; {} discarded\n",
            shown(&campaign.id),
            campaign.run,
            tally.orders,
            tally.outcomes,
            tally.withdrawn,
            tally.open,
            tally.discarded
        ));
        for (worker, outcomes) in &tally.workers {
            let outcomes = output::count(*outcomes, "outcome");
            output::print(&format!("    {}  {outcomes}\n", shown(worker)));
        }
    }
    Ok(Exit::Conforms)
}

/// What `ioco campaign repeat --format json` prints.
#[derive(Serialize)]
struct RepeatReport<'a> {
    campaign: &'a str,
    order: u64,
    /// `same` or `different`.
    result: &'static str,
    before: &'a Outcome,
    now: &'a Outcome,
    difference: Option<Difference>,
}

fn repeat(id: &str, order: u64, store: &args::StoreArguments, format: Format) -> Answer {
    let kept = KeptOrder::find(&project(store)?, id, order)?;
    let here = match kept.profile() {
        Some(profile) => typed::project(None, Some(profile))?,
        None => typed::project_here()?,
    };
    let repeated = kept.repeat(here, interrupt::listen(), &mut ErrorsOnly)?;
    let Some(repeated) = repeated else {
        return Ok(Exit::Interrupted);
    };
    let (before, now) = (&repeated.before, &repeated.now);
    let exit = match (&now.error, &repeated.difference) {
        (Some(_), _) => Exit::System,
        (None, Some(_)) => Exit::Deviation,
        (None, None) => Exit::Conforms,
    };
    let result = match repeated.difference {
        Some(_) => "different",
        None => "same",
    };
    if format == Format::Json {
        output::json(&RepeatReport {
            campaign: id,
            order,
            result,
            before,
            now,
            difference: repeated.difference,
        })?;
        return Ok(exit);
    }
    match &repeated.difference {
        None => output::print(&format!(
            "order {order}: same outcome: {}, {}\n",
            output::count(now.steps.len() as u64, "step"),
            Untrusted::new(shown_end(&now.end))
        )),
        Some(different) => output::print(&format!(
            "order {order}: different from step {}\n  before  {}\n  now     {}\n",
            different.step,
            Untrusted::new(&different.before),
            Untrusted::new(&different.now)
        )),
    }
    if let Some(error) = &now.error {
        say!("{}", Untrusted::new(&error.message));
    }
    Ok(exit)
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
