//! Stores that misbehave: files that were cut or overwritten, servers that hang up, talk rubbish or say
//! nothing.

use std::fs;
use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use ioco_store::{NewRun, Place, Recording, Store};

use crate::fault::{Fault, Injector, Kind};
use crate::peers::listen;
use crate::rules::Outcome;

/// A store with one run, damaged; then a run is added and everything is read. No error may be a panic.
pub fn damaged_file(fault: Fault) -> io::Result<(Outcome, String)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("ioco.db");
    let other = |error: ioco_store::StoreError| io::Error::other(error.to_string());
    let place = Place::new(&path, None).map_err(other)?;
    drop(Recording::begin(&place, run()).map_err(other)?);
    let mut bytes = fs::read(&path)?;
    let length = bytes.len();
    let at = (fault.seed as usize) % length;
    match fault.kind {
        Kind::Nothing | Kind::Delay | Kind::SlowLoris => {}
        Kind::Truncate | Kind::Close | Kind::HalfOpen => bytes.truncate(at),
        Kind::Drop => bytes.clear(),
        Kind::Duplicate | Kind::Reorder => bytes.rotate_left(at),
        Kind::Garbage | Kind::Flood => {
            let seed = fault.seed.to_le_bytes();
            for (index, byte) in bytes[at..].iter_mut().take(500).enumerate() {
                *byte = seed[index % 8].wrapping_add(index as u8);
            }
        }
    }
    fs::write(&path, &bytes)?;
    for left in ["ioco.db-wal", "ioco.db-shm"] {
        let _ = fs::remove_file(folder.path().join(left));
    }
    let used = || -> Result<(), ioco_store::StoreError> {
        let mut recording = Recording::begin(&place, run())?;
        recording.flush()?;
        drop(recording);
        let store = Store::open(&place)?;
        store.runs(None, 10)?;
        Ok(())
    };
    Ok(match used() {
        Ok(()) => (Outcome::Pass, String::new()),
        Err(error) => (Outcome::Error, error.to_string()),
    })
}

/// A database server that answers the greeting with rubbish, half of something, or nothing. The wait for it
/// ends when somebody wants to stop.
pub fn bad_server(injector: Injector) -> io::Result<(Outcome, String)> {
    let server = listen(move |socket| {
        let mut bytes = [0; 512];
        loop {
            if (&socket).read(&mut bytes)? == 0 {
                return Ok(());
            }
            // The refusal of TLS, a request for no password, and a server that is ready.
            for message in [
                &b"N"[..],
                b"R\0\0\0\x08\0\0\0\0",
                b"Z\0\0\0\x05I",
                b"C\0\0\0\x0dSELECT 1\0",
            ] {
                injector.send(message, &mut &socket)?;
            }
        }
    })?;
    let url = format!("postgres://nobody@{}/nothing", server.address);
    let other = |error: ioco_store::StoreError| io::Error::other(error.to_string());
    let place = Place::new("ioco.db".as_ref(), Some(&url)).map_err(other)?;
    let begun = Instant::now();
    let stop = || begun.elapsed() > Duration::from_millis(200);
    Ok(match Recording::begin_unless(&place, run(), &stop) {
        Ok(_) => (Outcome::Pass, String::new()),
        Err(error) => (Outcome::Error, error.to_string()),
    })
}

fn run() -> NewRun {
    NewRun::default()
}
