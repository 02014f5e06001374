//! Who may do what at a NATS server: passwords, certificates, credentials; and what a worker refuses.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

use crate::nats::{Process, Server, adds_up, at, end, project, start, working};
use crate::support::{TempDir, root, run};

fn worker(folder: &TempDir, url: &str, flags: &[String]) -> Process {
    working(at(folder, &["worker", "--name", "one"], url, flags))
}

#[test]
fn a_password_opens_the_server_and_no_password_does_not() {
    let login = "authorization { user: \"me\", password: \"se%cret\" }";
    let Some(server) = Server::with(|_| login.to_owned()) else {
        return;
    };
    let folder = project();
    let refused = run(&mut at(&folder, &["worker"], &server.url(), &[]));
    assert_eq!(refused.code, 3, "{}", refused.all());
    let url = format!("nats://me:se%25cret@127.0.0.1:{}", server.port);
    let _worker = worker(&folder, &url, &[]);
    adds_up(&end(start(&folder, &url, &[], &["--tests", "5"])), 5);
}

/// Waits until a campaign is announced.
fn until_announced(status: &mut Command, name: &str) {
    let begun = Instant::now();
    while !run(status).out.contains(name) {
        let ran = run(status);
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", ran.all());
    }
}

/// The certificates of `deploy`, and its configuration for them, in a folder.
fn deployed(folder: &Path) -> String {
    let deploy = root().join("deploy");
    let script = deploy.join("certificates.sh").canonicalize();
    let made = run(Command::new("sh")
        .arg(script.expect("the script"))
        .arg("localhost")
        .current_dir(folder));
    assert_eq!(made.code, 0, "{}", made.all());
    let text = fs::read_to_string(deploy.join("nats.conf")).expect("the configuration");
    let own = format!("{}/tls", folder.display());
    // The address and the store are the test's own.
    let (before, after) = text.split_once("jetstream {").expect("jetstream");
    let (_, after) = after.split_once('}').expect("its end");
    let before = before.replace("port: 4222", "");
    format!("{before}{after}").replace("/etc/nats/tls", &own)
}

fn certified(folder: &Path, name: &str) -> Vec<String> {
    let file = |name: String| folder.join("tls").join(name).display().to_string();
    vec![
        "--nats-ca".to_owned(),
        file("ca.pem".to_owned()),
        "--nats-certificate".to_owned(),
        file(format!("{name}.pem")),
        "--nats-key".to_owned(),
        file(format!("{name}.key")),
    ]
}

#[test]
fn the_deployed_configuration_lets_workers_work_and_nothing_else() {
    let Some(server) = Server::with(deployed) else {
        return;
    };
    let tls = server.folder.path();
    let (folder, url) = (project(), format!("tls://localhost:{}", server.port));
    let (chief, hand) = (certified(tls, "coordinator"), certified(tls, "worker"));
    let campaign = start(
        &folder,
        &url,
        &chief,
        &["--tests", "12", "--campaign", "night"],
    );
    // A worker finds no queues before the campaign has made them.
    let mut status = at(&folder, &["campaign", "status"], &url, &chief);
    until_announced(&mut status, "night");
    let _worker = worker(&folder, &url, &hand);
    adds_up(&end(campaign), 12);
    // What a worker's certificate does not allow.
    let denied = start(&folder, &url, &hand, &["--tests", "1", "--time", "20s"]);
    let denied = end(denied);
    assert_eq!(denied.code, 3, "{}", denied.all());
    // No certificate, and one of an authority that the client does not know.
    let bare = run(&mut at(&folder, &["worker"], &url, &chief[..2]));
    assert_eq!(bare.code, 3, "{}", bare.all());
    let foreign = run(&mut at(&folder, &["worker"], &url, &chief[2..]));
    assert_eq!(foreign.code, 3, "{}", foreign.all());
}

#[test]
fn the_command_of_the_systemd_unit_reaches_the_deployed_server() {
    let unit = fs::read_to_string(root().join("deploy/ioco-worker.service")).expect("the unit");
    let unit = unit.replace("\\\n", " ");
    let setting = |name: &str| -> Vec<String> {
        let lines = unit.lines().filter_map(|line| line.strip_prefix(name));
        lines.map(str::to_owned).collect()
    };
    let command = setting("ExecStart=").remove(0);
    let loaded = setting("LoadCredential=");
    for name in command.split("${CREDENTIALS_DIRECTORY}/").skip(1) {
        let name = name.split_whitespace().next().expect("a file");
        let is_loaded = loaded
            .iter()
            .any(|line| line.starts_with(&format!("{name}:")));
        assert!(is_loaded, "{name}: {loaded:?}");
    }
    let Some(server) = Server::with(deployed) else {
        return;
    };
    let tls = server.folder.path();
    let (folder, url) = (project(), format!("tls://localhost:{}", server.port));
    let chief = certified(tls, "coordinator");
    let flags = ["--tests", "12", "--campaign", "night", "--time", "3m"];
    let campaign = start(&folder, &url, &chief, &flags);
    let mut status = at(&folder, &["campaign", "status"], &url, &chief);
    until_announced(&mut status, "night");
    let command = command.replace("/usr/local/bin/ioco", env!("CARGO_BIN_EXE_ioco"));
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec {command}")])
        .current_dir(folder.path())
        .env("IOCO_NATS", &url)
        .env("IOCO_JOBS", "2")
        .env("CREDENTIALS_DIRECTORY", tls.join("tls"));
    let _worker = working(shell);
    adds_up(&end(campaign), 12);
}

/// A signed claim, as NATS reads it.
fn token(name: &str, subject: &KeyPair, issuer: &KeyPair, claims: Value) -> String {
    let encoded = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let header = encoded(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let body = encoded(&json!({
        "jti": name,
        "iat": 1_700_000_000,
        "iss": issuer.public_key(),
        "name": name,
        "sub": subject.public_key(),
        "nats": claims,
    }));
    let signed = format!("{header}.{body}");
    let signature = issuer.sign(signed.as_bytes()).expect("signed");
    format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
}

/// An account that may keep so much; the system's own keeps nothing.
fn account_with(storage: i64) -> Value {
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1, "mem_storage": storage, "disk_storage": storage, "streams": storage,
        "consumer": storage,
    });
    json!({ "limits": limits, "type": "account", "version": 2 })
}

/// Writes a credentials file of a user of this account, who may publish to these subjects.
fn credentials(folder: &Path, name: &str, account: &KeyPair, publish: Value) -> PathBuf {
    let user = KeyPair::new_user();
    let claims = json!({
        "pub": publish, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2,
    });
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        token(name, &user, account, claims),
        user.seed().expect("a seed")
    );
    let file = folder.join(format!("{name}.creds"));
    fs::write(&file, text).expect("written");
    file
}

/// What the worker of one campaign publishes.
fn subjects_of(campaign: &str) -> Value {
    json!({ "allow": [
        format!("ioco.outcomes.{campaign}"),
        format!("$JS.ACK.ioco-orders.{campaign}.>"),
        format!("$JS.API.CONSUMER.INFO.ioco-orders.{campaign}"),
        format!("$JS.API.CONSUMER.MSG.NEXT.ioco-orders.{campaign}"),
        "$KV.ioco-workers.*", "$JS.API.STREAM.INFO.*", "$JS.FC.>",
        "$JS.API.CONSUMER.CREATE.KV_ioco-campaigns", "$JS.API.CONSUMER.CREATE.KV_ioco-campaigns.>",
        "$JS.API.CONSUMER.DELETE.KV_ioco-campaigns.>", "$JS.API.DIRECT.GET.KV_ioco-campaigns.>",
    ] })
}

#[test]
fn credentials_can_be_those_of_one_campaign() {
    let (operator, account, system) = (
        KeyPair::new_operator(),
        KeyPair::new_account(),
        KeyPair::new_account(),
    );
    let configured = |_: &Path| {
        format!(
            "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n{}: {}\n{}: {}\n}}\n",
            token(
                "operator",
                &operator,
                &operator,
                json!({ "type": "operator", "version": 2 })
            ),
            system.public_key(),
            account.public_key(),
            token("tests", &account, &operator, account_with(-1)),
            system.public_key(),
            token("system", &system, &operator, account_with(0)),
        )
    };
    let Some(server) = Server::with(configured) else {
        return;
    };
    let place = server.folder.path();
    let of = |file: PathBuf| vec!["--nats-credentials".to_owned(), file.display().to_string()];
    let chief = of(credentials(place, "chief", &account, json!({})));
    let hand = of(credentials(place, "hand", &account, subjects_of("night")));
    let (folder, url) = (project(), server.url());
    let nobody = run(&mut at(&folder, &["worker"], &url, &[]));
    assert_eq!(nobody.code, 3, "{}", nobody.all());
    let night = start(
        &folder,
        &url,
        &chief,
        &["--tests", "12", "--campaign", "night"],
    );
    let mut status = at(&folder, &["campaign", "status"], &url, &chief);
    until_announced(&mut status, "night");
    let _worker = worker(&folder, &url, &hand);
    adds_up(&end(night), 12);
    let day = start(
        &folder,
        &url,
        &chief,
        &["--time", "4s", "--campaign", "day"],
    );
    let day = end(day);
    assert_eq!(day.code, 3, "{}", day.all());
    assert!(
        day.err.contains("before any worker answered"),
        "{}",
        day.all()
    );
}

#[test]
fn a_worker_refuses_a_campaign_of_another_version_and_one_that_asks_for_other_labels() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let mut child = at(&folder, &["worker", "--label", "fast"], &server.url(), &[])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("a worker");
    let said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let _child = Process(child);
    let mut said = said.map_while(Result::ok);
    assert!(said.any(|line| line.contains("waits for campaigns")));
    let announced = json!({
        "version": 99, "campaign": "future", "model": "", "name": "", "system": "project", "state": "running",
        "orders": 0, "outcomes": 0,
    })
    .to_string();
    let mut raw = TcpStream::connect(("127.0.0.1", server.port)).expect("the server");
    let subject = "$KV.ioco-campaigns.future";
    let message = format!(
        "CONNECT {{}}\r\nPUB {subject} {}\r\n{announced}\r\nPING\r\n",
        announced.len()
    );
    raw.write_all(message.as_bytes()).expect("sent");
    let refused = said
        .find(|line| line.contains("future"))
        .expect("a refusal");
    assert!(refused.contains("version 99"), "{refused}");
    let campaign = start(
        &folder,
        &server.url(),
        &[],
        &["--tests", "3", "--label", "slow", "--campaign", "slow"],
    );
    let refused = said.find(|line| line.contains("slow")).expect("a refusal");
    assert!(refused.contains("label slow"), "{refused}");
    let more = [
        "--label".to_owned(),
        "slow".to_owned(),
        "--label".to_owned(),
        "fast".to_owned(),
    ];
    let _right = worker(&folder, &server.url(), &more);
    adds_up(&end(campaign), 3);
}
