//! Models in, models out: `check`, `fmt`, `convert`, `explore`, `explain`.

use std::fs;

use crate::support::{bench, folder, ioco, root, run};

fn counts(path: &std::path::Path, more: &[&str]) -> (u64, u64) {
    let ran = run(ioco()
        .arg("check")
        .arg(path)
        .args(["--format", "json"])
        .args(more));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("one JSON object");
    (
        json["locations"].as_u64().unwrap(),
        json["switches"].as_u64().unwrap(),
    )
}

#[test]
fn the_public_models_have_their_published_sizes() {
    let (Some(atm), Some(koopman)) = (bench("aml/atm/model.aml"), bench("aml/koopman/model.aml"))
    else {
        return;
    };
    assert_eq!(counts(&koopman, &[]), (273, 1119));
    assert_eq!(counts(&atm, &[]), (1970, 3548));
    assert_eq!(counts(&atm, &["--reduce"]), (1502, 3080));
}

#[test]
fn a_broken_model_shows_every_error_and_exits_with_2() {
    let folder = folder();
    let path = folder.path().join("broken.aml");
    fs::write(
        &path,
        "external 'c'\nprocess('p') {\n  channel('c') { stimulus 'a', {'n' => :integer} }\n  \
         state 'one'\n  receive 'b'\n  receive 'a', constraint: 'n > \"x\"'\n  goto 'two'\n}\n",
    )
    .unwrap();
    let ran = run(ioco().arg("check").arg(&path));
    assert_eq!(ran.code, 2, "{}", ran.all());
    for word in ["`b`", "two", "broken.aml:5", "broken.aml:6"] {
        assert!(ran.err.contains(word), "no {word} in\n{}", ran.err);
    }
    let ran = run(ioco().arg("check").arg(&path).args(["--format", "json"]));
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("one JSON object");
    assert!(json["errors"].as_u64().unwrap() >= 3, "{}", ran.out);
}

#[test]
fn a_model_survives_the_way_through_json() {
    let folder = folder();
    let model = root().join("examples/smartdoor/model.aml");
    let json = folder.path().join("door.json");
    let ran = run(ioco().arg("convert").arg(&model).arg("-o").arg(&json));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(counts(&model, &[]), counts(&json, &[]));
    let again = folder.path().join("again.json");
    let ran = run(ioco().arg("convert").arg(&json).arg("-o").arg(&again));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(fs::read(&json).unwrap(), fs::read(&again).unwrap());
}

#[test]
fn a_model_is_drawn_in_every_form() {
    let folder = folder();
    let model = root().join("examples/smartdoor/model.aml");
    for (name, mark) in [
        ("m.svg", "<svg"),
        ("m.dot", "digraph"),
        ("m.mmd", "stateDiagram"),
    ] {
        let path = folder.path().join(name);
        let ran = run(ioco().arg("convert").arg(&model).arg("-o").arg(&path));
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(fs::read_to_string(&path).unwrap().contains(mark), "{name}");
    }
    let ran = run(ioco()
        .arg("convert")
        .arg(&model)
        .arg("-o")
        .arg(folder.path().join("m.doc")));
    assert_eq!(ran.code, 2, "{}", ran.all());
}

#[test]
fn a_data_model_becomes_an_aut_file_once_it_is_flat() {
    let folder = folder();
    let model = root().join("examples/koopman/model.aml");
    let path = folder.path().join("k.aut");
    let ran = run(ioco().arg("convert").arg(&model).arg("-o").arg(&path));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("--flatten"), "{}", ran.err);
    let ran = run(ioco()
        .arg("convert")
        .arg(&model)
        .args(["--flatten", "-o"])
        .arg(&path));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(fs::read_to_string(&path).unwrap().starts_with("des ("));
}

#[test]
fn formatting_twice_changes_nothing_more() {
    let folder = folder();
    let path = folder.path().join("m.aml");
    fs::write(
        &path,
        "process ( 'p' ) {\nstate 'a' # here\n    receive 'x' ;goto 'a'\n}\n",
    )
    .unwrap();
    let check = run(ioco().args(["fmt", "--check"]).arg(&path));
    assert_eq!(check.code, 1, "{}", check.all());
    assert_eq!(run(ioco().arg("fmt").arg(&path)).code, 0);
    let once = fs::read_to_string(&path).unwrap();
    assert!(once.contains("# here"));
    assert_eq!(run(ioco().args(["fmt", "--check"]).arg(&path)).code, 0);
    assert_eq!(run(ioco().arg("fmt").arg(&path)).code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), once);
}

#[test]
fn exploring_walks_as_typed() {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = ioco()
        .args(["explore", "--seed", "1"])
        .arg(root().join("examples/smartdoor/model.aml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let typed = "lock passcode=17\n!locked\nunlock passcode=3\n!unlocked\ntrace\nquit\n";
    child
        .stdin
        .take()
        .unwrap()
        .write_all(typed.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("code: 17"), "{text}");
    assert!(
        text.contains("FAIL: the model does not allow !unlocked"),
        "{text}"
    );
    assert!(text.contains("3  ?unlock(passcode=3)"), "{text}");
}

#[test]
fn every_code_that_is_listed_is_explained() {
    let list = run(ioco().arg("explain"));
    assert_eq!(list.code, 0);
    for line in list.out.lines() {
        let code = line.split_whitespace().next().unwrap();
        let ran = run(ioco().args(["explain", code]));
        assert_eq!(ran.code, 0, "{code}");
        assert!(
            ran.out.len() > line.len(),
            "{code} says no more than its title"
        );
    }
    assert_eq!(run(ioco().args(["explain", "Z999"])).code, 2);
}
