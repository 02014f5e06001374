//! Who may call: this machine, by one of its own names, from no page but our own, with the token of this
//! server. A page of another site that guesses the port has neither the token nor, by way of a name
//! that it made point here, the right host. This is the one place that decides, and it decides before
//! anything is done for a call.
//!
//! The address that `ioco serve` prints carries the token once: it is exchanged for a cookie, which
//! scripts cannot read and other sites cannot use. New tabs, reloads and bookmarks then work.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ioco_outside::access::{is_loopback_host, is_own_origin, same_secret};

use crate::app::App;
use crate::refusal::Refusal;

/// The header that carries the token; addresses carry it as `?token=`.
const HEADER: &str = "x-ioco-token";

/// 128 random bits as hexadecimal digits.
pub fn token() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match decide(&app, request.method(), request.uri(), request.headers()) {
        Decision::Enter => next.run(request).await,
        Decision::Exchange(headers) => (StatusCode::SEE_OTHER, headers).into_response(),
        Decision::Refuse(refusal) => refusal.into_response(),
    }
}

enum Decision {
    Enter,
    /// The token of the address for a cookie.
    Exchange([(HeaderName, String); 3]),
    Refuse(Refusal),
}

fn decide(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> Decision {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let forbidden = |why: &str| {
        let hint = format!("open http://127.0.0.1:{}", app.port);
        Decision::Refuse(Refusal::new(StatusCode::FORBIDDEN, why, hint))
    };
    if !is_loopback_host(host, Some(app.port)) {
        return forbidden("this server answers only to its own address");
    }
    // A header that is no text is not ours.
    let origin = headers
        .get(header::ORIGIN)
        .map(|o| o.to_str().unwrap_or("null"));
    if !is_own_origin(origin, host) {
        return forbidden("this server answers only to its own page");
    }
    let in_address = query(uri, "token").is_some_and(|given| app.is_token(given));
    if uri.path() == "/" && method == Method::GET && in_address {
        return Decision::Exchange([
            (header::SET_COOKIE, cookie(app)),
            (header::LOCATION, without_token(uri)),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ]);
    }
    let is_call = uri.path().starts_with("/api/");
    if is_call && !in_address && !app.has_token(headers) {
        return Decision::Refuse(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong",
            "open the address that `ioco serve` printed, with its token",
        ));
    }
    Decision::Enter
}

impl App {
    fn is_token(&self, given: &str) -> bool {
        same_secret(given.as_bytes(), self.token.as_bytes())
    }

    /// In the header of a program, or in the cookie of the page.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let in_header = headers.get(HEADER).and_then(|value| value.to_str().ok());
        if in_header.is_some_and(|given| self.is_token(given)) {
            return true;
        }
        // A server at another port of this machine is the same site, but not the same origin.
        let site = headers.get("sec-fetch-site").and_then(|s| s.to_str().ok());
        if !matches!(site, None | Some("same-origin" | "none")) {
            return false;
        }
        let name = cookie_name(self.port);
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let mut pairs = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, given)| key == name && self.is_token(given))
    }
}

/// With the port: cookies are of a machine, and several servers may run.
fn cookie_name(port: u16) -> String {
    format!("ioco-{port}")
}

fn cookie(app: &App) -> String {
    let (name, token) = (cookie_name(app.port), &app.token);
    format!("{name}={token}; HttpOnly; SameSite=Strict; Path=/")
}

fn query<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let mut pairs = uri
        .query()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The page's own address, with what else it said.
fn without_token(uri: &Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&');
    let rest: Vec<&str> = pairs.filter(|pair| !pair.starts_with("token=")).collect();
    if rest.is_empty() {
        "/".to_owned()
    } else {
        format!("/?{}", rest.join("&"))
    }
}
