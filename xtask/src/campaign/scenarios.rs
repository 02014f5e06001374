//! What happens to campaigns. Each scenario ends with the check that orders, outcomes, coverage and failures add up.

use std::time::Duration;

use super::arena::{Arena, Campaign, Checked, Way};
use super::wire::{Echo, Proxy};
use super::world::{Nats, Network, Process, SmallDisk};
use crate::tools;

/// How much of everything.
#[derive(Clone, Copy)]
pub struct Amount {
    pub kills: u32,
    pub pauses: u32,
    pub cuts: u32,
    pub jumps: u32,
}

/// One line of the table.
pub struct Line {
    pub what: String,
    pub checked: Checked,
    pub campaigns: u32,
}

/// What became of a scenario.
pub enum Ending {
    Played(Line),
    /// This machine does not allow what it needs: nothing was checked.
    Skipped(String),
}

impl Line {
    fn of(what: impl Into<String>, checked: Checked) -> Ending {
        Ending::Played(Line {
            what: what.into(),
            checked,
            campaigns: 1,
        })
    }
}

pub type Scenario = fn(&mut Arena, Amount) -> Result<Ending, String>;

/// By the name that `--only` takes.
pub const SCENARIOS: [(&str, Scenario); 11] = [
    ("calm", calm),
    ("kills", kills),
    ("file", file),
    ("pauses", pauses),
    ("replaced", replaced),
    ("cuts", cuts),
    ("delays", delays),
    ("cluster", cluster),
    ("duplicates", duplicates),
    ("disk", disk),
    ("clocks", clocks),
];

const JOBS: usize = 2;

fn wait(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

fn server(arena: &Arena) -> Result<Nats, String> {
    let folder = arena.folder.join(format!("nats-{}", arena.campaigns));
    let mut nats = Nats::new(&arena.nats, &folder)?;
    nats.start()?;
    Ok(nats)
}

/// Nothing happens: the speed-up.
fn calm(arena: &mut Arena, _: Amount) -> Result<Ending, String> {
    let nats = server(arena)?;
    let _workers = arena.workers(&nats.url(), 4, JOBS)?;
    let campaign = Campaign::start(arena, &nats.url(), &[], Way::default())?;
    let checked = campaign.check(arena, Way::default())?;
    Ok(Line::of("nothing; 4 workers with 2 systems each", checked))
}

/// Small numbers that look random: the same ones every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Workers, coordinators and the server are killed, one every few hundred milliseconds, and started again.
fn kills(arena: &mut Arena, amount: Amount) -> Result<Ending, String> {
    let mut nats = server(arena)?;
    let url = nats.url();
    let mut dice = Dice(1);
    let mut killed = [0; 3];
    let mut total = Checked::default();
    let mut campaigns = 0;
    let mut workers = arena.workers(&url, 4, JOBS)?;
    while killed.iter().sum::<u32>() < amount.kills {
        let mut campaign = Campaign::start(arena, &url, &[], Way::default())?;
        while !campaign.tend(arena, Way::default())? && killed.iter().sum::<u32>() < amount.kills {
            wait(100 + dice.roll(500));
            match dice.roll(10) {
                0..=5 => {
                    let which = dice.roll(workers.len() as u64) as usize;
                    workers[which].kill();
                    workers[which] = arena.worker(&url, JOBS, Way::default())?;
                    killed[0] += 1;
                }
                6..=8 => {
                    if let Some(coordinator) = campaign.coordinator() {
                        coordinator.kill();
                        killed[1] += 1;
                    }
                }
                _ => {
                    nats.kill();
                    nats.start()?;
                    killed[2] += 1;
                }
            }
        }
        let checked = campaign.check(arena, Way::default())?;
        add(&mut total, &checked);
        campaigns += 1;
    }
    let [of_workers, of_coordinators, of_servers] = killed;
    Ok(Ending::Played(Line {
        what: format!(
            "{} kills: {of_workers} workers, {of_coordinators} coordinators, {of_servers} times NATS",
            killed.iter().sum::<u32>()
        ),
        checked: total,
        campaigns,
    }))
}

/// The store is a file, and coordinators are killed.
fn file(arena: &mut Arena, amount: Amount) -> Result<Ending, String> {
    let nats = server(arena)?;
    let _workers = arena.workers(&nats.url(), 4, JOBS)?;
    let mut campaign = Campaign::start_with_file(arena, &nats.url())?;
    let mut killed = 0;
    while killed < amount.pauses && !campaign.tend(arena, Way::default())? {
        wait(1500);
        if let Some(coordinator) = campaign.coordinator() {
            coordinator.kill();
            killed += 1;
        }
    }
    let checked = campaign.check_file(arena)?;
    let what = format!("{killed} coordinators killed, store in a file");
    Ok(Line::of(what, checked))
}

fn add(total: &mut Checked, one: &Checked) {
    let (sums, more) = (&mut total.sums, &one.sums);
    sums.orders += more.orders;
    sums.outcomes += more.outcomes;
    sums.withdrawn += more.withdrawn;
    sums.discarded += more.discarded;
    sums.losses += more.losses;
    sums.doubles += more.doubles;
    sums.tests += more.tests;
    sums.failed += more.failed;
    sums.switches = more.switches;
    sums.coordinators += more.coordinators;
    total.seconds += one.seconds;
}

/// Workers, the coordinator and the server stand still for longer than a lease, and go on.
fn pauses(arena: &mut Arena, amount: Amount) -> Result<Ending, String> {
    let mut nats = server(arena)?;
    let mut workers = arena.workers(&nats.url(), 4, JOBS)?;
    let mut campaign = Campaign::start(arena, &nats.url(), &[], Way::default())?;
    let mut paused = 0;
    campaign.until(arena, 5, Way::default())?;
    while paused < amount.pauses && !campaign.tend(arena, Way::default())? {
        let which = paused as usize;
        match which % 3 {
            0 => {
                let worker = which / 3 % workers.len();
                workers[worker].signal("-STOP");
                wait(3000);
                workers[worker].signal("-CONT");
            }
            1 => {
                if let Some(coordinator) = campaign.coordinator() {
                    coordinator.signal("-STOP");
                    wait(3000);
                    coordinator.signal("-CONT");
                }
            }
            _ => {
                nats.signal("-STOP");
                wait(3000);
                nats.signal("-CONT");
            }
        }
        paused += 1;
        wait(300);
    }
    let checked = campaign.check(arena, Way::default())?;
    let what = format!("{paused} pauses of 3 s (lease 2 s): worker, coordinator, NATS");
    Ok(Line::of(what, checked))
}

/// A coordinator is paused and replaced; when it goes on, it may not write.
fn replaced(arena: &mut Arena, amount: Amount) -> Result<Ending, String> {
    let nats = server(arena)?;
    let _workers = arena.workers(&nats.url(), 4, JOBS)?;
    let mut campaign = Campaign::start(arena, &nats.url(), &[], Way::default())?;
    let mut count = 0;
    while count < amount.pauses.min(5) && !campaign.tend(arena, Way::default())? {
        let so_far = arena.database.outcomes(&campaign.id);
        campaign.until(arena, so_far + 5, Way::default())?;
        if let Some(coordinator) = campaign.coordinator() {
            coordinator.signal("-STOP");
        }
        let before = campaign.resume(arena, Way::default())?;
        campaign.until(arena, so_far + 15, Way::default())?;
        if let Some(mut before) = before {
            before.signal("-CONT");
            await_end(&mut before, &campaign, arena)?;
        }
        count += 1;
    }
    let checked = campaign.check(arena, Way::default())?;
    let what = format!("{count} coordinators paused, replaced and woken");
    Ok(Line::of(what, checked))
}

/// A coordinator that was replaced says so and ends.
fn await_end(before: &mut Process, campaign: &Campaign, arena: &Arena) -> Result<(), String> {
    for _ in 0..600 {
        if let Some(status) = before.ended() {
            return match status.code() {
                Some(2) => Ok(()),
                _ => Err(format!(
                    "a coordinator that was replaced ended with {status}\n{}",
                    campaign.said(arena)
                )),
            };
        }
        wait(100);
    }
    Err(format!(
        "a coordinator that was replaced does not end\n{}",
        campaign.said(arena)
    ))
}

/// The lines to a worker and to the coordinator are cut for longer than a lease.
fn cuts(arena: &mut Arena, amount: Amount) -> Result<Ending, String> {
    let nats = server(arena)?;
    let networks = [Network::make(1), Network::make(2)];
    let [Some(one), Some(two)] = networks else {
        return cuts_by_proxy(arena, amount, &nats);
    };
    let inside = |network: &Network| format!("nats://{}:{}", network.address, nats.port);
    let (way_one, way_two) = (
        Way {
            network: Some(&one),
            ..Way::default()
        },
        Way {
            network: Some(&two),
            ..Way::default()
        },
    );
    let _far = arena.worker(&inside(&one), JOBS, way_one)?;
    let _near = arena.workers(&nats.url(), 2, JOBS)?;
    let mut campaign = Campaign::start_inside(arena, &inside(&two), way_two)?;
    let mut cut = 0;
    campaign.until(arena, 5, way_two)?;
    while cut < amount.cuts && !campaign.tend(arena, way_two)? {
        let network = if cut % 2 == 0 { &one } else { &two };
        network.cut(true);
        wait(4000);
        network.cut(false);
        wait(1000);
        cut += 1;
    }
    let checked = campaign.check(arena, way_two)?;
    let what = format!("{cut} cuts of 4 s between network namespaces: worker, coordinator");
    Ok(Line::of(what, checked))
}

/// The same where network namespaces are not allowed.
fn cuts_by_proxy(arena: &mut Arena, amount: Amount, nats: &Nats) -> Result<Ending, String> {
    let (one, two) = (Proxy::start(nats.port)?, Proxy::start(nats.port)?);
    let through = |proxy: &Proxy| format!("nats://127.0.0.1:{}", proxy.port);
    let _far = arena.worker(&through(&one), JOBS, Way::default())?;
    let _near = arena.workers(&nats.url(), 2, JOBS)?;
    let mut campaign = Campaign::start(arena, &through(&two), &[], Way::default())?;
    let mut cut = 0;
    campaign.until(arena, 5, Way::default())?;
    while cut < amount.cuts && !campaign.tend(arena, Way::default())? {
        let proxy = if cut % 2 == 0 { &one } else { &two };
        proxy.cut(true);
        wait(4000);
        proxy.cut(false);
        wait(1000);
        cut += 1;
    }
    let checked = campaign.check(arena, Way::default())?;
    let what = format!("{cut} cuts of 4 s by a proxy (no network namespaces here)");
    Ok(Line::of(what, checked))
}

/// Every message takes longer, and how long changes.
fn delays(arena: &mut Arena, _: Amount) -> Result<Ending, String> {
    let nats = server(arena)?;
    let (one, two) = (Proxy::start(nats.port)?, Proxy::start(nats.port)?);
    let through = |proxy: &Proxy| format!("nats://127.0.0.1:{}", proxy.port);
    one.delay(150);
    two.delay(50);
    let _far = arena.workers(&through(&one), 2, JOBS)?;
    let _near = arena.workers(&nats.url(), 1, JOBS)?;
    let mut campaign = Campaign::start(arena, &through(&two), &[], Way::default())?;
    campaign.until(arena, 10, Way::default())?;
    one.delay(800);
    campaign.until(arena, 20, Way::default())?;
    one.delay(20);
    let checked = campaign.check(arena, Way::default())?;
    let what = "delays of 50 to 800 ms each way, by a proxy";
    Ok(Line::of(what, checked))
}

/// Three servers keep every message; one after the other is lost and comes back.
fn cluster(arena: &mut Arena, _: Amount) -> Result<Ending, String> {
    let folder = arena.folder.join(format!("cluster-{}", arena.campaigns));
    let mut servers = Nats::cluster(&arena.nats, &folder, 3)?;
    let urls: Vec<String> = servers.iter().map(Nats::url).collect();
    let urls = urls.join(",");
    let _workers = arena.workers(&urls, 4, JOBS)?;
    let mut campaign = Campaign::start(arena, &urls, &["--replicas", "3"], Way::default())?;
    let mut lost = 0;
    campaign.until(arena, 5, Way::default())?;
    for server in &mut servers {
        if campaign.tend(arena, Way::default())? {
            break;
        }
        server.kill();
        let so_far = arena.database.outcomes(&campaign.id);
        campaign.until(arena, so_far + 10, Way::default())?;
        server.start()?;
        lost += 1;
        // The one that came back catches up before the next goes.
        wait(4000);
    }
    let checked = campaign.check(arena, Way::default())?;
    let what = format!("a cluster of three that loses one, {lost} times");
    Ok(Line::of(what, checked))
}

/// Every order and every outcome is published three times.
fn duplicates(arena: &mut Arena, _: Amount) -> Result<Ending, String> {
    let nats = server(arena)?;
    let _workers = arena.workers(&nats.url(), 4, JOBS)?;
    let echo = Echo::start(nats.port)?;
    let campaign = Campaign::start(arena, &nats.url(), &[], Way::default())?;
    let checked = campaign.check(arena, Way::default())?;
    let more = echo.published.load(std::sync::atomic::Ordering::Relaxed);
    if checked.sums.discarded == 0 {
        return Err("nothing was delivered twice".to_owned());
    }
    let what = format!("every message three times: {more} more");
    Ok(Line::of(what, checked))
}

/// The server's disk is full for a while.
fn disk(arena: &mut Arena, _: Amount) -> Result<Ending, String> {
    let folder = arena.folder.join(format!("nats-{}", arena.campaigns));
    let mut nats = Nats::new(&arena.nats, &folder)?;
    let Some(disk) = SmallDisk::mount(&folder.join("small"), 24) else {
        let why = "this user may not mount a small disk";
        return Ok(Ending::Skipped(why.to_owned()));
    };
    nats.data = disk.0.join("data");
    nats.start()?;
    let _workers = arena.workers(&nats.url(), 4, JOBS)?;
    let mut campaign = Campaign::start(arena, &nats.url(), &[], Way::default())?;
    campaign.until(arena, 10, Way::default())?;
    disk.fill();
    wait(5000);
    disk.empty();
    // A server whose disk was full stops keeping messages until it is started again.
    let is_disabled = nats.said().contains("JetStream");
    nats.kill();
    nats.start()?;
    let checked = campaign.check(arena, Way::default())?;
    nats.kill();
    let what = match is_disabled {
        true => "a full disk at the server for 5 s, then a restart",
        false => "a full disk at the server for 5 s (not noticed), then a restart",
    };
    Ok(Line::of(what, checked))
}

/// The clocks of the coordinator and of a worker jump by a day, forwards and backwards. That of nats-server cannot be
/// moved alone: it asks the kernel, not the C library.
fn clocks(arena: &mut Arena, amount: Amount) -> Result<Ending, String> {
    let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    if !std::path::Path::new(library).exists() && !tools::apt_install("libfaketime") {
        let why = "libfaketime is not here and cannot be installed";
        return Ok(Ending::Skipped(why.to_owned()));
    }
    let clock = arena.folder.join("clock");
    let jump = |to: &str| std::fs::write(&clock, format!("{to}\n")).map_err(|e| e.to_string());
    jump("+0")?;
    let variables: Vec<(String, String)> = [
        ("LD_PRELOAD", library),
        ("FAKETIME_TIMESTAMP_FILE", &clock.display().to_string()),
        ("FAKETIME_NO_CACHE", "1"),
        // A jump of the clock on the wall leaves the monotonic one alone.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let way = Way {
        variables: &variables,
        ..Way::default()
    };
    let nats = server(arena)?;
    let _moved = arena.worker(&nats.url(), JOBS, way)?;
    let _right = arena.workers(&nats.url(), 2, JOBS)?;
    let mut campaign = Campaign::start(arena, &nats.url(), &[], way)?;
    let mut jumps = 0;
    campaign.until(arena, 5, way)?;
    while jumps < amount.jumps && !campaign.tend(arena, way)? {
        jump(["+86400", "-86400", "+3600", "+0"][jumps as usize % 4])?;
        jumps += 1;
        if jumps % 3 == 0
            && let Some(coordinator) = campaign.coordinator()
        {
            coordinator.kill();
        }
        wait(700);
    }
    let checked = campaign.check(arena, way)?;
    let what = format!("{jumps} clock jumps of up to a day: coordinator and a worker");
    Ok(Line::of(what, checked))
}
