//! The interface, described from its Rust types: OpenAPI for programs of others, TypeScript for the page. Both files
//! are checked in; `IOCO_WRITE=1 cargo test -p ioco-server contract` writes them anew.

use std::path::Path;

use ioco_report::Document;
use ioco_view::{
    Change, ConnectionView, CoverageView, DefaultsView, DiagnosticView, Exploration, FailureDetail,
    FailureStatus, FailureSummary, Given, GoalView, LabelView, LocationView, MenuEntry, ModelLine,
    ModelName, ModelView, Parameter, ParameterView, ProgressPoint, ProjectView, RequirementView,
    RunDetail, RunRequest, RunState, RunSummary, SettingsView, SilenceView, SourceView, StateView,
    StepKind, StepView, SwitchView, TestRow, TestView, TimeSpent, TraceView, TrendPoint,
    VariableView, WalkedStep, Why, WireView,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};
use ts_rs::TS;

use crate::app::{ControlRequest, ExploreRequest, GoalsRunRequest};
use crate::changes::Changes;
use crate::drafts::{Draft, DraftCompletion, DraftDiagnostic, DraftFix, DraftRequest, SaveRequest};
use crate::failures::AcceptRequest;
use crate::history::Comparison;
use crate::jobs::generate::{GenerateRequest, GenerateResult, GoalRef};
use crate::jobs::recorded::{ReplayRequest, ReplayResult, ShrinkRequest, ShrinkResult};
use crate::jobs::{JobResult, JobState, JobView};
use crate::live::{Current, Limits, Live, RecentStep, Waiting, WorkerTest, WorkerView};
use crate::refusal::Refused;
use crate::script::ScriptView;
use crate::walk::{KeptWalk, WalkRequest, WalkState, WalkStepRequest, WalkView};

type Describe = fn(&mut SchemaGenerator) -> Schema;

/// One call of the interface.
struct Call {
    path: &'static str,
    what: &'static str,
    /// The parameters of the address, with what each says.
    query: &'static [(&'static str, &'static str)],
    /// What a POST brings; a call without is a GET.
    body: Option<Describe>,
    answer: Describe,
    /// The answer is a stream of events, each with such data.
    is_stream: bool,
}

fn get(path: &'static str, what: &'static str, answer: Describe) -> Call {
    Call {
        path,
        what,
        query: &[],
        body: None,
        answer,
        is_stream: false,
    }
}

fn post(path: &'static str, what: &'static str, body: Describe, answer: Describe) -> Call {
    Call {
        body: Some(body),
        ..get(path, what, answer)
    }
}

impl Call {
    fn with(self, query: &'static [(&'static str, &'static str)]) -> Call {
        Call { query, ..self }
    }

    fn streamed(self) -> Call {
        Call {
            is_stream: true,
            ..self
        }
    }

    fn method(&self) -> &'static str {
        match self.body {
            Some(_) => "post",
            None => "get",
        }
    }
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn calls() -> Vec<Call> {
    const MODEL: (&str, &str) = ("model", "the path or name of a model");
    vec![
        get(
            "/project",
            "The project and its settings",
            of::<ProjectView>,
        ),
        get("/model", "A model with its text", of::<ModelView>).with(&[(
            "path",
            "of the model; the project's own where it is missing",
        )]),
        post(
            "/model/check",
            "What is wrong with a text that is not saved, and what can be typed in it",
            of::<DraftRequest>,
            of::<Draft>,
        ),
        post(
            "/model/save",
            "Writes a file of a model, unless it has changed meanwhile",
            of::<SaveRequest>,
            of::<ModelView>,
        ),
        get(
            "/model/events",
            "Changes of the files of a model and of the system",
            of::<Changes>,
        )
        .with(&[(
            "path",
            "of the model; the project's own where it is missing",
        )])
        .streamed(),
        get("/runs", "Runs, the newest first", of::<Vec<RunSummary>>).with(&[MODEL]),
        post("/runs", "Starts a run", of::<RunRequest>, of::<RunSummary>),
        get(
            "/runs/{id}",
            "A run with its counts and tests",
            of::<RunDetail>,
        ),
        post(
            "/runs/{id}/control",
            "Pauses, resumes, steps, stops a run, or sets its speed",
            of::<ControlRequest>,
            of::<RunSummary>,
        ),
        get(
            "/runs/{id}/events",
            "A run as it goes on, at most ten batches a second",
            of::<Live>,
        )
        .streamed(),
        get(
            "/runs/{id}/tests/{number}",
            "A test of a run",
            of::<TestView>,
        ),
        get(
            "/compare",
            "What changed from one run to another",
            of::<Comparison>,
        )
        .with(&[("a", "the earlier run"), ("b", "the later run")]),
        get("/failures", "Recorded failures", of::<Vec<FailureSummary>>).with(&[MODEL]),
        get(
            "/failures/{id}",
            "A failure, explained",
            of::<FailureDetail>,
        ),
        get(
            "/failures/{id}/script",
            "A script that shows the failure without ioco",
            of::<ScriptView>,
        )
        .with(&[("as", "curl, python, pytest, rust or jsonl")]),
        post(
            "/failures/{id}/accept",
            "Accepts a failure, with a reason; without one, that is taken back",
            of::<AcceptRequest>,
            of::<FailureDetail>,
        ),
        post(
            "/failures/{id}/replay",
            "Runs a failure again",
            of::<ReplayRequest>,
            of::<JobView>,
        ),
        post(
            "/failures/{id}/shrink",
            "Shrinks a failure again",
            of::<ShrinkRequest>,
            of::<JobView>,
        ),
        post(
            "/explore",
            "Where a walk through a model leads",
            of::<ExploreRequest>,
            of::<Exploration>,
        ),
        get("/walk", "The walk by hand on the system", of::<WalkView>),
        post(
            "/walk",
            "Resets the project's system for a walk by hand",
            of::<WalkRequest>,
            of::<WalkView>,
        ),
        post(
            "/walk/step",
            "Gives a stimulus to the system, listens to it, or lets go of it",
            of::<WalkStepRequest>,
            of::<WalkView>,
        ),
        post(
            "/walk/keep",
            "Adds the walk to the suite of walks of its model",
            of::<Map<String, Json>>,
            of::<KeptWalk>,
        ),
        post(
            "/generate",
            "Searches a test for every goal",
            of::<GenerateRequest>,
            of::<JobView>,
        ),
        get(
            "/goals",
            "The goals of the last generation",
            of::<Vec<GoalView>>,
        )
        .with(&[MODEL]),
        post(
            "/goals/run",
            "Runs the tests of the covered goals",
            of::<GoalsRunRequest>,
            of::<RunSummary>,
        ),
        get("/jobs/{id}", "A job", of::<JobView>),
        get("/jobs/{id}/events", "A job as it goes on", of::<JobView>).streamed(),
        post(
            "/jobs/{id}/stop",
            "Stops a job",
            of::<Map<String, Json>>,
            of::<JobView>,
        ),
    ]
}

fn openapi() -> Json {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let refused = of::<Refused>(&mut generator);
    let mut paths = Map::new();
    for call in calls() {
        let named = call.path.split('/').filter_map(|part| {
            let name = part.strip_prefix('{')?.strip_suffix('}')?;
            Some(json!({
                "name": name, "in": "path", "required": true, "schema": { "type": "string" },
            }))
        });
        let asked = call.query.iter().map(|(name, what)| {
            json!({
                "name": name, "in": "query", "description": what, "schema": { "type": "string" },
            })
        });
        let parameters: Vec<Json> = named.chain(asked).collect();
        let media = match call.is_stream {
            true => "text/event-stream",
            false => "application/json",
        };
        let answer = (call.answer)(&mut generator);
        let mut described = json!({
            "summary": call.what,
            "responses": {
                "200": {
                    "description": "What was asked for",
                    "content": { media: { "schema": answer } },
                },
                "default": {
                    "description": "Why the call is refused",
                    "content": { "application/json": { "schema": refused.clone() } },
                },
            },
        });
        if !parameters.is_empty() {
            described["parameters"] = parameters.into();
        }
        if let Some(body) = call.body {
            let schema = body(&mut generator);
            described["requestBody"] = json!({
                "content": { "application/json": { "schema": schema } },
            });
        }
        let path = paths.entry(call.path).or_insert_with(|| json!({}));
        path[call.method()] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ioco serve",
            "version": "1",
            "description": "What the page of ioco asks its server, for programs of others. \
                            The token is in the address that `ioco serve` prints.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/api/v1" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "apiKey", "in": "header", "name": "x-ioco-token" },
            },
        },
    })
}

fn typescript() -> String {
    let settings = ts_rs::Config::new().with_large_int("number");
    let mut text = String::from(
        "// Written from the Rust types by `IOCO_WRITE=1 cargo test -p ioco-server contract`.\n\n\
         export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };\n\
         /** An integer; one beyond 2^53 is a string of digits. */\n\
         export type Whole = number | string;\n\
         export type Values = Record<string, Json>;\n",
    );
    macro_rules! declare {
        ($($type:ty),* $(,)?) => {
            $(text.push_str(&declaration::<$type>(&settings));)*
        };
    }
    declare![
        AcceptRequest,
        Change,
        Changes,
        Comparison,
        ConnectionView,
        ControlRequest,
        CoverageView,
        Current,
        DefaultsView,
        DiagnosticView,
        Document,
        Draft,
        DraftCompletion,
        DraftDiagnostic,
        DraftFix,
        DraftRequest,
        Exploration,
        ExploreRequest,
        FailureDetail,
        FailureStatus,
        FailureSummary,
        GenerateRequest,
        GenerateResult,
        Given,
        GoalRef,
        GoalView,
        GoalsRunRequest,
        JobResult,
        JobState,
        JobView,
        KeptWalk,
        LabelView,
        Limits,
        Live,
        LocationView,
        MenuEntry,
        ModelLine,
        ModelName,
        ModelView,
        Parameter,
        ParameterView,
        ProjectView,
        ProgressPoint,
        RecentStep,
        Refused,
        ReplayRequest,
        ReplayResult,
        RequirementView,
        RunDetail,
        RunRequest,
        RunState,
        RunSummary,
        SaveRequest,
        ScriptView,
        SettingsView,
        ShrinkRequest,
        ShrinkResult,
        SilenceView,
        SourceView,
        StateView,
        StepKind,
        StepView,
        SwitchView,
        TestRow,
        TestView,
        TimeSpent,
        TraceView,
        TrendPoint,
        VariableView,
        Waiting,
        WalkRequest,
        WalkState,
        WalkStepRequest,
        WalkView,
        WalkedStep,
        Why,
        WireView,
        WorkerTest,
        WorkerView,
    ];
    text
}

fn declaration<T: TS>(settings: &ts_rs::Config) -> String {
    let docs = T::docs().unwrap_or_default();
    format!("\n{docs}export {}\n", T::decl(settings))
}

/// The file is what the types say, or is written so.
fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    if std::env::var_os("IOCO_WRITE").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == text,
        "{file} is not what the types say: IOCO_WRITE=1 cargo test -p ioco-server contract"
    );
}

#[test]
fn the_description_of_the_interface_is_current() {
    let text = serde_json::to_string_pretty(&openapi()).expect("plain data");
    check("book/src/schema/openapi.json", &format!("{text}\n"));
}

#[test]
fn the_types_of_the_page_are_current() {
    check("web/src/data/generated.ts", &typescript());
}

#[test]
fn every_call_is_described_and_nothing_else() {
    let mut served: Vec<(String, &str)> = Vec::new();
    for line in include_str!("routes.rs").lines() {
        let Some(rest) = line.trim().strip_prefix(".route(\"") else {
            continue;
        };
        let (path, handlers) = rest.split_once('"').expect("a path");
        for (mark, method) in [("get(", "get"), ("post(", "post")] {
            if handlers.contains(mark) {
                served.push((path.to_owned(), method));
            }
        }
    }
    let mut described: Vec<(String, &str)> = calls()
        .iter()
        .map(|call| (call.path.to_owned(), call.method()))
        .collect();
    served.sort();
    described.sort();
    assert_eq!(served, described);
}
