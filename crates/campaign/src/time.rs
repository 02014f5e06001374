//! Times as people type them: `200ms`, `30s`, `5m`, `2h`.

use crate::exit::Stop;

/// Nanoseconds.
pub fn parse(text: &str) -> Result<u64, Stop> {
    let wrong =
        || Stop::usage(format!("'{text}' is not a time")).hint("write 200ms, 30s, 5m or 2h");
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
        _ => return Err(wrong()),
    };
    Ok((number * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::parse;

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
