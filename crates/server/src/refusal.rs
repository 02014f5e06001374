//! Why a call is refused: what is wrong, and what to do about it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ioco_campaign::{CommandError, Exit};
use serde::Serialize;

#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    error: String,
    hint: String,
}

#[derive(Serialize)]
struct Body {
    error: String,
    hint: String,
}

impl Refusal {
    pub fn new(status: StatusCode, error: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal {
            status,
            error: error.into(),
            hint: hint.into(),
        }
    }

    pub fn wrong(error: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, error, hint)
    }

    pub fn unknown(error: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, error, hint)
    }

    pub fn busy(with: &str) -> Refusal {
        Refusal::new(
            StatusCode::CONFLICT,
            format!("the system is in use: {with}"),
            "stop it, or wait until it has finished",
        )
    }
}

impl From<CommandError> for Refusal {
    fn from(stop: CommandError) -> Refusal {
        let status = match stop.exit {
            Exit::System => StatusCode::BAD_GATEWAY,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Refusal::new(status, stop.message, stop.hint.unwrap_or_default())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = Body {
            error: self.error,
            hint: self.hint,
        };
        (self.status, Json(body)).into_response()
    }
}
