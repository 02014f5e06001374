//! SARIF 2.1.0: each failure as a result at the line of the model that it is about, with the
//! shrunk trace as a code flow, and recognised again by its fingerprint.

use ioco_engine::{RequirementCoverage, Sender, WireLine, describe};
use ioco_view::{StepKind, StepView};
use serde_json::{Value as Json, json};

use crate::failure::{Failure, Paths};
use crate::run::Run;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const CODES: [(&str, &str); 4] = [
    ("D001", "UnexpectedResponse"),
    ("D002", "MissingResponse"),
    ("D003", "WrongValue"),
    ("E004", "SystemEnded"),
];

/// The log of one run; `version` is ioco's.
pub fn sarif(run: &Run, failures: &[Failure], paths: &Paths, version: &str) -> String {
    let rules: Vec<Json> = CODES
        .iter()
        .map(|(code, name)| {
            let text = describe(code).unwrap_or_default();
            let (short, full) = text.split_once('\n').unwrap_or((text, text));
            json!({
                "id": code,
                "name": name,
                "shortDescription": {"text": short},
                "fullDescription": {"text": full},
                "defaultConfiguration": {"level": "error"},
            })
        })
        .collect();
    let mut invocation = json!({
        "executionSuccessful": run.summary.errors == 0 && run.finished,
        "properties": {
            "seed": run.seed,
            "strategy": run.strategy,
            "tests": run.summary.tests,
        },
    });
    if !run.started.is_empty() {
        invocation["startTimeUtc"] = json!(run.started);
    }
    let requirements = run.requirement_rows(failures).into_iter().map(|row| {
        let RequirementCoverage {
            id, text, steps, ..
        } = row.requirement;
        json!({"id": id, "text": text, "steps": steps, "failures": row.failures})
    });
    let requirements: Vec<Json> = requirements.collect();
    let mut log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "ioco",
                "semanticVersion": version,
                "rules": rules,
            }},
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": failures.iter().map(|f| result(f, paths)).collect::<Vec<_>>(),
        }],
    });
    if !requirements.is_empty() {
        log["runs"][0]["properties"] = json!({"requirements": requirements});
    }
    // Strings, numbers and maps with string keys: always JSON.
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn result(failure: &Failure, paths: &Paths) -> Json {
    let detail = &failure.detail;
    let code = detail.summary.code.as_str();
    let mut message = detail.summary.title.clone();
    for line in &detail.because {
        message.push_str(&format!("\n{line}"));
    }
    let steps: Vec<Json> = failure
        .trace()
        .steps
        .iter()
        .map(|step| flow_location(step, failure, paths))
        .collect();
    let locations: Vec<Json> = failure
        .place()
        .map(|(file, line)| json!({"physicalLocation": physical(file, line, paths)}))
        .into_iter()
        .collect();
    let related: Vec<Json> = (detail.model_lines.iter().enumerate().skip(1))
        .map(|(index, line)| {
            json!({
                "id": index,
                "message": {"text": line.text},
                "physicalLocation": physical(&line.file, line.line, paths),
            })
        })
        .collect();
    let mut result = json!({
        "ruleId": code,
        "ruleIndex": CODES.iter().position(|(known, _)| *known == code),
        "level": if failure.flaky { "warning" } else { "error" },
        "message": {"text": message},
        "locations": locations,
        "relatedLocations": related,
        "partialFingerprints": {"iocoShrunkTrace/v1": detail.summary.id},
        "codeFlows": [{
            "message": {"text": "the shortest trace known"},
            "threadFlows": [{"locations": steps}],
        }],
        "properties": {
            "test": failure.test,
            "replay": format!("ioco replay {}", detail.summary.id),
            "allowed": detail.allowed,
        },
    });
    let log = log(failure);
    if !failure.requirements.is_empty() {
        result["properties"]["requirements"] = json!(failure.requirements);
    }
    if !log.is_empty() {
        result["properties"]["log"] = json!(log);
    }
    result
}

/// What the system wrote to its log, with milliseconds since it was ready.
fn log(failure: &Failure) -> Vec<Json> {
    let wire = failure.file.last_wire().iter();
    let lines = wire.filter(|line| line.from == Sender::Log);
    let line = |line: &WireLine| json!({"ms": line.at as f64 / 1e6, "text": line.text});
    lines.map(line).collect()
}

fn flow_location(step: &StepView, failure: &Failure, paths: &Paths) -> Json {
    let who = match step.kind {
        StepKind::Stimulus => "tester",
        StepKind::Response | StepKind::Silence | StepKind::Deviation => "system",
    };
    let mut location = json!({"message": {"text": format!("{who}: {}", step.text)}});
    // What deviates has no line of its own: it is where the failure is.
    let place = match (&step.file, step.line) {
        (Some(file), Some(line)) => Some((file.as_str(), line)),
        _ if step.kind == StepKind::Deviation => failure.place(),
        _ => None,
    };
    if let Some((file, line)) = place {
        location["physicalLocation"] = physical(file, line, paths);
    }
    let important = step.kind == StepKind::Deviation;
    json!({
        "location": location,
        "executionOrder": step.number,
        "importance": if important { "essential" } else { "important" },
    })
}

fn physical(file: &str, line: u32, paths: &Paths) -> Json {
    let shown = paths.show(file);
    let mut artifact = json!({"uri": uri(&shown)});
    if !shown.starts_with('/') {
        artifact["uriBaseId"] = json!("%SRCROOT%");
    }
    json!({"artifactLocation": artifact, "region": {"startLine": line}})
}

fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
