//! What can go wrong with a store, in words that say what to do.

use sqlx::migrate::MigrateError;

/// AdapterError with the store. Nothing is ever overwritten because of it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store {place} cannot be reached: {why}")]
    Unreachable { place: String, why: String },
    #[error("{place} is damaged, or is no store: {why}")]
    Damaged { place: String, why: String },
    #[error("the store {place} was written by a newer ioco")]
    Newer { place: String },
    #[error("the store {place} was written by an older ioco")]
    Older { place: String },
    #[error("the store {place} failed: {why}")]
    Failed { place: String, why: String },
    #[error("another process holds the store {place}")]
    Held { place: String },
    #[error("another coordinator has resumed campaign {campaign}")]
    Superseded { campaign: String },
    #[error("campaign {campaign} is over")]
    Over { campaign: String },
}

impl StoreError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::Unreachable { .. } => {
                "check the address, the permissions and the free space"
            }
            StoreError::Damaged { .. } => "move it away to start anew; ioco does not overwrite it",
            StoreError::Newer { .. } => "use a newer ioco, or another store; nothing was changed",
            StoreError::Older { .. } => {
                "`ioco store migrate` brings it up to date; after that, older programs cannot use it"
            }
            StoreError::Superseded { .. } => {
                "the other coordinator continues the campaign; `ioco campaign status` shows its progress"
            }
            StoreError::Held { .. } => {
                "if that is a coordinator that is paused, end it (kill -KILL) and try again; nothing is lost"
            }
            StoreError::Over { .. } => "`ioco runs` shows its results",
            StoreError::Failed { .. } => "check the database and the free space",
        }
    }

    /// Of a server whose answers make no sense.
    pub(crate) fn not_understood(place: &str) -> StoreError {
        StoreError::Failed {
            place: place.to_owned(),
            why: "what it answers is not understood".to_owned(),
        }
    }

    /// Of an operation on an open store.
    pub(crate) fn of(place: &str, error: &sqlx::Error) -> StoreError {
        let (place, why) = (place.to_owned(), error.to_string());
        // SQLite: 11 is a malformed file, 26 one that is no database.
        let code = error
            .as_database_error()
            .and_then(|error| error.code())
            .map(std::borrow::Cow::into_owned);
        match code.as_deref() {
            Some("11" | "26" | "267" | "523") => StoreError::Damaged { place, why },
            // SQLite's busy, in its three forms.
            Some("5" | "261" | "517") => StoreError::Held { place },
            _ => StoreError::Failed { place, why },
        }
    }

    pub(crate) fn of_opening(place: &str, error: &sqlx::Error) -> StoreError {
        match StoreError::of(place, error) {
            StoreError::Failed { place, why } => StoreError::Unreachable { place, why },
            other => other,
        }
    }

    pub(crate) fn of_migration(place: &str, error: MigrateError) -> StoreError {
        match error {
            MigrateError::Execute(error) => StoreError::of(place, &error),
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
                StoreError::Newer {
                    place: place.to_owned(),
                }
            }
            other => StoreError::Damaged {
                place: place.to_owned(),
                why: other.to_string(),
            },
        }
    }
}
