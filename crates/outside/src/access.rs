//! Who may call a server on this machine. A page of another site cannot lie about its origin, but it
//! can make a name of its own point here (DNS rebinding): so both the host that was asked for and the
//! origin are compared with our own names.

use std::net::IpAddr;

/// Compares secrets; it takes the same time wherever they differ.
pub fn same_secret(shown: &[u8], expected: &[u8]) -> bool {
    let differences = shown.iter().zip(expected).map(|(a, b)| a ^ b);
    shown.len() == expected.len() && differences.fold(0, |all, d| all | d) == 0
}

/// Whether a `Host` header names this machine by a loopback name. With a port, it must be that one.
pub fn is_loopback_host(host: &str, port: Option<u16>) -> bool {
    let (name, given) = match host.rsplit_once(':') {
        // The last colon of a bare IPv6 address is not a port's.
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => (name, Some(digits)),
        _ => (host, None),
    };
    let port_fits = match (port, given.map(str::parse::<u16>)) {
        (None, None | Some(Ok(_))) => true,
        (Some(port), Some(Ok(given))) => port == given,
        _ => false,
    };
    let name = name
        .strip_prefix('[')
        .map_or(name, |name| name.strip_suffix(']').unwrap_or("no address"));
    let is_loopback = name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    port_fits && is_loopback
}

/// Whether a request comes from no page at all, or from a page that `host` itself served.
pub fn is_own_origin(origin: Option<&str>, host: &str) -> bool {
    let Some(origin) = origin else { return true };
    origin.split_once("://").is_some_and(|(scheme, from)| {
        matches!(scheme, "http" | "https" | "ws" | "wss") && from.eq_ignore_ascii_case(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_ours() {
        for host in [
            "127.0.0.1:80",
            "localhost:80",
            "LOCALHOST:80",
            "[::1]:80",
            "127.0.0.9:80",
        ] {
            assert!(is_loopback_host(host, Some(80)), "{host}");
            assert!(is_loopback_host(host, None), "{host}");
        }
        for host in [
            "evil.example:80",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1.evil.example:80",
            "localhost.evil:80",
            "192.168.0.1:80",
            "",
            ":80",
            "[::1:80",
            "localhost:80:80",
        ] {
            assert!(!is_loopback_host(host, Some(80)), "{host}");
        }
        assert!(is_loopback_host("localhost", None));
        assert!(!is_loopback_host("localhost:x", None));
    }

    #[test]
    fn a_page_of_another_place_is_not_ours() {
        assert!(is_own_origin(None, "localhost:80"));
        assert!(is_own_origin(Some("http://localhost:80"), "localhost:80"));
        for origin in [
            "null",
            "http://localhost:81",
            "https://evil.example",
            "file://",
            "localhost:80",
        ] {
            assert!(!is_own_origin(Some(origin), "localhost:80"), "{origin}");
        }
    }

    #[test]
    fn secrets_are_compared_whole() {
        assert!(same_secret(b"abc", b"abc"));
        assert!(!same_secret(b"abc", b"abd"));
        assert!(!same_secret(b"ab", b"abc"));
        assert!(!same_secret(b"", b"abc"));
    }
}
