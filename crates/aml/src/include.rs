//! Reads a model's files, and puts included files in the place of their `include`.

use crate::ast::{self, Block, Item, ValueKind};
use crate::codes;
use crate::diagnostic::{Diagnostic, SourceFile};
use crate::parser;

/// Reads files for `include`: the command line passes the file system, tests an in-memory map.
pub trait Sources {
    /// The text of a file, or why it cannot be read.
    fn read(&self, path: &str) -> Result<String, String>;
}

/// A model's files and everything that stands in them, in one list.
pub struct Read {
    pub files: Vec<SourceFile>,
    pub items: Vec<Item>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a model from its main file on.
pub fn read(path: &str, text: String, sources: &dyn Sources) -> Read {
    let mut reader = IncludeReader {
        sources,
        files: Vec::new(),
        parsed: Vec::new(),
        open: Vec::new(),
        included: 0,
        diagnostics: Vec::new(),
    };
    let path = normal(path);
    let file = reader.add(&path, text);
    let items = reader.expand_file(file);
    Read {
        files: reader.files,
        items,
        diagnostics: reader.diagnostics,
    }
}

struct IncludeReader<'a> {
    sources: &'a dyn Sources,
    files: Vec<SourceFile>,
    /// The items of each file, before its own includes are put in place.
    parsed: Vec<Vec<Item>>,
    /// The files that are being included, outermost first.
    open: Vec<usize>,
    /// How many files were put in place.
    included: usize,
    diagnostics: Vec<Diagnostic>,
}

/// Files that include files that include files can make any amount of text.
const MAX_INCLUDED: usize = 1000;

impl IncludeReader<'_> {
    fn add(&mut self, path: &str, text: String) -> usize {
        let file = self.files.len();
        let parse = parser::parse(&text, file);
        let items = ast::read(&parse.tree(), file, &mut self.diagnostics);
        self.diagnostics.extend(parse.errors);
        self.files.push(SourceFile {
            name: path.to_owned(),
            text,
        });
        self.parsed.push(items);
        file
    }

    fn expand_file(&mut self, file: usize) -> Vec<Item> {
        self.open.push(file);
        let items = std::mem::take(&mut self.parsed[file]);
        // Kept only where a second include may need them: the main file never does.
        if self.open.len() > 1 {
            self.parsed[file] = items.clone();
        }
        let items = self.expand(items);
        self.open.pop();
        items
    }

    fn expand(&mut self, mut items: Vec<Item>) -> Vec<Item> {
        let mut any = false;
        for item in &mut items {
            match item {
                Item::Command(command) if command.word == "include" => any = true,
                Item::Command(command) => {
                    if let Some(Block::Items(inner)) = &mut command.block {
                        *inner = self.expand(std::mem::take(inner));
                    }
                }
                Item::Macro(definition) => {
                    definition.body = self.expand(std::mem::take(&mut definition.body));
                }
            }
        }
        if !any {
            return items;
        }
        let mut expanded = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Item::Command(command) if command.word == "include" => {
                    expanded.extend(self.include(&command));
                }
                other => expanded.push(other),
            }
        }
        expanded
    }

    fn include(&mut self, command: &ast::Command) -> Vec<Item> {
        let [
            ast::Value {
                kind: ValueKind::Str(name),
                span,
            },
        ] = command.arguments.as_slice()
        else {
            self.diagnostics.push(
                Diagnostic::new(
                    codes::ARGUMENTS,
                    command.file,
                    command.span.clone(),
                    "`include` needs the name of a file",
                )
                .hint("include 'interface.aml'"),
            );
            return Vec::new();
        };
        self.included += 1;
        if self.included > MAX_INCLUDED {
            if self.included == MAX_INCLUDED + 1 {
                self.diagnostics.push(Diagnostic::new(
                    codes::TOO_LARGE,
                    command.file,
                    span.clone(),
                    format!("more than {MAX_INCLUDED} files are included"),
                ));
            }
            return Vec::new();
        }
        let path = relative(&self.files[command.file].name, &name.value);
        let known = self.files.iter().position(|f| f.name == path);
        if let Some(file) = known.filter(|file| self.open.contains(file)) {
            let message = if file == command.file {
                format!("`{path}` includes itself")
            } else {
                format!(
                    "`{path}` includes itself by way of `{}`",
                    self.files[command.file].name
                )
            };
            self.diagnostics.push(Diagnostic::new(
                codes::INCLUDE_CYCLE,
                command.file,
                span.clone(),
                message,
            ));
            return Vec::new();
        }
        let file = match known {
            Some(file) => file,
            None => match self.sources.read(&path) {
                Ok(text) => self.add(&path, text),
                Err(reason) => {
                    self.diagnostics.push(
                        Diagnostic::new(
                            codes::INCLUDE_MISSING,
                            command.file,
                            span.clone(),
                            format!("cannot read `{path}`: {reason}"),
                        )
                        .hint("the path is relative to the file that includes it"),
                    );
                    return Vec::new();
                }
            },
        };
        self.expand_file(file)
    }
}

/// The path of an included file.
fn relative(including: &str, included: &str) -> String {
    if included.starts_with('/') {
        return normal(included);
    }
    match including.rsplit_once('/') {
        Some((folder, _)) => normal(&format!("{folder}/{included}")),
        None => normal(included),
    }
}

/// A path without `.` and without `folder/..`, so that a file has one name.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_paths_are_relative_to_the_including_file() {
        assert_eq!(relative("door.aml", "a.aml"), "a.aml");
        assert_eq!(relative("models/door.aml", "./a.aml"), "models/a.aml");
        assert_eq!(relative("models/door.aml", "../a.aml"), "a.aml");
        assert_eq!(relative("../m/door.aml", "../../a.aml"), "../../a.aml");
        assert_eq!(relative("/m/door.aml", "a.aml"), "/m/a.aml");
        assert_eq!(relative("m/door.aml", "/a.aml"), "/a.aml");
    }
}
