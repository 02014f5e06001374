//! A fixed share of the long run: every fault on every kind of connection.

use std::path::Path;

use ioco_faults::cases::{Way, play};
use ioco_faults::fault::{Fault, Kind};
use ioco_faults::program;
use ioco_faults::table::Table;

fn peer() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ioco-bad-peer"))
}

#[test]
fn every_fault_on_every_connection_is_judged_rightly() {
    let cases: Vec<(Way, Fault)> = Way::ALL
        .into_iter()
        .flat_map(|way| Kind::ALL.into_iter().map(move |kind| (way, kind)))
        .flat_map(|(way, kind)| {
            [0, 1, 2, 37].map(|at| {
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
