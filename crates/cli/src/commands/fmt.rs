//! `ioco fmt`: lays model text out; keeps comments, and changes nothing about the meaning.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::exit::{Answer, CommandError, Exit};
use ioco_outside::file::{Unreadable, read_text};
use serde::Serialize;

use crate::args::{self, Format};
use crate::{model, output};

#[derive(Serialize)]
struct Formatted {
    file: String,
    changed: bool,
}

pub fn run(arguments: &args::Fmt, format: Format) -> Answer {
    let mut exit = Exit::Conforms;
    let budget = arguments.limits.limits().budget();
    for path in &arguments.files {
        let piped = path == Path::new("-");
        let name = if piped {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        let read = if piped {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map(|_| text).map_err(Unreadable::Io)
        } else {
            read_text(path, &budget)
        };
        let text = match read {
            Ok(text) => text,
            Err(error) => {
                // The other files can still be laid out.
                output::report_error(&CommandError::usage(format!("cannot read {name}: {error}")));
                exit = Exit::Usage;
                continue;
            }
        };
        let laid_out = match ioco_aml::format(&text) {
            Ok(laid_out) => laid_out,
            Err(diagnostics) => {
                let file = ioco_aml::SourceFile { name, text };
                model::show(&diagnostics, std::slice::from_ref(&file));
                exit = Exit::Usage;
                continue;
            }
        };
        let changed = laid_out != text;
        if piped && !arguments.check {
            output::data(&laid_out);
            continue;
        }
        if changed && arguments.check {
            say!("{name} is not formatted");
            if exit == Exit::Conforms {
                exit = Exit::Deviation;
            }
        } else if changed {
            fs::write(path, &laid_out)
                .map_err(|error| CommandError::usage(format!("cannot write {name}: {error}")))?;
            say!("{name}: laid out");
        }
        if format == Format::Json {
            output::json(&Formatted {
                file: name,
                changed,
            })?;
        }
    }
    Ok(exit)
}
