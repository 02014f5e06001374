//! `ioco adapters`: who connects, and what they announce.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::exit::{Answer, CommandError, Exit};
use ioco_adapters::{Hub, Presence};
use ioco_campaign::sections::amp::AmpWay;
use ioco_campaign::{ModelOptions, Project, time};
use ioco_outside::Untrusted;
use ioco_sts::Sts;
use serde::Serialize;

use crate::args::{self, Format};
use crate::interrupt;
use crate::output::{self, WARNING};
use crate::watch::ErrorsOnly;

/// What `--format json` prints.
#[derive(Serialize)]
struct Listed {
    listening: String,
    adapters: Vec<Presence>,
}

pub fn run(arguments: &args::Adapters, format: Format) -> Answer {
    let project = project(arguments)?;
    let options = ModelOptions {
        limits: arguments.limits.limits(),
        ..ModelOptions::default()
    };
    let model = model(&project, &options)?;
    let listen = arguments.amp.clone().or_else(|| project.sut.amp.clone());
    let listen = listen.ok_or_else(|| {
        CommandError::usage("the address to listen on is missing")
            .hint("use --amp PORT, or write [sut] amp = \"PORT\" into ioco.toml")
    })?;
    let way = AmpWay {
        listen,
        adapters: Vec::new(),
        configure: Vec::new(),
    };
    let wait = Duration::from_nanos(time::parse(&arguments.wait)?);
    let hub = Hub::listen(&way.hub(&project)?)?;
    let interrupt = interrupt::listen();
    say!("waiting for adapters at {} for {wait:?}", hub.url());
    let deadline = Instant::now() + wait;
    while Instant::now() < deadline && !interrupt.is_raised() {
        hub.await_change(deadline.min(Instant::now() + Duration::from_millis(50)));
        hub.take_warnings().iter().for_each(|w| output::warn(w));
    }
    let adapters = hub.present(model.as_ref());
    let none = adapters.is_empty();
    if format == Format::Json {
        let listening = hub.url();
        output::json(&Listed {
            listening,
            adapters,
        })?;
    } else {
        adapters.iter().for_each(|a| output::print(&show(a)));
        if none {
            say!("no adapter has connected");
        }
    }
    Ok(if none { Exit::System } else { Exit::Conforms })
}

/// Without a model and without ioco.toml there is still something to list.
fn project(arguments: &args::Adapters) -> Result<Project, CommandError> {
    let nothing = arguments.model.is_none() && arguments.profile.is_none();
    if nothing && !std::path::Path::new(ioco_campaign::FILE_NAME).exists() {
        return Ok(crate::typed::with_typed(Project::default()));
    }
    crate::typed::project(arguments.model.as_deref(), arguments.profile.as_deref())
}

fn model(project: &Project, options: &ModelOptions) -> Result<Option<Arc<Sts>>, CommandError> {
    if project.model.is_none() {
        return Ok(None);
    }
    let model = ioco_campaign::model::load(options, project, &mut ErrorsOnly)?;
    Ok(Some(model.sts))
}

fn show(adapter: &Presence) -> String {
    // All of it is what others say of themselves.
    let said = |text: &str| Untrusted::new(text).to_string();
    let mut text = format!("{}  (from {})\n", said(&adapter.name), adapter.address);
    for item in &adapter.configuration {
        let described = match item.description.as_str() {
            "" => String::new(),
            description => format!("    # {}", said(description)),
        };
        let default = Untrusted::of(&item.default);
        text.push_str(&format!("  {} = {default}{described}\n", said(&item.key)));
    }
    let mut channels: Vec<&str> = adapter.labels.iter().map(|l| l.channel.as_str()).collect();
    channels.sort_unstable();
    channels.dedup();
    for channel in channels {
        text.push_str(&format!("  channel '{}'\n", said(channel)));
        for label in adapter.labels.iter().filter(|l| l.channel == channel) {
            let parameters: Vec<String> = label
                .parameters
                .iter()
                .map(|p| format!("'{}' => {}", said(&p.name), said(&p.type_name)))
                .collect();
            let parameters = match parameters.as_slice() {
                [] => String::new(),
                some => format!(", {{{}}}", some.join(", ")),
            };
            text.push_str(&format!("    {}{parameters}\n", said(&label.label)));
        }
    }
    for difference in &adapter.differences {
        text.push_str(&format!(
            "  {WARNING}differs{WARNING:#}: {}\n",
            said(difference)
        ));
    }
    text.push('\n');
    text
}
