//! The server of the page: models, runs, failures, exploration and generation over HTTP, on the
//! loopback address and behind a token. It adds no logic of its own: campaigns run tests, views
//! say what is seen, and this hands both on.

mod access;
mod app;
mod assets;
mod changes;
mod clock;
#[cfg(test)]
mod contract;
mod control;
mod drafts;
mod failures;
mod history;
mod jobs;
mod live;
mod models;
mod refusal;
mod routes;
mod run;
mod script;
mod slot;
mod walk;
mod words;
mod work;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ioco_campaign::{CampaignError, Interrupt, Project, SystemChoice};

use app::App;

pub use history::{facts, recorded, summary};
pub use script::script;

/// What to serve.
pub struct Options {
    pub project: Project,
    /// How to reach the system, where ioco.toml is not to be asked.
    pub system: SystemChoice,
    /// Any free one where none is given.
    pub port: Option<u16>,
}

/// Serves until somebody asks it to stop; then ends what is under way, so that everything is
/// written. `ready` gets the address once it answers.
pub fn serve(
    options: Options,
    interrupt: &Interrupt,
    ready: impl FnOnce(&str),
) -> Result<(), CampaignError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CampaignError::system(format!("the server cannot start: {error}")))?;
    let served = runtime.block_on(serving(options, interrupt, ready));
    // A request may read from a file that never ends; nothing waits for it.
    runtime.shutdown_background();
    served
}

/// How long what is under way may take to be written once a stop is requested.
const ENDING: Duration = Duration::from_secs(3);

async fn serving(
    options: Options,
    interrupt: &Interrupt,
    ready: impl FnOnce(&str),
) -> Result<(), CampaignError> {
    let wanted = options.port.unwrap_or(0);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, wanted));
    let cannot = |error: std::io::Error| {
        CampaignError::usage(format!("cannot serve at {address}: {error}"))
            .hint("choose another --port, or leave it out for any free one")
    };
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    let token = access::token().map_err(cannot)?;
    let url = format!("http://127.0.0.1:{port}/?token={token}");
    let app = Arc::new(App::new(options.project, options.system, token, port));
    let router = routes::router(Arc::clone(&app));
    // Streams to the page have no end of their own, so nothing waits for them.
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    ready(&url);
    while !interrupt.is_raised() && !server.is_finished() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.abort();
    let ended = tokio::task::spawn_blocking(move || app.stop_all());
    let _ = tokio::time::timeout(ENDING, ended).await;
    Ok(())
}
