//! `ioco store`: the store of runs itself.

use crate::exit::{Answer, Exit};
use ioco_campaign::{history, trust};

use crate::args::{self, StoreCommand};
use crate::typed;
use crate::watch::ErrorsOnly;

pub fn run(arguments: &args::Store) -> Answer {
    let mut project = typed::project_here()?;
    arguments.store.apply(&mut project);
    trust::store(&mut project, &mut ErrorsOnly)?;
    match arguments.command {
        StoreCommand::Migrate => {
            let place = history::place(&project)?;
            let changed = history::migrate(&project)?;
            let done = if changed {
                "is up to date now"
            } else {
                "is already up to date"
            };
            say!("the store {} {done}", place.show());
        }
    }
    Ok(Exit::Conforms)
}
