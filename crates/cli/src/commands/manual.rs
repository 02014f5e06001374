//! `ioco completions` and `ioco man`: what shells and manual readers want to know of the commands.

use std::fs;

use crate::args;
use crate::exit::{Answer, CommandError, Exit};
use crate::{help, output};

pub fn completions(arguments: &args::Completions) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut help::command(), "ioco", &mut script);
    output::data(&String::from_utf8_lossy(&script));
    Ok(Exit::Conforms)
}

pub fn man(arguments: &args::Man) -> Answer {
    let folder = &arguments.folder;
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(help::command(), folder));
    written.map_err(|error| {
        CommandError::usage(format!("cannot write to {}: {error}", folder.display()))
    })?;
    say!(
        "written: {}/ioco.1 and a page of each command",
        folder.display()
    );
    Ok(Exit::Conforms)
}
