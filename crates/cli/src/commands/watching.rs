//! `ioco test --watch`: tests, waits for a change of the model, ioco.toml or the system, and tests again. A change
//! during a run ends that run. A model with errors is shown and waited for; nothing is tested with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::exit::{Answer, Exit};
use ioco_campaign::watch::{Watched, model_files, system_files};
use ioco_campaign::{ConnectionSpec, Interrupt};

use crate::args::{self, Format};
use crate::output::{self, FAINT};
use crate::{interrupt, typed};

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(150);

pub fn run(arguments: &args::Test, format: Format) -> Answer {
    let person = interrupt::listen();
    loop {
        // Before anything is read: what changes from now on is not in the run.
        let watched = files(arguments);
        let answer = guarded(&person, &watched, |flag| {
            super::test::once(arguments, format, flag)
        });
        if let Err(stop) = &answer {
            output::stop(stop, format);
        }
        if !person.is_raised() && watched.changed().is_none() {
            say!(
                "{FAINT}waiting for a change in {} (Ctrl-C ends){FAINT:#}",
                watched.show()
            );
        }
        let changed = loop {
            if person.is_raised() {
                return Ok(Exit::Interrupted);
            }
            match watched.changed() {
                Some(path) => break path,
                None => thread::sleep(LOOK),
            }
        };
        let path = changed.strip_prefix(".").unwrap_or(&changed);
        say!("\n{FAINT}{} changed{FAINT:#}", path.display());
    }
}

/// What a run depends on, as far as it can be read.
fn files(arguments: &args::Test) -> Watched {
    let (model, profile) = (&arguments.model.model, &arguments.system.profile);
    let Ok(project) = typed::project(model.as_deref(), profile.as_deref()) else {
        // A wrong ioco.toml, here or in the folder that was typed: it has to change.
        let folder = model.clone().filter(|path| path.is_dir());
        return Watched::new([folder.unwrap_or_default().join(ioco_campaign::FILE_NAME)]);
    };
    let reach = ConnectionSpec::typed(&arguments.system.choice(), &project);
    let system = system_files(reach.ok().flatten().as_ref(), &project);
    Watched::new(model_files(&project).into_iter().chain(system))
}

/// Does work that a change of files interrupts, as the person does.
fn guarded<T>(person: &Interrupt, watched: &Watched, work: impl FnOnce(Interrupt) -> T) -> T {
    let flag = Interrupt::default();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let raised = flag.clone();
        scope.spawn(|| {
            let raised = raised;
            while !done.load(Ordering::Relaxed) {
                if person.is_raised() || watched.changed().is_some() {
                    raised.raise();
                    return;
                }
                thread::sleep(LOOK);
            }
        });
        let answer = work(flag);
        done.store(true, Ordering::Relaxed);
        answer
    })
}
