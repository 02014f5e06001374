//! From the items of a model's files to its transition system.
//!
//! Declarations of the whole model come first, then each process: its channels, variables and
//! behaviors, then its statements as a graph of locations with jumps ([`flow`]), from which the
//! jumps are taken out ([`locations`]).

mod arguments;
mod declare;
mod flow;
mod graph;
mod lint;
mod lint_values;
mod locations;
mod process;
mod steps;
mod types;

use std::sync::Arc;

use ioco_budget::Budget;
use ioco_sts::{Direction, Function, Label, Place, Sts, StsBuilder, SwitchId, Types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Item, Macro, Site, Span};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, LineIndex, SourceFile};
use crate::expand::Constants;
use crate::expr::names::{SeenVariable, Signature};

/// A label, where it is declared, and by whom it is used.
struct DeclaredLabel {
    label: Label,
    site: Site,
    /// Received and sent by a statement.
    received: bool,
    sent: bool,
}

/// A variable as the whole model sees it.
struct DeclaredVariable {
    seen: SeenVariable,
    site: Site,
    read: bool,
}

/// A requirement that the model cites, and the switches that show it.
struct Cited {
    id: String,
    text: String,
    site: Site,
    switches: Vec<SwitchId>,
}

struct Lowering<'a> {
    files: &'a [SourceFile],
    lines: Vec<LineIndex>,
    budget: Budget,
    diagnostics: Vec<Diagnostic>,
    builder: StsBuilder,
    types: Types,
    /// Where each enumeration and structure is declared, by name.
    type_sites: FxHashMap<String, Site>,
    functions: Vec<Signature>,
    /// Variables, parameters and functions whose types are wrong.
    broken: Vec<String>,
    constants: Constants,
    /// The functions that blocks become; their numbers come after those of the model.
    generated: Vec<Function>,
    macros: FxHashMap<String, &'a Macro>,
    used_macros: FxHashSet<String>,
    external: FxHashMap<String, Site>,
    internal: FxHashMap<String, Site>,
    /// The channels that processes declare.
    channels: FxHashMap<String, Site>,
    labels: Vec<DeclaredLabel>,
    /// Names that labels of several channels have.
    shared_labels: FxHashSet<(Direction, String)>,
    variables: Vec<DeclaredVariable>,
    processes: FxHashMap<String, Site>,
    requirements: Vec<Cited>,
    /// The names that locations have so far.
    location_names: FxHashSet<String>,
    unnamed: usize,
}

/// The transition system of a model, if there is nothing wrong with it.
pub fn lower(
    files: &[SourceFile],
    items: &[Item],
    constants: Constants,
    earlier: Vec<Diagnostic>,
    budget: &Budget,
) -> (Option<Arc<Sts>>, Vec<Diagnostic>) {
    let name = files.first().map_or("model", |f| model_name(&f.name));
    let mut lowering = Lowering {
        files,
        lines: files.iter().map(|f| LineIndex::new(&f.text)).collect(),
        budget: *budget,
        diagnostics: earlier,
        builder: StsBuilder::new(name),
        types: Types::default(),
        type_sites: FxHashMap::default(),
        functions: Vec::new(),
        broken: Vec::new(),
        constants,
        generated: Vec::new(),
        macros: FxHashMap::default(),
        used_macros: FxHashSet::default(),
        external: FxHashMap::default(),
        internal: FxHashMap::default(),
        channels: FxHashMap::default(),
        labels: Vec::new(),
        shared_labels: FxHashSet::default(),
        variables: Vec::new(),
        processes: FxHashMap::default(),
        requirements: Vec::new(),
        location_names: FxHashSet::default(),
        unnamed: 0,
    };
    for file in files {
        lowering.builder.file(&file.name);
    }
    lowering.model(items);
    // A process says better what it is than a file called `model.aml`.
    let mut names = lowering.processes.keys();
    if let (Some(only), None) = (names.next(), names.next()) {
        lowering.builder.rename(only);
    }
    let wrong = lowering.diagnostics.iter().any(Diagnostic::is_error);
    let sts = (!wrong).then(|| {
        let mut sts = lowering.builder.build();
        sts.set_budget(*budget);
        Arc::new(sts)
    });
    (sts, lowering.diagnostics)
}

/// The file's name without folders and without its ending.
fn model_name(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".aml").unwrap_or(file)
}

impl Lowering<'_> {
    fn report(
        &mut self,
        code: Code,
        file: usize,
        span: &Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.diagnostics
            .push(Diagnostic::new(code, file, span.clone(), message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    fn place(&self, file: usize, offset: usize) -> Place {
        let (line, column) = self.lines[file].position(&self.files[file].text, offset);
        Place {
            file: file as u32,
            line,
            column,
        }
    }
}
