//! The calls of the page: what comes in as an address and JSON, and what goes out.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use futures_util::stream::{self, Stream};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::{App, no_run};
use crate::changes::Listener;
use crate::live::FeedPosition;
use crate::refusal::Refusal;
use crate::{access, assets, work};

/// Batches come at most ten times a second.
const BATCH_INTERVAL: Duration = Duration::from_millis(100);
/// A walk of thousands of steps fits.
const MAX_BYTES: usize = 8 << 20;

type Shared = State<Arc<App>>;
type Given = Query<HashMap<String, String>>;

/// The version of the interface. A change that a program of others would notice makes a new one; the page comes
/// with the program and needs none.
const VERSIONED: &str = "/api/v1";
const OWN: &str = "/api";

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .nest(VERSIONED, calls())
        .nest(OWN, calls())
        .fallback(assets::serve)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            access::check,
        ))
        .with_state(app)
}

/// Every call. The module `contract` describes each.
fn calls() -> Router<Arc<App>> {
    Router::new()
        .route("/project", get(project))
        .route("/model", get(model))
        .route("/model/check", post(check_draft))
        .route("/model/save", post(save))
        .route("/model/events", get(model_events))
        .route("/runs", get(runs).post(start_run))
        .route("/runs/{id}", get(run))
        .route("/runs/{id}/control", post(control))
        .route("/runs/{id}/events", get(run_events))
        .route("/runs/{id}/tests/{number}", get(test))
        .route("/compare", get(compare))
        .route("/failures", get(failures))
        .route("/failures/{id}", get(failure))
        .route("/failures/{id}/script", get(script))
        .route("/failures/{id}/accept", post(accept))
        .route("/failures/{id}/replay", post(replay))
        .route("/failures/{id}/shrink", post(shrink))
        .route("/explore", post(explore))
        .route("/walk", get(walk).post(begin_walk))
        .route("/walk/step", post(step_walk))
        .route("/walk/keep", post(keep_walk))
        .route("/generate", post(generate))
        .route("/goals", get(goals))
        .route("/goals/run", post(run_goals))
        .route("/jobs/{id}", get(job))
        .route("/jobs/{id}/events", get(job_events))
        .route("/jobs/{id}/stop", post(stop_job))
}

/// Does work that may take a while away from the threads that answer.
async fn answer<T: Serialize + Send + 'static>(
    task: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Response {
    match work::aside(task).await {
        Some(Ok(value)) => Json(value).into_response(),
        Some(Err(refusal)) => refusal.into_response(),
        None => Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "this call went wrong inside ioco",
            "the terminal of `ioco serve` says more; please report it",
        )
        .into_response(),
    }
}

/// Reads the JSON that a call brought; no body is an empty object.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refusal> {
    let text: &[u8] = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(text).map_err(|error| {
        Refusal::wrong(
            format!("the call cannot be read: {error}"),
            "send a JSON object as the page does",
        )
    })
}

async fn wrong_method() -> Response {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this call is not made in this way",
        "GET reads, POST does",
    )
    .into_response()
}

async fn project(State(app): Shared) -> Response {
    answer(move || app.project()).await
}

async fn model(State(app): Shared, Query(given): Given) -> Response {
    answer(move || {
        let path = given
            .get("path")
            .cloned()
            .or_else(|| app.models.default_path());
        app.model(&path.unwrap_or_default())
    })
    .await
}

async fn check_draft(State(app): Shared, body: Bytes) -> Response {
    answer(move || app.draft(&read(&body)?)).await
}

async fn save(State(app): Shared, body: Bytes) -> Response {
    answer(move || app.save(&read(&body)?)).await
}

async fn model_events(State(app): Shared, Query(given): Given) -> Response {
    let path = given
        .get("path")
        .cloned()
        .or_else(|| app.models.default_path());
    let listener = work::aside(move || Listener::new(app, path.unwrap_or_default())).await;
    match listener {
        Some(mut listener) => batches(move || listener.news()).into_response(),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn runs(State(app): Shared, Query(given): Given) -> Response {
    answer(move || app.run_list(given.get("model").map(String::as_str))).await
}

async fn start_run(State(app): Shared, body: Bytes) -> Response {
    answer(move || app.start_run(&read(&body)?)).await
}

async fn run(State(app): Shared, Path(id): Path<String>) -> Response {
    answer(move || app.run(&id)).await
}

async fn control(State(app): Shared, Path(id): Path<String>, body: Bytes) -> Response {
    answer(move || app.control(&id, &read(&body)?)).await
}

async fn test(State(app): Shared, Path((id, number)): Path<(String, String)>) -> Response {
    answer(move || {
        let number = number.parse().map_err(|_| {
            Refusal::wrong(
                format!("'{number}' is not the number of a test"),
                "count from 1",
            )
        })?;
        app.test(&id, number)
    })
    .await
}

async fn compare(State(app): Shared, Query(given): Given) -> Response {
    answer(move || match (given.get("a"), given.get("b")) {
        (Some(a), Some(b)) => app.compare(a, b),
        _ => Err(Refusal::wrong("two runs are compared", "give a and b")),
    })
    .await
}

async fn failures(State(app): Shared, Query(given): Given) -> Response {
    answer(move || {
        let model = given.get("model").map(|model| app.model_name(model));
        app.failures(model.as_deref())
    })
    .await
}

async fn failure(State(app): Shared, Path(id): Path<String>) -> Response {
    answer(move || app.failure(&id)).await
}

async fn script(State(app): Shared, Path(id): Path<String>, Query(given): Given) -> Response {
    answer(move || app.script(&id, given.get("as").map_or("python", String::as_str))).await
}

async fn accept(State(app): Shared, Path(id): Path<String>, body: Bytes) -> Response {
    answer(move || app.accept(&id, &read(&body)?)).await
}

async fn replay(State(app): Shared, Path(id): Path<String>, body: Bytes) -> Response {
    answer(move || Ok(app.replay(&id, &read(&body)?)?.view())).await
}

async fn shrink(State(app): Shared, Path(id): Path<String>, body: Bytes) -> Response {
    answer(move || Ok(app.shrink(&id, &read(&body)?)?.view())).await
}

async fn explore(State(app): Shared, body: Bytes) -> Response {
    answer(move || app.explore(&read(&body)?)).await
}

async fn walk(State(app): Shared) -> Response {
    answer(move || app.walk()).await
}

async fn begin_walk(State(app): Shared, body: Bytes) -> Response {
    answer(move || app.begin_walk(&read(&body)?)).await
}

async fn step_walk(State(app): Shared, body: Bytes) -> Response {
    answer(move || app.step_walk(&read(&body)?)).await
}

async fn keep_walk(State(app): Shared) -> Response {
    answer(move || app.keep_walk()).await
}

async fn generate(State(app): Shared, body: Bytes) -> Response {
    answer(move || Ok(app.generate(&read(&body)?)?.view())).await
}

async fn goals(State(app): Shared, Query(given): Given) -> Response {
    answer(move || {
        let model = given
            .get("model")
            .cloned()
            .or_else(|| app.models.default_path());
        Ok(app.goals_of(&model.unwrap_or_default()))
    })
    .await
}

async fn run_goals(State(app): Shared, body: Bytes) -> Response {
    answer(move || app.run_goals(&read(&body)?)).await
}

async fn job(State(app): Shared, Path(id): Path<String>) -> Response {
    answer(move || Ok(app.job(&id)?.view())).await
}

async fn stop_job(State(app): Shared, Path(id): Path<String>) -> Response {
    answer(move || {
        let job = app.job(&id)?;
        job.interrupt.raise();
        Ok(job.view())
    })
    .await
}

async fn run_events(State(app): Shared, Path(id): Path<String>) -> Response {
    match app.own_run(&id) {
        Some(run) => {
            let mut got = FeedPosition::default();
            batches(move || run.batch(&mut got)).into_response()
        }
        None => no_run(&id).into_response(),
    }
}

async fn job_events(State(app): Shared, Path(id): Path<String>) -> Response {
    match app.job(&id) {
        Ok(job) => {
            let mut version = None;
            batches(move || job.news(&mut version)).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// A stream of what `next` gives, until it says that there will be no more. When the reader goes
/// away the stream is dropped, and no questions come any more.
fn batches<T: Serialize + Send>(
    next: impl FnMut() -> (Option<T>, bool) + Send + 'static,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + Send> {
    let events = stream::unfold((next, false, true), |(mut next, over, first)| async move {
        if over {
            return None;
        }
        let mut wait = !first;
        loop {
            if wait {
                tokio::time::sleep(BATCH_INTERVAL).await;
            }
            wait = true;
            let (news, over) = next();
            let Some(news) = news else {
                if over {
                    return None;
                }
                continue;
            };
            let text = serde_json::to_string(&news).unwrap_or_default();
            return Some((Ok(Event::default().data(text)), (next, over, false)));
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}
