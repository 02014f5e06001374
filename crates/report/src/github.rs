//! GitHub workflow commands: each failure beside the line of the model that it is about.

use crate::failure::{Failure, Paths};
use crate::run::{Run, count};

/// Lines for a workflow to print.
pub fn github(run: &Run, failures: &[Failure], paths: &Paths) -> String {
    let mut text = String::new();
    for failure in failures {
        let level = if failure.flaky { "warning" } else { "error" };
        let mut properties = Vec::new();
        if let Some((file, line)) = failure.place() {
            properties.push(format!("file={}", property(&paths.show(file))));
            properties.push(format!("line={line}"));
        }
        properties.push(format!("title={}", property(&failure.headline())));
        let message = data(&failure.detail.explanation);
        text.push_str(&format!("::{level} {}::{message}\n", properties.join(",")));
    }
    let summary = &run.summary;
    let requirements = match summary.requirements {
        0 => String::new(),
        all => format!(
            ", {} of {all} requirements shown",
            summary.covered_requirements
        ),
    };
    text.push_str(&format!(
        "::notice title={}::{}\n",
        property(&format!("ioco {} {}", run.word(), run.model)),
        data(&format!(
            "{}, {}, {} of {} switches covered{requirements} (seed {})",
            count(summary.tests, "test"),
            count(summary.distinct_failures, "distinct failure"),
            summary.covered_switches,
            summary.switches,
            run.seed
        ))
    ));
    text
}

fn data(text: &str) -> String {
    text.trim_end()
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
