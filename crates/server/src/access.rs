//! Who may call: this machine, by one of its own names, with the token of this server. A page of
//! another site that guesses the port has neither the token nor, by way of a name that it made
//! point here, the right host.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

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
    if !is_own_host(request.headers(), app.port) {
        return Refusal::new(
            StatusCode::FORBIDDEN,
            "this server answers only to its own address",
            format!("open http://127.0.0.1:{}", app.port),
        )
        .into_response();
    }
    let path = request.uri().path();
    if path.starts_with("/api/") && !has_token(&request, &app.token) {
        return Refusal::new(
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong",
            "open the address that `ioco serve` printed, with its token",
        )
        .into_response();
    }
    next.run(request).await
}

fn is_own_host(headers: &HeaderMap, port: u16) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let own = [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
    ];
    host.is_some_and(|host| own.iter().any(|name| name.eq_ignore_ascii_case(host)))
}

fn has_token(request: &Request, token: &str) -> bool {
    let in_header = request.headers().get(HEADER).map(|value| value.as_bytes());
    let in_address = request.uri().query().and_then(|query| {
        let mut pairs = query.split('&');
        pairs.find_map(|pair| pair.strip_prefix("token="))
    });
    let given = in_header.or(in_address.map(str::as_bytes));
    given.is_some_and(|given| same(given, token.as_bytes()))
}

/// Takes as long for a token that is nearly right as for any other.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .fold(0, |different, (a, b)| different | (a ^ b))
            == 0
}
