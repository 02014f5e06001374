//! What may be run and connected to. Commands come from what the person typed or from the project's
//! own ioco.toml; everything else holds a name.
//!
//! * What the person types is trusted, and remembered in the [`Ledger`](crate::Ledger), so that a
//!   failure that it found can be replayed by its name.
//! * What ioco.toml starts is said once for a folder and these settings, and then used: whoever types
//!   `ioco test` in a folder asks for that, as with `make`.
//! * A database that ioco.toml names, a command in a failure file of an earlier version, and the
//!   ioco.toml of a folder that the person is not in, are asked about; without a terminal they are
//!   refused.

use std::path::{Component, Path, PathBuf};

use ioco_outside::Untrusted;
use ioco_store::Place;

use crate::connect::{ConnectionSpec, SystemChoice, Transport};
use crate::error::{CampaignError, Remedy};
use crate::observer::Observer;
use crate::project::{ChosenBy, Project};
use crate::system::{KeptSystem, SystemName, digest};

/// What ioco.toml runs or connects to, in words; empty where it says nothing of the kind.
fn uses(project: &Project) -> Result<Vec<String>, CampaignError> {
    let mut uses = Vec::new();
    if let Some(reach) = ConnectionSpec::typed(&SystemChoice::default(), project)? {
        let way = match &reach.way {
            Transport::Started(start, way) => {
                let commands = start.commands();
                uses.extend(
                    commands
                        .iter()
                        .map(|c| format!("starts: {}", Untrusted::new(*c))),
                );
                way
            }
            way => way,
        };
        let shown = Untrusted::new(way.show());
        uses.push(match way {
            Transport::Command(_) | Transport::Shell(_) => format!("starts: {shown}"),
            Transport::TcpListen(_) | Transport::Amp(_) => format!("waits for {shown}"),
            _ => format!("connects to {shown}"),
        });
    }
    uses.extend(solver_use(project));
    Ok(uses)
}

fn solver_use(project: &Project) -> Option<String> {
    match project.test.solver.as_deref() {
        None | Some("embedded") => None,
        Some(solver) => Some(format!("starts the solver: {}", Untrusted::new(solver))),
    }
}

fn commands_digest(uses: &[String]) -> String {
    let texts: Vec<&str> = uses.iter().map(String::as_str).collect();
    format!("commands:{}", digest(&texts))
}

/// Says what ioco.toml runs or connects to, the first time that it is used in this folder. `typed` is
/// what the person typed instead.
pub fn first_use(
    project: &Project,
    typed: &SystemChoice,
    observer: &mut dyn Observer,
) -> Result<(), CampaignError> {
    let uses = if typed.is_way() {
        Vec::from_iter(solver_use(project))
    } else {
        uses(project)?
    };
    announce(project, &uses, observer);
    Ok(())
}

/// Says which solver ioco.toml starts, the first time that it is used in this folder.
pub fn solver_first_use(project: &Project, observer: &mut dyn Observer) {
    announce(project, &Vec::from_iter(solver_use(project)), observer);
}

fn announce(project: &Project, uses: &[String], observer: &mut dyn Observer) {
    if uses.is_empty() {
        return;
    }
    let what = commands_digest(uses);
    if !project.ledger.trusts(&project.root, &what) {
        for line in uses {
            observer.notice(&format!(
                "{} {line}  (shown once for this folder)",
                project.file().display()
            ));
        }
        project.ledger.trust(&project.root, &what);
    }
}

/// Asks before the commands of a project are run that the person is not in.
fn commands_elsewhere(project: &Project, observer: &mut dyn Observer) -> Result<(), CampaignError> {
    let uses = uses(project)?;
    let what = commands_digest(&uses);
    if uses.is_empty() || project.ledger.trusts(&project.root, &what) {
        return Ok(());
    }
    let file = project.file();
    let question = format!("{} {}", file.display(), uses.join(", "));
    if !observer.allow(&question) {
        return Err(refused(&question));
    }
    project.ledger.trust(&project.root, &what);
    Ok(())
}

fn refused(what: &str) -> CampaignError {
    CampaignError::usage(format!("not trusted: {what}")).remedy(Remedy::TrustSystem)
}

fn store_digest(url: &str) -> String {
    format!("store:{}", digest(&[url]))
}

/// Whether the store of a project may be opened without asking.
pub fn may_open_store(project: &Project) -> bool {
    match (&project.store.url, project.store.chosen_by) {
        (None, _) | (Some(_), ChosenBy::Person | ChosenBy::Allowed) => true,
        (Some(url), ChosenBy::Project) => {
            let ledger = &project.ledger;
            ledger.trusts(&project.root, &store_digest(url))
        }
    }
}

/// Asks before a database is connected to that ioco.toml names.
pub fn store(project: &mut Project, observer: &mut dyn Observer) -> Result<(), CampaignError> {
    if may_open_store(project) {
        return Ok(());
    }
    let url = project.store.url.clone().unwrap_or_default();
    let question = store_question(project);
    if !observer.allow(&question) {
        return Err(store_refused(project));
    }
    project.ledger.trust(&project.root, &store_digest(&url));
    project.store.chosen_by = ChosenBy::Allowed;
    Ok(())
}

fn store_question(project: &Project) -> String {
    let url = project.store.url.as_deref().unwrap_or_default();
    let shown = Untrusted::new(Place::show_url(url));
    format!("{} keeps runs in {shown}", project.file().display())
}

/// Why the store of a project is not opened.
pub(crate) fn store_refused(project: &Project) -> CampaignError {
    CampaignError::usage(format!("not trusted: {}", store_question(project)))
        .remedy(Remedy::TrustStore)
}

/// Remembers what the person typed for a run, so that its failures can be replayed by name.
pub(crate) fn remember(project: &Project, reach: &ConnectionSpec, model: &Path) {
    if matches!(reach.name, SystemName::Typed(_)) {
        project.ledger.remember_system(&project.root, &reach.way);
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !model.components().all(plain) {
        project.ledger.remember_model(&project.root, model);
    }
}

/// How to reach the system that a failure file names. `here` is where the person is.
pub fn resolve(
    kept: &KeptSystem,
    project: &Project,
    here: &Path,
    observer: &mut dyn Observer,
) -> Result<ConnectionSpec, CampaignError> {
    let of_project =
        |observer: &mut dyn Observer| -> Result<Option<ConnectionSpec>, CampaignError> {
            let found = ConnectionSpec::typed(&SystemChoice::default(), project)?;
            let Some(mut reach) = found else {
                return Ok(None);
            };
            if is_same_path(&project.root, here) {
                first_use(project, &SystemChoice::default(), observer)?;
            } else {
                commands_elsewhere(project, observer)?;
            }
            reach.restart |= kept.restart;
            Ok(Some(reach))
        };
    let name = match (&kept.system, &kept.old) {
        (Some(name), _) => name.clone(),
        (None, Some(old)) => {
            // The project's own way to the system is trusted as such, wherever it is written again.
            let own = ConnectionSpec::typed(&SystemChoice::default(), project)?;
            match own {
                Some(own) if own.way == old.way => SystemName::Project,
                _ => return old_way(&old.way, old.restart, project, observer),
            }
        }
        (None, None) => {
            return Err(CampaignError::usage("the failure file names no system")
                .remedy(Remedy::ReachSystem));
        }
    };
    let undefined = || {
        CampaignError::usage(format!(
            "the failure was found with the system '{}', which {} does not define",
            Untrusted::of(&name),
            project.file().display()
        ))
        .remedy(Remedy::ReachSystemOrProfile)
    };
    match &name {
        SystemName::Simulated(seed) => {
            ConnectionSpec::of_way(Transport::Simulated(*seed), kept.restart, project)
        }
        SystemName::Project => of_project(observer)?.ok_or_else(undefined),
        SystemName::Profile(profile) => {
            if project.sut_profile.as_ref() != Some(profile) {
                return Err(undefined());
            }
            of_project(observer)?.ok_or_else(undefined)
        }
        SystemName::Typed(digest) => match project.ledger.system(&project.root, digest) {
            Some(way) => ConnectionSpec::of_way(way, kept.restart, project),
            None => Err(CampaignError::usage(format!(
                "another user gave the system of this failure on the command line ({name})"
            ))
            .remedy(Remedy::ReachSystem)),
        },
    }
}

/// A command or an address in a failure file of an earlier version.
fn old_way(
    way: &Transport,
    restart: bool,
    project: &Project,
    observer: &mut dyn Observer,
) -> Result<ConnectionSpec, CampaignError> {
    let reach = ConnectionSpec::of_way(way.clone(), restart, project)?;
    let is_known = match &reach.name {
        SystemName::Typed(digest) => project.ledger.system(&project.root, digest).is_some(),
        _ => true,
    };
    if !is_known {
        let shown = Untrusted::new(way.show());
        let question = match way {
            Transport::Command(_) | Transport::Shell(_) | Transport::Started(..) => {
                format!("the failure file starts: {shown}")
            }
            _ => format!("the failure file connects to {shown}"),
        };
        if !observer.allow(&question) {
            return Err(refused(&question));
        }
        project.ledger.remember_system(&project.root, way);
    }
    Ok(reach)
}

/// The model that a failure file names: in the folder of the failure, or one that the person typed.
pub fn model(
    named: &Path,
    project: &Project,
    observer: &mut dyn Observer,
) -> Result<PathBuf, CampaignError> {
    let place = project.root.join(named);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let real = place.canonicalize();
    let root = canonical(&project.root);
    let inside = named.components().all(plain)
        && match (&real, &root) {
            (Ok(real), Some(root)) => real.starts_with(root),
            // It is not there: the reader says so.
            _ => true,
        };
    let known = || project.ledger.knows_model(&project.root, named);
    if inside || known() {
        return Ok(place);
    }
    let question = format!(
        "the failure file reads the model {}, outside of the project",
        Untrusted::of(named.display())
    );
    if !observer.allow(&question) {
        return Err(
            CampaignError::usage(format!("not trusted: {question}")).remedy(Remedy::TrustModel)
        );
    }
    project.ledger.remember_model(&project.root, named);
    Ok(place)
}

fn canonical(path: &Path) -> Option<PathBuf> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    path.canonicalize().ok()
}

pub(crate) fn is_same_path(one: &Path, other: &Path) -> bool {
    canonical(one).is_some_and(|one| canonical(other) == Some(one))
}
