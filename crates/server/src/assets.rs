//! The page itself: files that are part of the program. Nothing is loaded from elsewhere, and the
//! browser gets a message.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::refusal::Refusal;

// `page` links to `web/dist`, so that a package of this crate holds it.
#[derive(RustEmbed)]
#[folder = "page"]
struct Page;

const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:; \
                      worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; frame-ancestors 'none'; form-action 'none'; \
                      base-uri 'none'";

pub async fn serve(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    if path.starts_with("api/") {
        return Refusal::unknown(
            format!("there is no call {}", uri.path()),
            "is the page of another version of ioco? Load it again",
        )
        .into_response();
    }
    let path = if path.is_empty() { "index.html" } else { path };
    let Some(file) = Page::get(path) else {
        return Refusal::unknown(format!("there is no file {path}"), "open the page at /")
            .into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, content_type(path)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // Another ioco may answer at this port tomorrow.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (StatusCode::OK, headers, file.data).into_response()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
