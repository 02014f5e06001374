//! `ioco worker`: carries out tests of campaigns on a system that its own configuration names.

use ioco_campaign::work::WorkerSetup;
use ioco_campaign::{ConnectionSpec, SolverChoice, trust};
use ioco_nats::{Bus, Report, is_name, serve};
use ioco_outside::Untrusted;

use crate::args;
use crate::exit::{Answer, CommandError, Exit};
use crate::watch::ErrorsOnly;
use crate::{interrupt, model, typed};

struct Said;

impl Report for Said {
    fn say(&self, message: &str) {
        // It quotes what others announce.
        say!("{}", Untrusted::new(message));
    }
}

pub fn run(arguments: &args::Worker) -> Answer {
    let project = typed::project(
        arguments.model.model.as_deref(),
        arguments.system.profile.as_deref(),
    )?;
    let choice = arguments.system.choice();
    let reach = ConnectionSpec::find(&choice, &project)?;
    if arguments.jobs == 0 {
        return Err(CommandError::usage("with 0 jobs, no test runs"));
    }
    reach.check_jobs(arguments.jobs)?;
    trust::first_use(&project, &choice, &mut ErrorsOnly)?;
    let name = arguments.name.clone().unwrap_or_else(own_name);
    if !is_name(&name) {
        return Err(
            CommandError::usage(format!("'{name}' is not a valid name for a worker"))
                .hint("use at most 100 letters, digits, - and _"),
        );
    }
    let interrupt = interrupt::listen();
    let setup = WorkerSetup {
        name,
        model: model::load(&arguments.model, &project)?,
        reach,
        solver: SolverChoice::named(project.test.solver.as_deref()),
        interrupt: interrupt.clone(),
        project,
    };
    let bus = Bus::open(
        &arguments.nats.access(),
        &format!("ioco worker {}", setup.name),
        &interrupt,
    )?;
    say!("worker {} waits for campaigns", setup.name);
    let (jobs, labels) = (arguments.jobs, &arguments.labels);
    let done = serve(&bus, &setup, jobs, labels, &interrupt, &Said)?;
    say!("worker {} carried out {done} orders", setup.name);
    Ok(Exit::Interrupted)
}

/// The process, and the machine where that has a plain name.
fn own_name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain: String = machine
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    format!("{plain}-{}", std::process::id())
}
