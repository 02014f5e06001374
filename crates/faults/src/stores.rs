//! Stores that misbehave: files that were cut or overwritten, servers that hang up, talk rubbish or say
//! nothing.

use std::fs;
use std::io::{self, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ioco_budget::Until;
use ioco_store::{NewRun, Place, Recording, Store};

use crate::fault::{Fault, Injector, Kind, Role};
use crate::peers::listen;
use crate::rules::Outcome;

/// A store with one run, damaged; then a run is added and everything is read. A file that is refused stays as it
/// is; one that is not refused has the new run in it.
pub fn damaged_file(fault: Fault, changed: &AtomicBool) -> io::Result<(Outcome, String)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("ioco.db");
    let other = |error: ioco_store::StoreError| io::Error::other(error.to_string());
    let place = Place::new(&path, None).map_err(other)?;
    drop(Recording::begin(&place, run()).map_err(other)?);
    let before = fs::read(&path)?;
    let mut bytes = before.clone();
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
    changed.store(bytes != before, Ordering::SeqCst);
    for left in ["ioco.db-wal", "ioco.db-shm"] {
        let _ = fs::remove_file(folder.path().join(left));
    }
    let begun = Recording::begin(&place, run()).and_then(|mut recording| {
        recording.flush()?;
        Ok(recording.run())
    });
    let number = match begun {
        Ok(number) => number,
        Err(error) if fs::read(&path)? == bytes => {
            return Ok((Outcome::Error, error.to_string()));
        }
        Err(error) => return Ok((Outcome::Fail, format!("refused and changed: {error}"))),
    };
    // SQLite keeps no checksums: where text was changed in text, nobody can see it. The new run is there all the
    // same, unless reading it meets the damage.
    let runs = Store::open(&place).and_then(|store| store.runs(None, 10));
    Ok(match runs {
        Ok(runs) if runs.iter().any(|run| run.id == number) => (Outcome::Pass, String::new()),
        Ok(runs) => (
            Outcome::Fail,
            format!("run {number} is not among {} runs", runs.len()),
        ),
        Err(error) => (Outcome::Error, error.to_string()),
    })
}

/// A database server that answers the greeting with rubbish, half of something, or nothing. The wait for it
/// ends when the time is up.
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
                injector.send(Role::Greeting, message, &mut &socket)?;
            }
        }
    })?;
    let url = format!("postgres://nobody@{}/nothing", server.address);
    let other = |error: ioco_store::StoreError| io::Error::other(error.to_string());
    let place = Place::new("ioco.db".as_ref(), Some(&url)).map_err(other)?;
    let deadline = Instant::now() + Duration::from_millis(200);
    let until = Until::forever(Instant::now).by(Some(deadline));
    Ok(match Recording::begin_until(&place, run(), until) {
        Ok(_) => (Outcome::Pass, String::new()),
        Err(error) => (Outcome::Error, error.to_string()),
    })
}

fn run() -> NewRun {
    NewRun::default()
}
