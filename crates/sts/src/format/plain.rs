//! Building a plain system, edge by edge, from a format that names states and labels as it goes.

use rustc_hash::FxHashMap;

use crate::expr::Expr;
use crate::ids::{LabelId, LocationId, ProcessId};
use crate::label::{Direction, Label};
use crate::sts::{Gate, Location, Place, Sts, StsBuilder};

/// The channel of labels that come from a format without channels.
const CHANNEL: &str = "system";

pub(super) struct PlainBuilder {
    builder: StsBuilder,
    process: ProcessId,
    locations: FxHashMap<String, LocationId>,
    labels: FxHashMap<(Direction, String), LabelId>,
    count: usize,
}

impl PlainBuilder {
    pub fn new(name: &str) -> PlainBuilder {
        let mut builder = StsBuilder::new(name);
        builder.file(name);
        let process = builder.process("main");
        PlainBuilder {
            builder,
            process,
            locations: FxHashMap::default(),
            labels: FxHashMap::default(),
            count: 0,
        }
    }

    /// The location of this name, made when it is new.
    pub fn location(&mut self, name: &str, line: u32) -> LocationId {
        if let Some(id) = self.locations.get(name) {
            return *id;
        }
        let id = self.fresh(name.to_owned(), line);
        self.locations.insert(name.to_owned(), id);
        id
    }

    /// A location that the format has no name for.
    pub fn nameless(&mut self, line: u32) -> LocationId {
        self.fresh(format!("_{}", self.count), line)
    }

    fn fresh(&mut self, name: String, line: u32) -> LocationId {
        self.count += 1;
        self.builder.location(Location {
            name,
            process: self.process,
            timeout: None,
            place: place(line),
        })
    }

    /// The gate of a label; a τ for [`Direction::Internal`].
    pub fn gate(&mut self, direction: Direction, name: &str) -> Gate {
        if direction == Direction::Internal {
            return Gate::Tau;
        }
        let builder = &mut self.builder;
        let id = *self
            .labels
            .entry((direction, name.to_owned()))
            .or_insert_with(|| {
                builder.label(Label {
                    name: name.to_owned(),
                    channel: CHANNEL.to_owned(),
                    direction,
                    parameters: Vec::new(),
                })
            });
        Gate::Observable(id)
    }

    pub fn switch(&mut self, source: LocationId, gate: Gate, target: LocationId, line: u32) {
        self.builder
            .switch(source, gate, Expr::TRUE, Vec::new(), target, place(line));
    }

    pub fn finish(mut self, initial: LocationId) -> Sts {
        self.builder.initial(self.process, initial);
        self.builder.build()
    }
}

fn place(line: u32) -> Place {
    Place {
        file: 0,
        line,
        column: 1,
    }
}
