//! Who is let in: the address with the token once, then the cookie; nobody from elsewhere.

use crate::client::Server;

/// A request as a browser sends it.
fn browser(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> crate::client::Answer {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request.push_str(&format!("Host: {}\r\n", server.address));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    server.raw(&format!("{request}\r\n"))
}

fn cookie(server: &Server) -> String {
    let answer = browser(server, "GET", &format!("/?token={}", server.token), &[]);
    assert_eq!(answer.status, 303, "{}", answer.head);
    let line = answer
        .head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "));
    let line = line.expect("a cookie");
    for part in ["httponly", "samesite=strict", "path=/"] {
        assert!(line.contains(part), "{line}");
    }
    assert!(answer.head.lines().any(|line| line == "location: /"));
    let (pair, _) = line.split_once(';').expect("attributes");
    pair.to_owned()
}

#[test]
fn the_token_of_the_address_becomes_a_cookie_that_new_tabs_use() {
    let server = Server::door();
    let cookie = cookie(&server);
    let get = |headers: &[(&str, &str)]| browser(&server, "GET", "/api/project", headers).status;
    assert_eq!(get(&[]), 401);
    assert_eq!(get(&[("Cookie", &cookie)]), 200);
    // The page sends an empty token where it has none.
    assert_eq!(
        get(&[("Cookie", &format!("a=b; {cookie}")), ("X-Ioco-Token", "")]),
        200
    );
    assert_eq!(get(&[("Cookie", &format!("{cookie}0"))]), 401);
    assert_eq!(get(&[("Cookie", "ioco=1")]), 401);
    let wrong = browser(&server, "GET", "/?token=wrong", &[]);
    assert!(!wrong.head.contains("set-cookie"), "{}", wrong.head);
}

#[test]
fn a_page_of_another_place_is_refused_even_with_the_cookie() {
    let server = Server::door();
    let cookie = cookie(&server);
    let own = format!("http://{}", server.address);
    let post = |headers: &[(&str, &str)]| {
        let headers: Vec<_> = [("Cookie", cookie.as_str()), ("Content-Length", "0")]
            .into_iter()
            .chain(headers.iter().copied())
            .collect();
        browser(&server, "POST", "/api/jobs/none/stop", &headers).status
    };
    assert_eq!(post(&[("Origin", &own)]), 404);
    // Another port of this machine is the same site to a browser; another name may point here.
    for origin in ["http://127.0.0.1:1", "https://evil.example", "null"] {
        assert_eq!(post(&[("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(post(&[("Sec-Fetch-Site", "same-site")]), 401);
    let port = server.address.rsplit(':').next().expect("a port");
    let rebound = format!("evil.example:{port}");
    assert_eq!(post(&[("Host", &rebound)]), 403);
}

#[test]
fn a_refused_call_is_refused_before_its_body_is_read() {
    let server = Server::door();
    let head = format!(
        "POST /api/explore HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 8000000\r\n\r\n",
        server.address
    );
    // Nothing of the body is ever sent.
    assert_eq!(server.raw(&head).status, 401);
}

#[test]
fn programs_of_others_call_a_version_and_need_the_token_too() {
    let server = Server::door();
    assert_eq!(server.get("/api/v1/project"), server.get("/api/project"));
    let get = |headers: &[(&str, &str)]| browser(&server, "GET", "/api/v1/project", headers).status;
    assert_eq!(get(&[]), 401);
    assert_eq!(get(&[("X-Ioco-Token", &server.token)]), 200);
}
