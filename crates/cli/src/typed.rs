//! What was typed for every command: what is trusted, and what may be read and listened on. It belongs to
//! this one run of the program, and only a person can say it: nothing here comes from a file.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::exit::CommandError;
use ioco_campaign::Project;

use crate::output;

/// Flags that every command has.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TypedArguments {
    /// Answer yes to questions of trust: a database that ioco.toml names, a command in an old failure
    /// file
    #[arg(long, global = true)]
    pub trust: bool,

    /// Listen on the network, or send a token there, without encryption
    #[arg(long, global = true)]
    pub insecure: bool,

    /// Let models include files from this folder outside the project (may be repeated)
    #[arg(long, value_name = "DIR", global = true)]
    pub allow_include: Vec<PathBuf>,
}

static TYPED: OnceLock<TypedArguments> = OnceLock::new();

/// Once, at the start.
pub fn remember(typed: TypedArguments) {
    let _ = TYPED.set(typed);
}

fn typed() -> TypedArguments {
    TYPED.get().cloned().unwrap_or_default()
}

/// Whether the person accepts a connection without encryption.
pub fn is_insecure() -> bool {
    typed().insecure
}

/// The project of what was typed as MODEL.
pub fn project(model: Option<&Path>, profile: Option<&str>) -> Result<Project, CommandError> {
    Ok(with_typed(Project::find(model, profile)?))
}

/// The project of the current folder.
pub fn project_here() -> Result<Project, CommandError> {
    Ok(with_typed(Project::here()?))
}

pub fn with_typed(project: Project) -> Project {
    let typed = typed();
    Project {
        allowed: typed.allow_include,
        insecure: typed.insecure,
        ..project
    }
}

/// Whether the person allows something: typed already, or asked now. Without a terminal nobody is
/// asked, and nothing allowed.
pub fn allow(question: &str) -> bool {
    if typed().trust {
        return true;
    }
    let input = std::io::stdin();
    if !input.is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    output::message(&format!("{question}\nallow this, now and later? [y/N] "));
    let mut answer = String::new();
    let read = input.lock().read_line(&mut answer).is_ok();
    read && matches!(answer.trim(), "y" | "Y" | "yes")
}
