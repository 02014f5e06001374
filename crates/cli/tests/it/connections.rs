//! HTTP, lines of text, listening, adapter libraries, recording: each with a real system.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::support::{PING, Ran, folder, ioco, root, run};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A system of the examples, and the first line it says.
fn start(script: &str, arguments: &[&str]) -> (Running, String) {
    let mut child = Command::new("python3")
        .arg(root().join("examples").join(script))
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut line)
        .expect("a line");
    (Running(child), line.trim().to_owned())
}

/// A copy of the files of an example, so that its results stay out of the sources.
fn example(name: &str) -> tempfile::TempDir {
    let here = folder();
    for file in ["ioco.toml", "model.aml"] {
        let from = root().join("examples").join(name).join(file);
        std::fs::copy(from, here.path().join(file)).expect("copied");
    }
    here
}

fn test_shop(bug: &[&str]) -> Ran {
    let (_shop, url) = start("http/shop.py", &[&["0"], bug].concat());
    let here = example("http");
    run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", &url]))
}

#[test]
fn a_service_is_tested_over_http_by_configuration_alone() {
    let right = test_shop(&[]);
    assert_eq!(right.code, 0, "{}", right.all());
    let wrong = test_shop(&["--bug"]);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
    assert!(wrong.out.contains("?cancel"), "{}", wrong.all());
}

#[test]
fn a_service_that_is_not_there_is_an_error() {
    let here = example("http");
    let ran = run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", "http://127.0.0.1:1"]));
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(ran.err.contains("http://127.0.0.1:1"), "{}", ran.all());
}

#[test]
fn a_mapping_that_does_not_fit_the_model_is_told() {
    let here = example("http");
    let path = here.path().join("ioco.toml");
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, text.replace("{id}/payment", "{number}/payment")).expect("written");
    let ran = run(ioco().current_dir(here.path()).arg("test"));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("?pay has no parameter 'number'"),
        "{}",
        ran.all()
    );
}

fn test_queue(bug: &[&str]) -> Ran {
    let (_queue, ports) = start("tcp/queue.py", &[&["0", "0"], bug].concat());
    let (inlet, outlet) = ports.split_once(' ').expect("two ports");
    let here = example("tcp");
    let path = here.path().join("ioco.toml");
    let text = std::fs::read_to_string(&path).expect("read");
    let text = text.replace("7001", inlet).replace("7002", outlet);
    std::fs::write(&path, text).expect("written");
    run(ioco().current_dir(here.path()).arg("test"))
}

#[test]
fn a_system_with_lines_of_its_own_is_tested_on_one_socket_for_each_channel() {
    let right = test_queue(&[]);
    assert_eq!(right.code, 0, "{}", right.all());
    let wrong = test_queue(&["--bug"]);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
}

#[test]
fn an_address_that_cannot_be_right_is_wrong_usage() {
    let here = folder();
    std::fs::write(here.path().join("ping.aml"), PING).expect("written");
    for address in ["nonsense", "localhost:", "localhost:99999", ":80"] {
        let ran = run(ioco()
            .current_dir(here.path())
            .args(["test", "ping.aml", "--tcp", address]));
        assert_eq!(ran.code, 2, "{address}: {}", ran.all());
        assert!(ran.err.contains("HOST:PORT"), "{address}: {}", ran.all());
    }
}

#[test]
fn the_system_may_connect_to_us() {
    let here = folder();
    std::fs::write(here.path().join("ping.aml"), PING).expect("written");
    let mut child = ioco()
        .current_dir(here.path())
        .args(["test", "ping.aml", "--tcp-listen", "127.0.0.1:0"])
        .args(["--tests", "3", "--steps", "4", "--seed", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ioco starts");
    let mut line = String::new();
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    err.read_line(&mut line).expect("a line");
    let address = line
        .split_whitespace()
        .last()
        .expect("an address")
        .to_owned();
    let socket = TcpStream::connect(address).expect("ioco listens");
    let serving = std::thread::spawn(move || serve_ping(&socket));
    let output = child.wait_with_output().expect("ioco ends");
    serving.join().expect("served");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("3 passed"), "{text}");
}

fn serve_ping(mut socket: &TcpStream) {
    for line in BufReader::new(socket).lines().map_while(Result::ok) {
        let answer = if line.contains("reset") {
            "{\"ready\":true}\n"
        } else {
            "{\"response\":\"pong\"}\n{\"quiescent\":true}\n"
        };
        if socket.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn the_library_for_python_works() {
    let here = folder();
    let adapters = root().join("adapters");
    let sut = format!("python3 {}", adapters.join("python/lock.py").display());
    let ran = run(ioco()
        .current_dir(here.path())
        .arg("test")
        .arg(adapters.join("lock.aml"))
        .args([
            "--sut",
            &sut,
            "--tests",
            "5",
            "--steps",
            "20",
            "--timeout",
            "100ms",
        ]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!ran.err.contains("warning"), "{}", ran.all());
}

/// The folder of TypeScript's compiler, as `cargo xtask test` installs it.
fn typescript() -> Option<std::path::PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).find(|folder| folder.join("tsc").exists())
}

#[test]
fn the_library_for_typescript_works() {
    let Some(programs) = typescript() else {
        eprintln!("skipped: tsc is not here");
        return;
    };
    let here = folder();
    let adapters = root().join("adapters");
    let types = programs.parent().expect("a folder").join("@types");
    let compiled = run(Command::new(programs.join("tsc"))
        .args(["--strict", "--target", "es2022", "--module", "es2022"])
        .args(["--moduleResolution", "bundler"])
        .args(["--rewriteRelativeImportExtensions", "--typeRoots"])
        .arg(types)
        .args(["--types", "node", "--outDir"])
        .arg(here.path())
        .arg(adapters.join("typescript/lock.ts")));
    assert_eq!(compiled.code, 0, "{}", compiled.all());
    std::fs::write(here.path().join("package.json"), "{\"type\":\"module\"}").expect("written");
    let ran = run(ioco()
        .current_dir(here.path())
        .arg("test")
        .arg(adapters.join("lock.aml"))
        .args([
            "--sut",
            "node lock.js",
            "--tests",
            "5",
            "--steps",
            "20",
            "--timeout",
            "100ms",
        ]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!ran.err.contains("warning"), "{}", ran.all());
}

#[test]
fn projects_are_made_in_several_languages_and_find_their_bug() {
    for (language, program) in [("python", "python3"), ("node", "node"), ("rust", "cargo")] {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("skipped: {program} is not here");
            continue;
        }
        let here = folder();
        let made =
            run(ioco()
                .current_dir(here.path())
                .args(["new", "door", "--adapter", language]));
        assert_eq!(made.code, 0, "{language}: {}", made.all());
        let ran = run(ioco()
            .current_dir(here.path().join("door"))
            .env_remove("CARGO_TARGET_DIR")
            .arg("test"));
        assert_eq!(ran.code, 1, "{language}: {}", ran.all());
    }
}

const DESCRIPTION: &str = r##"{
  "openapi": "3.0.0",
  "paths": {
    "/orders": {"post": {
      "operationId": "createOrder",
      "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
      "responses": {
        "201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
        "422": {"description": "no"}
      }}},
    "/orders/{id}": {
      "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer", "minimum": 1}}],
      "get": {"responses": {"200": {"description": "yes"}, "404": {"description": "no"}}}}
  },
  "components": {"schemas": {"Order": {"properties": {
    "amount": {"type": "integer", "minimum": 1, "maximum": 100},
    "kind": {"type": "string", "enum": ["a", "b"]}
  }}}}
}"##;

#[test]
fn an_openapi_description_becomes_a_project_that_checks() {
    let here = folder();
    std::fs::write(here.path().join("api.json"), DESCRIPTION).expect("written");
    let made = run(ioco()
        .current_dir(here.path())
        .args(["new", "shop", "--openapi", "api.json"]));
    assert_eq!(made.code, 0, "{}", made.all());
    let project = here.path().join("shop");
    let checked = run(ioco().current_dir(&project).arg("check"));
    assert_eq!(checked.code, 0, "{}", checked.all());
    assert!(
        checked.out.contains("2 stimuli, 4 responses"),
        "{}",
        checked.all()
    );
    // The mapping fits the model too: the only trouble is that nobody listens.
    let tested = run(ioco()
        .current_dir(&project)
        .args(["test", "--http", "http://127.0.0.1:1"]));
    assert_eq!(tested.code, 3, "{}", tested.all());
}

const DESCRIPTION_IN_YAML: &str = r##"
openapi: 3.1.0
servers:
  - url: http://127.0.0.1:1
paths:
  /orders:
    post:
      operationId: createOrder
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Order'}
      responses:
        201: {description: "yes"}
        4XX: {description: "no"}
        default: {description: "who knows"}
components:
  schemas:
    Order:
      allOf:
        - properties:
            amount: {type: integer, minimum: 1, maximum: 100}
        - properties:
            kind: {type: string, enum: [yes, "it's"]}
"##;

#[test]
fn an_openapi_description_may_be_yaml() {
    let here = folder();
    std::fs::write(here.path().join("api.yaml"), DESCRIPTION_IN_YAML).expect("written");
    let make = |name: &str| {
        let arguments = ["new", name, "--openapi", "api.yaml"];
        run(ioco().current_dir(here.path()).args(arguments))
    };
    let made = make("shop");
    assert_eq!(made.code, 0, "{}", made.all());
    let project = here.path().join("shop");
    let checked = run(ioco().current_dir(&project).arg("check"));
    assert_eq!(checked.code, 0, "{}", checked.all());
    let sizes = "1 stimuli, 3 responses";
    assert!(checked.out.contains(sizes), "{}", checked.all());
    let model = std::fs::read_to_string(project.join("model.aml")).expect("read");
    for words in ["amount in 1..100", "kind == \"yes\"", "createOrder_4xx"] {
        assert!(model.contains(words), "no {words} in {model}");
    }
    let tested = run(ioco().current_dir(&project).arg("test"));
    assert_eq!(tested.code, 3, "{}", tested.all());
    std::fs::write(here.path().join("api.yaml"), "paths: {a: [\n").expect("written");
    let broken = make("other");
    assert_eq!(broken.code, 2, "{}", broken.all());
    assert!(broken.err.contains("api.yaml"), "{}", broken.all());
}

#[test]
fn recorded_traffic_is_judged_like_a_test() {
    let here = folder();
    std::fs::write(here.path().join("ping.aml"), PING).expect("written");
    let check = |trace: &str| {
        std::fs::write(here.path().join("trace.jsonl"), trace).expect("written");
        run(ioco()
            .current_dir(here.path())
            .args(["check", "ping.aml", "--trace", "trace.jsonl"]))
    };
    let good =
        "{\"reset\":true}\n{\"at\":0,\"stimulus\":\"ping\"}\n{\"at\":9,\"response\":\"pong\"}\n";
    assert_eq!(check(good).code, 0, "{}", check(good).all());
    let twice = format!("{good}{{\"at\":12,\"response\":\"pong\"}}\n");
    let ran = check(&twice);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("D001"), "{}", ran.all());
    let silent = "{\"at\":0,\"stimulus\":\"ping\"}\n{\"at\":900000000,\"end\":true}\n";
    let ran = check(silent);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("D002"), "{}", ran.all());
    // Two pings at once: the second pong may answer either, in any order on the wire.
    let pipelined = "{\"at\":0,\"stimulus\":\"ping\"}\n{\"at\":1,\"response\":\"pong\"}\n\
                     {\"at\":2,\"stimulus\":\"ping\"}\n{\"at\":5,\"response\":\"pong\"}\n";
    assert_eq!(check(pipelined).code, 0, "{}", check(pipelined).all());
    let wrong = check("{\"stimulus\":\"kick\"}\n");
    assert_eq!(wrong.code, 2, "{}", wrong.all());
    assert!(wrong.err.contains("line 1"), "{}", wrong.all());
}

#[test]
fn traffic_is_recorded_between_a_client_and_a_system() {
    let here = folder();
    std::fs::write(here.path().join("ping.aml"), PING).expect("written");
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let system = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            serve_ping(&socket);
        }
    });
    let mut recorder = ioco()
        .current_dir(here.path())
        .args([
            "record",
            "ping.aml",
            "--listen",
            "127.0.0.1:0",
            "--to",
            &system,
        ])
        .args(["-o", "trace.jsonl", "--clients", "1"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("ioco starts");
    let mut line = String::new();
    let mut err = BufReader::new(recorder.stderr.take().expect("a pipe"));
    err.read_line(&mut line).expect("a line");
    let address = line
        .split_whitespace()
        .nth(2)
        .expect("an address")
        .to_owned();
    let tested = run(ioco()
        .current_dir(here.path())
        .args(["test", "ping.aml", "--tcp", &address])
        .args(["--tests", "3", "--steps", "4", "--seed", "1"]));
    assert_eq!(tested.code, 0, "{}", tested.all());
    assert!(recorder.wait().expect("it ends").success());
    let trace = std::fs::read_to_string(here.path().join("trace.jsonl")).expect("read");
    assert!(trace.matches("\"pong\"").count() >= 3, "{trace}");
    let checked =
        run(ioco()
            .current_dir(here.path())
            .args(["check", "ping.aml", "--trace", "trace.jsonl"]));
    assert_eq!(checked.code, 0, "{}\n{trace}", checked.all());
}
