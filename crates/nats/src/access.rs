//! How to reach the server, and as whom.

use std::net::IpAddr;
use std::path::PathBuf;

use ioco_campaign::CampaignError;

/// How to reach the server, and as whom.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// `nats://host:4222`, or `tls://...`; several servers of one cluster are separated by commas.
    pub url: String,
    /// A file with a JWT and its key.
    pub credentials: Option<PathBuf>,
    /// Certificates of the authority that signed the server's.
    pub ca: Option<PathBuf>,
    /// Our own certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The person accepts that a password goes over the network unencrypted.
    pub insecure: bool,
}

impl Access {
    /// The address without a password, for messages.
    pub fn show(&self) -> String {
        let shown = self.addresses().map(|url| match url.rsplit_once('@') {
            Some((before, host)) => {
                let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
                format!("{scheme}://{host}")
            }
            None => url.to_owned(),
        });
        shown.collect::<Vec<String>>().join(",")
    }

    /// The addresses of the servers of one cluster.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        self.url.split(',').map(str::trim)
    }

    /// Refuses to send a password or a token unencrypted over the network.
    pub(crate) fn check(&self) -> Result<(), CampaignError> {
        if self.insecure || self.is_encrypted() || self.login()?.is_none() {
            return Ok(());
        }
        // The client sends the secrets of one address to all of them.
        let host = |url| {
            let rest = without_scheme(url);
            rest.rsplit_once('@').map_or(rest, |(_, host)| host)
        };
        match self.addresses().map(host).find(|host| !is_loopback(host)) {
            None => Ok(()),
            Some(host) => Err(CampaignError::usage(format!(
                "the password in the address would go to {host} unencrypted"
            ))
            .hint("use tls://, or accept it with --insecure")),
        }
    }

    /// Whether no server is reached unencrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        let is_named = |url: &str, scheme: &str| {
            let start = url.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        let is_tls = |url: &str| is_named(url, "tls://") || is_named(url, "wss://");
        self.ca.is_some() || self.addresses().all(is_tls)
    }

    /// The secrets that the address contains.
    pub(crate) fn login(&self) -> Result<Option<Login>, CampaignError> {
        let mut logins = self
            .addresses()
            .filter_map(|url| Some(without_scheme(url).rsplit_once('@')?.0));
        let Some(login) = logins.next() else {
            return Ok(None);
        };
        if logins.any(|other| other != login) {
            return Err(CampaignError::usage(
                "the servers of one cluster take the same user and password",
            ));
        }
        let plain = |text: &str| {
            percent_decoded(text).ok_or_else(|| {
                CampaignError::usage("the user or password in the address is not percent-encoded")
                    .hint("write %25 for %, %40 for @ and %2F for /")
            })
        };
        Ok(Some(match login.split_once(':') {
            Some((user, password)) => Login::User(plain(user)?, plain(password)?),
            None => Login::Token(plain(login)?),
        }))
    }
}

/// Who we are. The client takes this from its options only, never from the address.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) enum Login {
    User(String, String),
    Token(String),
}

/// `None` where a `%` does not begin the code of a byte, or the bytes are no text.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else {
            return None;
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

fn without_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

/// Whether `host:port` is on this machine.
fn is_loopback(host: &str) -> bool {
    let host = host.split('/').next().unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_goes_over_the_network_encrypted_or_on_request() {
        let access = |url: &str| Access {
            url: url.to_owned(),
            ..Access::default()
        };
        for url in [
            "nats://10.0.0.1:4222",
            "nats://me:secret@127.0.0.1:4222",
            "nats://me:secret@localhost:4222",
            "nats://me:secret@[::1]:4222",
            "tls://me:secret@db.example:4222",
            "TLS://me:secret@db.example:4222",
            "nats://10.0.0.1:4222,nats://10.0.0.2:4222",
            "nats://me:secret@127.0.0.1:4222, nats://127.0.0.1:4223",
            "tls://me:secret@one.example:4222,tls://two.example:4222",
        ] {
            assert!(access(url).check().is_ok(), "{url}");
        }
        for url in [
            "nats://me:secret@db.example:4222",
            "nats://token@10.0.0.1",
            "me:secret@db.example",
            "nats://me:secret@localhost.example:4222",
            "ws://me:secret@[2001:db8::1]:4222",
            "nats://me:secret@127.0.0.1:4222,nats://10.0.0.2:4222",
            "tls://me:secret@one.example:4222,nats://two.example:4222",
        ] {
            let refused = access(url).check().expect_err(url);
            assert!(!refused.message.contains("secret"), "{}", refused.message);
            let accepted = Access {
                insecure: true,
                ..access(url)
            };
            assert!(accepted.check().is_ok(), "{url}");
        }
    }

    #[test]
    fn the_secrets_of_an_address_are_what_was_encoded() {
        let login = |url: &str| {
            let access = Access {
                url: url.to_owned(),
                ..Access::default()
            };
            access.login()
        };
        let user = |user: &str, password: &str| Login::User(user.to_owned(), password.to_owned());
        for (url, expected) in [
            ("nats://db:4222", None),
            ("nats://me:secret@db:4222", Some(user("me", "secret"))),
            ("me:a%40b%2f%25:c@db", Some(user("me", "a@b/%:c"))),
            ("tls://me:%C3%9F@db", Some(user("me", "ß"))),
            ("nats://me:@db", Some(user("me", ""))),
            ("nats://to%6ben@db", Some(Login::Token("token".to_owned()))),
        ] {
            assert_eq!(login(url).expect(url), expected, "{url}");
        }
        for url in ["nats://me:50%@db", "nats://me:%zz@db", "nats://%ff@db"] {
            let refused = login(url).expect_err(url);
            assert!(refused.message.contains("percent-encoded"), "{url}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("nats://me:secret@db:4222", "nats://db:4222"),
            ("nats://me:a@b@db:4222", "nats://db:4222"),
            ("nats://db:4222", "nats://db:4222"),
            ("nats://me:secret@a,nats://me:secret@b", "nats://a,nats://b"),
        ] {
            let access = Access {
                url: url.to_owned(),
                ..Access::default()
            };
            assert_eq!(access.show(), shown);
        }
    }
}
