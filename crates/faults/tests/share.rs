//! A fixed share of the long run: every fault on every kind of connection.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ioco_adapters::{HttpMapping, HttpRelay, LineRelay, Relay};
use ioco_faults::cases::{ConnectionKind, play};
use ioco_faults::disks::{self, Disk};
use ioco_faults::fault::{Fault, Kind};
use ioco_faults::program::{self, Kills, Programs};
use ioco_faults::table::Table;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

fn peer() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ioco-bad-peer"))
}

#[test]
fn every_fault_on_every_connection_is_judged_rightly() {
    let cases: Vec<(ConnectionKind, Fault)> = ConnectionKind::ALL
        .into_iter()
        .flat_map(|way| Kind::ALL.into_iter().map(move |kind| (way, kind)))
        .flat_map(|(way, kind)| {
            [0, 1, 2, 4, 37].map(|at| {
                (
                    way,
                    Fault {
                        kind,
                        at,
                        seed: 77 * at as u64 + 5,
                    },
                )
            })
        })
        .collect();
    let table = std::sync::Mutex::new(Table::default());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((way, fault)) =
                    cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let played = play(*way, *fault, peer());
                    let mut table = table.lock().expect("a table");
                    table.add(*way, &format!("{fault:?}"), &played);
                }
            });
        }
    });
    let table = table.into_inner().expect("a table");
    println!("{}", table.show());
    assert_eq!(
        table.wrong(),
        0,
        "{:#?}\n{}",
        table.complaints,
        table.show()
    );
    assert!(table.faults() > 200, "{}", table.show());
    // Floods of 256 MiB each are not stored.
    if let Some(peak) = program::peak("self") {
        assert!(peak < 600 << 10, "{} MiB", peak >> 10);
    }
}

/// The programs to start; `None` where ioco is not built.
fn programs() -> Option<Programs> {
    let Some(ioco) = program::beside("ioco") else {
        eprintln!("skipped: the program ioco is not built here");
        return None;
    };
    let peer = peer().to_owned();
    Some(Programs { ioco, peer })
}

#[test]
fn a_killed_program_loses_nothing_and_leaves_nothing_behind() {
    let Some(programs) = programs() else { return };
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut kills = Kills::default();
    for _ in 0..8 {
        program::kill(&programs, &mut random, &mut kills).expect("played");
    }
    assert_eq!((kills.hung, kills.left, kills.lost), (0, 0, 0), "{kills:?}");
    // Otherwise nothing was there to be lost.
    assert!(kills.reported > 0, "{kills:?}");
}

#[test]
fn a_disk_that_refuses_hides_no_deviation_and_lets_no_run_pass_unkept() {
    let Some(programs) = programs() else { return };
    let mut disks = vec![Disk::Blocks(0), Disk::Blocks(30), Disk::Blocks(200)];
    if disks::can_mount() {
        disks.extend([
            Disk::Full(8),
            Disk::Full(100),
            Disk::ReadOnly,
            Disk::ReadOnlyEverywhere,
        ]);
    } else {
        eprintln!("skipped: file systems cannot be made here");
    }
    for disk in disks {
        let wrong = disks::play(&programs, disk).expect("played");
        assert_eq!(wrong, None);
    }
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let wrong = program::kill_peer(&programs, &mut random).expect("played");
    assert_eq!(wrong, None);
}

#[test]
fn a_recorder_that_is_stopped_while_it_calls_the_system_reports_no_error() {
    // A port where no program listens, and a client that waits.
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").to_string()
    };
    let sts = ioco_faults::model::ping(std::time::Duration::from_secs(1));
    let mapping: HttpMapping = serde_json::from_str(
        r#"{"stimuli": {"ping": {"path": "/ping"}}, "responses": {"pong": {"to": "ping"}}}"#,
    )
    .expect("a mapping");
    let base = format!("http://{nobody}");
    let lines = LineRelay::listen("127.0.0.1:0", &nobody, Arc::clone(&sts), None);
    let http = HttpRelay::listen("127.0.0.1:0", &base, sts, &mapping);
    let relays: [Box<dyn Relay>; 2] = [
        Box::new(lines.expect("a relay")),
        Box::new(http.expect("a relay")),
    ];
    for relay in relays {
        let address = relay.address();
        let _client = TcpStream::connect(address.trim_start_matches("http://")).expect("a client");
        let asked = AtomicU64::new(0);
        // Not before the client is there.
        let stop = || asked.fetch_add(1, Ordering::SeqCst) > 0;
        let served = relay.run(Some(1), &stop, &mut |_| Ok(()));
        assert_eq!(served.map_err(|error| error.message), Ok(0));
    }
}
