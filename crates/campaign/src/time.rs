//! Times as people type them (`200ms`, `30s`, `5m`, `2h`, `1d`), and moments as they read them.

use std::time::{Duration, UNIX_EPOCH};

use crate::error::CampaignError;

/// Nanoseconds.
pub fn parse(text: &str) -> Result<u64, CampaignError> {
    let wrong = || {
        CampaignError::usage(format!("'{text}' is not a time"))
            .hint("write 200ms, 30s, 5m, 2h or 1d")
    };
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit = match unit.trim() {
        "ms" => 1e6,
        "s" | "" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return Err(wrong()),
    };
    Ok((number * unit) as u64)
}

/// The last second of the year 9999: later moments have no four digits for their year.
const LAST: u64 = 253_402_300_799;

/// The moment so many milliseconds after 1970 began, in UTC: `2026-01-31T12:00:00Z`.
pub fn iso(milliseconds: u64) -> String {
    let seconds = Duration::from_secs((milliseconds / 1000).min(LAST));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + seconds).to_string()
}

#[cfg(test)]
mod tests {
    use super::{iso, parse};

    #[test]
    fn moments_are_written_in_utc() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_000, "2000-02-28T23:59:59Z"),
            (951_868_799_999, "2000-02-29T23:59:59Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (1_794_787_140_000, "2026-11-15T23:59:00Z"),
            (u64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(iso(milliseconds), text);
        }
    }

    #[test]
    fn times_are_read_in_their_units() {
        assert_eq!(parse("200ms").unwrap(), 200_000_000);
        assert_eq!(parse("1.5s").unwrap(), 1_500_000_000);
        assert_eq!(parse("2").unwrap(), 2_000_000_000);
        assert_eq!(parse("5m").unwrap(), 300_000_000_000);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "soon", "5 days", "-1s", "1..2s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
