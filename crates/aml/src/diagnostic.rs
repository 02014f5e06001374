//! Diagnostics as data: what is wrong, where, and what to do about it. Rendering is elsewhere.

use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::codes::Code;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The model has no meaning until this is repaired.
    Error,
    /// The model means something, but most likely not what its author wants.
    Warning,
    /// Something worth knowing.
    Hint,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "hint",
        }
    }
}

/// A file of a model, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

/// Turns byte offsets of one text into lines and columns, both counted from one. Columns count
/// characters.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub fn new(text: &str) -> LineIndex {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        LineIndex {
            starts: std::iter::once(0)
                .chain(newlines.map(|(position, _)| position + 1))
                .collect(),
        }
    }

    pub fn position(&self, text: &str, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = text.get(self.starts[line]..offset).unwrap_or("");
        (line as u32 + 1, before.chars().count() as u32 + 1)
    }
}

/// Where a diagnostic or one of its labels stands, for the JSON form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Position {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

/// A mistake in a model, or something about it that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `A030`; `ioco explain A030` says more.
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    /// The file, by position in the files that were loaded.
    pub file: usize,
    /// The exact place, as byte offsets into the file.
    pub span: Range<usize>,
    /// Other places that matter: file, span, and what is there.
    pub labels: Vec<(usize, Range<usize>, String)>,
    pub hint: Option<String>,
    position: Position,
    label_positions: Vec<Position>,
}

impl Diagnostic {
    pub(crate) fn new(
        code: Code,
        file: usize,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code: code.name,
            severity: code.severity,
            message: message.into(),
            file,
            span,
            labels: Vec::new(),
            hint: None,
            position: Position::default(),
            label_positions: Vec::new(),
        }
    }

    pub(crate) fn label(
        mut self,
        file: usize,
        span: Range<usize>,
        text: impl Into<String>,
    ) -> Diagnostic {
        self.labels.push((file, span, text.into()));
        self
    }

    pub(crate) fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hint = Some(text.into());
        self
    }

    pub(crate) fn maybe_hint(mut self, text: Option<String>) -> Diagnostic {
        self.hint = text.or(self.hint);
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Line and column, counted from one; (0, 0) where the file is not known.
    pub fn line_column(&self) -> (u32, u32) {
        (self.position.line, self.position.column)
    }
}

/// Fills in lines and columns, and sorts: by file, then by place, errors first at the same place.
pub(crate) fn finish(diagnostics: &mut Vec<Diagnostic>, files: &[SourceFile]) {
    let indexes: Vec<LineIndex> = files.iter().map(|f| LineIndex::new(&f.text)).collect();
    let position = |file: usize, span: &Range<usize>| {
        let Some((source, index)) = files.get(file).zip(indexes.get(file)) else {
            return Position::default();
        };
        let (line, column) = index.position(&source.text, span.start);
        let (end_line, end_column) = index.position(&source.text, span.end);
        Position {
            file: source.name.clone(),
            line,
            column,
            end_line,
            end_column,
        }
    };
    for diagnostic in diagnostics.iter_mut() {
        diagnostic.position = position(diagnostic.file, &diagnostic.span);
        diagnostic.label_positions = diagnostic
            .labels
            .iter()
            .map(|(file, span, _)| position(*file, span))
            .collect();
    }
    diagnostics.sort_by_key(|d| (d.file, d.span.start, d.severity, d.span.end, d.code));
    // An expansion that happens twice says the same thing twice.
    diagnostics.dedup();
}

/// A label of the JSON form.
#[derive(serde::Serialize)]
struct LabelJson<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    text: &'a str,
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let labels: Vec<LabelJson<'_>> = self
            .labels
            .iter()
            .zip(&self.label_positions)
            .map(|((_, _, text), position)| LabelJson {
                file: &position.file,
                line: position.line,
                column: position.column,
                end_line: position.end_line,
                end_column: position.end_column,
                text,
            })
            .collect();
        let mut json = serializer.serialize_struct("Diagnostic", 10)?;
        json.serialize_field("code", self.code)?;
        json.serialize_field("severity", self.severity.name())?;
        json.serialize_field("message", &self.message)?;
        json.serialize_field("file", &self.position.file)?;
        json.serialize_field("line", &self.position.line)?;
        json.serialize_field("column", &self.position.column)?;
        json.serialize_field("end_line", &self.position.end_line)?;
        json.serialize_field("end_column", &self.position.end_column)?;
        json.serialize_field("labels", &labels)?;
        json.serialize_field("hint", &self.hint)?;
        json.end()
    }
}
