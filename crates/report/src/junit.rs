//! JUnit XML, as build servers read it: one suite per model, one case per test,
//! named by its goal where it has one.

use std::time::Duration;

use ioco_engine::{SavedVerdict, Sender};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::failure::Failure;
use crate::run::{Run, TestLine};

/// The report of one run. Every failing test carries the text that a person reads; one that failed
/// like an earlier one names the failure that was kept for both.
pub fn junit(run: &Run, failures: &[Failure]) -> String {
    let mut suite = TestSuite::new(run.model.as_str());
    suite.set_time(Duration::from_nanos(run.summary.duration));
    for (name, value) in [
        ("run", run.id.as_str()),
        ("started", run.started.as_str()),
        ("seed", run.seed.to_string().as_str()),
        ("strategy", run.strategy.as_str()),
        ("model", run.path.as_str()),
        ("system", run.connection.as_str()),
    ] {
        suite.add_property(Property::new(name, value));
    }
    for row in run.requirement_rows(failures) {
        let name = format!("requirement {}", row.requirement.id);
        suite.add_property(Property::new(name.as_str(), row.result().as_str()));
    }
    for test in &run.tests {
        suite.add_test_case(case(run, test, failures));
    }
    let mut report = Report::new("ioco");
    report.set_time(Duration::from_nanos(run.summary.duration));
    report.add_test_suite(suite);
    // Text without characters that XML has not: it always serialises.
    let text = report.to_string().unwrap_or_default();
    without_skipped(&text)
}

/// The schema of Jenkins has no count of skipped tests at the outermost element, only at suites.
fn without_skipped(text: &str) -> String {
    let Some(start) = text.find("<testsuites ") else {
        return text.to_owned();
    };
    let end = text[start..].find('>').map_or(text.len(), |at| start + at);
    let tag = &text[start..end];
    let Some(from) = tag.find(" skipped=\"") else {
        return text.to_owned();
    };
    let value = from + " skipped=\"".len();
    let to = tag[value..]
        .find('"')
        .map_or(tag.len(), |at| value + at + 1);
    format!("{}{}{}", &text[..start + from], &tag[to..], &text[end..])
}

/// What the system wrote to its log in the shrunk test, with times.
fn log_lines(failure: &Failure) -> Vec<String> {
    let wire = failure.file.last_wire().iter();
    let lines = wire.filter(|line| line.from == Sender::Log);
    let text = lines.map(|line| {
        let said = line.text.as_deref().unwrap_or_default();
        format!("{:.1} ms: {said}", line.at as f64 / 1e6)
    });
    text.collect()
}

fn case(run: &Run, test: &TestLine, failures: &[Failure]) -> TestCase {
    let status = match &test.verdict {
        SavedVerdict::Pass => TestCaseStatus::success(),
        SavedVerdict::Inconclusive { reason } => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("inconclusive: {reason}"));
            status
        }
        SavedVerdict::Error { reason, .. } => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(reason.as_str());
            status.set_type("error");
            let kept = failures.iter().find(|failure| failure.test == test.number);
            status.set_description(match kept {
                Some(failure) => failure.detail.explanation.clone(),
                None => format!("The system or its adapter could not be used.\n{reason}\n"),
            });
            status
        }
        SavedVerdict::Fail { deviation } => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(deviation.code.as_str());
            match Failure::shown_by(failures, test, deviation) {
                Some(failure) if failure.test == test.number => {
                    status.set_message(failure.headline());
                    status.set_description(failure.detail.explanation.as_str());
                }
                Some(failure) => {
                    status.set_message(failure.headline());
                    status.set_description(format!(
                        "{}\n\nThe same failure as in test {}; shrunk and kept as {}.\n",
                        deviation.title(&run.model),
                        failure.test,
                        failure.file.id
                    ));
                }
                None => {
                    let title = deviation.title(&run.model);
                    status.set_message(format!("{} {title}", deviation.code));
                    status.set_description(format!(
                        "{title}\n\nobserved  {}\nin        {}\n",
                        deviation.observed,
                        deviation.states.join("\n          ")
                    ));
                }
            }
            status
        }
    };
    let mut case = TestCase::new(run.name_of(test), status);
    case.set_classname(run.model.as_str());
    case.set_time(Duration::from_nanos(test.duration));
    let shown = match &test.verdict {
        SavedVerdict::Fail { deviation } => Failure::shown_by(failures, test, deviation),
        SavedVerdict::Error { .. } => failures.iter().find(|failure| failure.test == test.number),
        _ => None,
    };
    if let Some(failure) = shown {
        if !failure.requirements.is_empty() {
            let touched = failure.requirements.join(", ");
            case.add_property(Property::new("requirements", touched.as_str()));
        }
        let log = log_lines(failure);
        if !log.is_empty() {
            case.set_system_err(log.join("\n"));
        }
    }
    case
}
