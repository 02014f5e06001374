//! `ioco explore`: walk the model by hand, on the whole screen where the terminal allows, line by
//! line otherwise.

mod screen;
mod walk;

use std::io::{self, BufRead, IsTerminal};
use std::sync::Arc;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::SemanticsOptions;
use ioco_sts::Relation;

use crate::args;
use crate::watch::ErrorsOnly;
use crate::{model, output};
use walk::{Reply, Walk};

pub fn run(arguments: &args::Explore) -> Answer {
    let project = crate::typed::project(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let mut meaning = SemanticsOptions::of_project(&project, None, &mut ErrorsOnly)?;
    match arguments.relation {
        Some(args::Relation::Ioco) => meaning.relation = Relation::Ioco,
        Some(args::Relation::Uioco) => meaning.relation = Relation::Uioco,
        None => {}
    }
    let semantics = meaning.semantics(&model.sts)?;
    let walk = Walk::new(Arc::clone(&model.sts), semantics, arguments.seed);
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if terminal && !dumb && !arguments.lines {
        let io_error = |error: io::Error| {
            CommandError::usage(format!("cannot use the terminal: {error}")).hint("try --lines")
        };
        screen::run(walk).map_err(io_error)?;
    } else {
        by_line(walk, terminal);
    }
    Ok(Exit::Conforms)
}

fn by_line(mut walk: Walk, terminal: bool) {
    output::print(&walk.show());
    let mut lines = io::stdin().lock().lines();
    loop {
        if terminal {
            output::print("> ");
        }
        let Some(Ok(line)) = lines.next() else { break };
        match walk.command(line.trim()) {
            Reply::Quit => break,
            Reply::Say(text) => output::print(&text),
            Reply::Moved => output::print(&walk.show()),
        }
    }
}
