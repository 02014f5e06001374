//! What campaigns test here: rooms with doors, one of them broken. The system waits before it answers, so that many of
//! them fit on a few cores, and does the same for the same stimuli, so that what workers find is what one machine finds.

use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const ROOMS: usize = 40;
const DOORS: usize = 4;
/// The door that is broken, in its room.
const BROKEN: (usize, usize) = (29, 2);

/// From room `r`, door `d` leads to room `(4r + d + 1) mod ROOMS`.
fn next(room: usize, door: usize) -> usize {
    (room * DOORS + door + 1) % ROOMS
}

/// The model, in the format of Aldebaran.
pub fn model() -> String {
    let mut edges = String::new();
    let (mut between, mut count) = (ROOMS, 0);
    for room in 0..ROOMS {
        for door in 0..DOORS {
            let next = next(room, door);
            let _ = writeln!(edges, "({room},\"?door{door}\",{between})");
            let _ = writeln!(edges, "({between},\"!done\",{next})");
            between += 1;
            count += 2;
        }
    }
    format!("des (0,{count},{between})\n{edges}")
}

/// The system's command, as a list for `ioco.toml`.
pub fn command(milliseconds: u64) -> Result<String, String> {
    let program = crate::tools::own_program()?;
    Ok(format!(
        "[{:?}, \"rooms\", \"{milliseconds}\"]",
        program.display().to_string()
    ))
}

/// A project that tests it.
pub fn project(folder: &Path, milliseconds: u64, steps: u64) -> Result<(), String> {
    let text = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(text)?;
    std::fs::write(folder.join("rooms.aut"), model()).map_err(text)?;
    let settings = format!(
        "model = \"rooms.aut\"\n\n[test]\nseed = 7\nstrategy = \"random\"\nsteps = {steps}\nfailures = 0\n\
         # A busy machine must not look like a missing response; the system says when it is silent.\n\
         timeout = \"5s\"\n\n[sut]\nsilent_once_answered = true\ncommand = {}\n",
        command(milliseconds)?
    );
    std::fs::write(folder.join("ioco.toml"), settings).map_err(text)
}

/// `xtask rooms MILLISECONDS`: the system, over the line protocol.
pub fn play(arguments: &[String]) -> ExitCode {
    let wait = arguments.first().and_then(|word| word.parse().ok());
    match answer(Duration::from_millis(wait.unwrap_or(0))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer(wait: Duration) -> std::io::Result<()> {
    let mut room = 0;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let message: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        let name = message["stimulus"].as_str().unwrap_or_default();
        let door = name.strip_prefix("door").and_then(|door| door.parse().ok());
        let answer = match door {
            Some(door) => {
                std::thread::sleep(wait);
                let is_stuck = (room, door) == BROKEN;
                room = next(room, door);
                match is_stuck {
                    true => "{\"response\":\"stuck\"}",
                    false => "{\"response\":\"done\"}",
                }
            }
            None => {
                room = 0;
                "{\"ready\":true,\"quiescent\":true}"
            }
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BROKEN, DOORS, ROOMS, model, next};

    #[test]
    fn every_room_can_be_reached() {
        let mut seen = vec![0];
        let mut at = 0;
        while at < seen.len() {
            for door in 0..DOORS {
                let next = next(seen[at], door);
                if !seen.contains(&next) {
                    seen.push(next);
                }
            }
            at += 1;
        }
        assert_eq!(seen.len(), ROOMS);
        assert!(BROKEN.0 < ROOMS && BROKEN.1 < DOORS);
        assert_eq!(model().lines().count(), 1 + 2 * ROOMS * DOORS);
    }
}
