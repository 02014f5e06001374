//! Building a plain system, edge by edge, from a format that names states and labels as it goes.

use ioco_budget::Budget;
use rustc_hash::FxHashMap;

use ioco_sts::{Direction, Expr, Gate, Location, LocationId, Place, ProcessId, Sts, StsBuilder};

use super::labels::Labels;
use super::{FormatError, LabelMap};

/// How to take the labels of a drawing, a Mealy machine's or others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MealyOptions {
    /// Outputs that mean that there was none.
    pub silent: Vec<String>,
    /// What labels are that are not `input / output`.
    pub labels: LabelMap,
    /// Limits on what data inside the drawing may ask for.
    pub budget: Budget,
}

impl Default for MealyOptions {
    fn default() -> MealyOptions {
        let silent = [
            "Empty",
            "Empty__Empty",
            "NO_RESP",
            "NO_RESPONSE",
            "NoResp",
            "NoResponse",
            "TIMEOUT",
            "Timeout",
        ];
        MealyOptions {
            silent: silent.map(str::to_owned).to_vec(),
            labels: LabelMap::default(),
            budget: Budget::default(),
        }
    }
}

pub(super) struct PlainBuilder {
    builder: StsBuilder,
    process: ProcessId,
    locations: FxHashMap<String, LocationId>,
    labels: Labels,
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
            labels: Labels::default(),
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

    /// A location of this name, also where there is one already.
    pub fn another(&mut self, name: &str, line: u32) -> LocationId {
        self.fresh(name.to_owned(), line)
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
        self.labels.gate(&mut self.builder, direction, name)
    }

    pub fn switch(&mut self, source: LocationId, gate: Gate, target: LocationId, line: u32) {
        self.builder
            .switch(source, gate, Expr::TRUE, Vec::new(), target, place(line));
    }

    /// An edge of a drawing. `?x`, `!x`, `i` and what the options name are one step; `input /
    /// output` becomes the stimulus and, through a location of its own, the response, or only the
    /// stimulus where the output stands for silence.
    pub fn edge(
        &mut self,
        options: &MealyOptions,
        source: LocationId,
        label: &str,
        target: LocationId,
        line: u32,
    ) -> Result<(), FormatError> {
        if let Some((direction, name)) = options.labels.find(line, label)? {
            let gate = self.gate(direction, name);
            self.switch(source, gate, target, line);
            return Ok(());
        }
        let Some((input, output)) = label.split_once(" / ").or_else(|| label.split_once('/'))
        else {
            if options.labels.hide_others && !label.is_empty() {
                self.switch(source, Gate::Tau, target, line);
                return Ok(());
            }
            return Err(FormatError::new(
                line,
                format!(
                    "an edge needs a label `input / output`, `?input`, `!output` or `i`, not \
                     `{label}`"
                ),
            ));
        };
        let (input, output) = (input.trim(), output.trim());
        if input.is_empty() {
            return Err(FormatError::new(line, format!("`{label}` has no input")));
        }
        let stimulus = self.gate(Direction::Stimulus, input);
        if output.is_empty() || options.silent.iter().any(|silent| silent == output) {
            self.switch(source, stimulus, target, line);
        } else {
            let between = self.nameless(line);
            let response = self.gate(Direction::Response, output);
            self.switch(source, stimulus, between, line);
            self.switch(between, response, target, line);
        }
        Ok(())
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
