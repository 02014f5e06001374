//! `ioco record`: sits between a client and a system and writes their traffic as traces.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use crate::exit::{Answer, CommandError, Exit};
use ioco_adapters::{HttpRelay, LineRelay, Relay};
use ioco_campaign::connect::check_listening;

use crate::args;
use crate::{interrupt, model, output};

pub fn run(arguments: &args::Record) -> Answer {
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let (listen, to) = (&arguments.listen, &arguments.to);
    check_listening(listen, project.insecure)?;
    let sts = Arc::clone(&model.sts);
    let relay: Box<dyn Relay> = if to.contains("://") {
        let mapping = project.http.as_ref().ok_or_else(|| {
            CommandError::usage("the requests of the labels are missing")
                .hint("write [http] into ioco.toml, as for tests over HTTP")
        })?;
        Box::new(HttpRelay::listen(listen, to, sts, mapping)?)
    } else {
        let lines = project.lines.as_ref();
        let mapping = lines.map(|lines| lines.checked(&sts, &project.file()));
        let mapping = mapping.transpose()?;
        Box::new(LineRelay::listen(listen, to, sts, mapping.as_ref())?)
    };
    let path = &arguments.output;
    let mut file = File::create(path).map_err(|error| {
        CommandError::usage(format!("cannot write {}: {error}", path.display()))
    })?;
    let interrupt = interrupt::listen();
    say!(
        "recording between {} and {}; Ctrl-C ends it",
        relay.address(),
        arguments.to
    );
    let served = relay.run(arguments.clients, &|| interrupt.is_raised(), &mut |line| {
        // At once: a recording that breaks off is still one.
        writeln!(file, "{line}")?;
        file.flush()
    })?;
    say!("{} in {}", output::count(served, "client"), path.display());
    Ok(Exit::Conforms)
}
