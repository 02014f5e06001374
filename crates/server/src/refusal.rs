//! Why a call is refused: what is wrong, and what to do about it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ioco_campaign::{CampaignError, ErrorKind};
use serde::Serialize;

use crate::words;

#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    error: String,
    hint: String,
}

/// The body of a call that is refused.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Refused {
    /// What is wrong.
    error: String,
    /// What to do about it.
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

    pub fn conflict(error: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::CONFLICT, error, hint)
    }

    pub fn busy(with: &str) -> Refusal {
        Refusal::new(
            StatusCode::CONFLICT,
            format!("the system is in use: {with}"),
            "stop it, or wait until it has finished",
        )
    }
}

impl From<CampaignError> for Refusal {
    fn from(stop: CampaignError) -> Refusal {
        let status = match stop.kind {
            ErrorKind::System => StatusCode::BAD_GATEWAY,
            ErrorKind::Usage | ErrorKind::Interrupted => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let hint = words::hint(&stop).unwrap_or_default();
        Refusal::new(status, stop.message, hint)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = Refused {
            error: self.error,
            hint: self.hint,
        };
        (self.status, Json(body)).into_response()
    }
}
