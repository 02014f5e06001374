//! A failure of a run, followed through the model.

use ioco_engine::{Context, FailureFile, SavedDeviation, explain};
use ioco_sts::Semantics;
use ioco_view::{Facts, FailureDetail, Recorded, TraceView};

use crate::run::TestLine;

/// A failure with everything that reports say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub file: FailureFile,
    pub detail: FailureDetail,
    /// The chart; empty where the model has changed so that it cannot be drawn.
    pub mermaid: String,
    /// The number of the test of this run that showed it.
    pub test: u64,
    /// Seen once, and not again.
    pub flaky: bool,
    /// The names of the requirements that it touches.
    pub requirements: Vec<String>,
}

impl Failure {
    pub fn new(
        semantics: &mut Semantics,
        file: FailureFile,
        facts: &Facts,
        test: u64,
        flaky: bool,
    ) -> Failure {
        let mut detail = FailureDetail::new(semantics, &file, facts);
        detail.summary.flaky |= flaky;
        let execution = file.execution(semantics, false).ok();
        let context = Context {
            system: file.model.clone(),
            ..Context::default()
        };
        let explained = execution.and_then(|execution| explain(semantics, &execution, &context));
        let mermaid = explained.as_ref().map(ioco_explain::mermaid);
        Failure {
            flaky: detail.summary.flaky,
            requirements: explained
                .map(|explained| explained.requirements)
                .unwrap_or_default(),
            file,
            detail,
            mermaid: mermaid.unwrap_or_default(),
            test,
        }
    }

    /// The failure that a test showed: the one that it was kept for, or one that tests showed alike,
    /// or one that is alike after shrinking.
    pub(crate) fn shown_by<'f>(
        failures: &'f [Failure],
        test: &TestLine,
        deviation: &SavedDeviation,
    ) -> Option<&'f Failure> {
        let known: Vec<Recorded> = failures.iter().map(|f| Recorded::new(&f.file)).collect();
        let own = failures.iter().find(|failure| failure.test == test.number);
        own.or_else(|| {
            let found = Recorded::find(&known, test.name.as_deref(), deviation)?;
            failures
                .iter()
                .find(|failure| *failure.file.id == *found.id)
        })
    }

    /// The shortest trace known.
    pub(crate) fn trace(&self) -> &TraceView {
        self.detail.shrunk.as_ref().unwrap_or(&self.detail.original)
    }

    /// The line of the model to point at.
    pub(crate) fn place(&self) -> Option<(&str, u32)> {
        let line = self.detail.model_lines.first()?;
        Some((&line.file, line.line))
    }

    /// `D002 missing response: ...`.
    pub(crate) fn headline(&self) -> String {
        let summary = &self.detail.summary;
        format!("{} {}", summary.code, summary.title)
    }
}

/// How files are named in a report: relative to the folder that the reader's program starts from
/// (for build servers, the root of the repository).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Put before relative names: the folder in which ioco ran, as seen from there. Empty, or ends
    /// with a slash.
    pub prefix: String,
}

impl Paths {
    pub fn show(&self, file: &str) -> String {
        let file = file.replace('\\', "/");
        if file.starts_with('/') {
            return file;
        }
        let joined = format!("{}{file}", self.prefix);
        let mut parts: Vec<&str> = Vec::new();
        for part in joined.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                other => parts.push(other),
            }
        }
        parts.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::Paths;

    #[test]
    fn paths_are_seen_from_the_root() {
        let paths = Paths {
            prefix: "tests/door/".to_owned(),
        };
        for (file, shown) in [
            ("./model.aml", "tests/door/model.aml"),
            ("../common.aml", "tests/common.aml"),
            ("/elsewhere/model.aml", "/elsewhere/model.aml"),
        ] {
            assert_eq!(paths.show(file), shown);
        }
        assert_eq!(Paths::default().show("../x.aml"), "../x.aml");
    }
}
