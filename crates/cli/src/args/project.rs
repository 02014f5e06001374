//! Arguments of the commands about a project as a whole, and about the program itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LimitArguments, StoreArguments, SystemArguments};

#[derive(Debug, Args)]
pub struct New {
    /// The folder to create
    pub name: PathBuf,

    /// The language of the example system [default: Python without a library]
    #[arg(long, value_enum)]
    pub adapter: Option<AdapterLanguage>,

    /// Create labels and a first model from this OpenAPI description (JSON or YAML) instead
    #[arg(long, value_name = "FILE", conflicts_with = "adapter")]
    pub openapi: Option<PathBuf>,

    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AdapterLanguage {
    Python,
    Node,
    Rust,
}

impl AdapterLanguage {
    /// What runs it.
    pub fn program(self) -> &'static str {
        match self {
            AdapterLanguage::Python => "python3",
            AdapterLanguage::Node => "node",
            AdapterLanguage::Rust => "cargo",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    bash        ioco completions bash > ~/.local/share/bash-completion/completions/ioco\n  \
    zsh         ioco completions zsh > \"${fpath[1]}/_ioco\"\n  \
    fish        ioco completions fish > ~/.config/fish/completions/ioco.fish\n  \
    PowerShell  ioco completions powershell >> $PROFILE")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// The folder to write them to; created if it does not exist
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// A code such as D002 or A012 [default: list all codes]
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// A model file, or a folder with ioco.toml [default: the current folder]
    pub model: Option<PathBuf>,
    /// The port on this machine [default: any free port]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    #[command(flatten)]
    pub system: SystemArguments,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// Also open the page in the browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// A model file, or a folder with ioco.toml [default: the current folder]
    pub model: Option<PathBuf>,

    #[command(flatten)]
    pub system: SystemArguments,

    #[command(flatten)]
    pub store: StoreArguments,
}
