//! `ioco compare`, as a person and as a program use it.

use std::fs;
use std::path::Path;

use crate::support::{Ran, bench, folder, ioco, root, run};

const MACHINE: &str = "des (0, 2, 2)\n(0, \"?coin\", 1)\n(1, \"!tea\", 0)\n";
const GREEDY: &str = "des (0, 3, 2)\n(0, \"?coin\", 1)\n(1, \"!tea\", 0)\n(1, \"!milk\", 0)\n";

fn compare(files: &[(&str, &str)], more: &[&str]) -> Ran {
    let folder = folder();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    run(ioco()
        .current_dir(folder.path())
        .arg("compare")
        .args(files.iter().map(|(name, _)| name))
        .args(more))
}

#[test]
fn the_answer_in_words_and_as_json() {
    let files = [("machine.aut", MACHINE), ("greedy.aut", GREEDY)];
    let ran = compare(&files, &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert_eq!(
        ran.out,
        "bisimilar   no: machine.aut and greedy.aut are not bisimilar\n\
         conforms    no: greedy.aut does what machine.aut does not allow\n\
         after       ?coin\n\
         allowed     !tea\n\
         observed    !milk (*), !tea\n"
    );
    let ran = compare(&files, &["--format", "json"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert_eq!(
        ran.out,
        "{\"bisimilar\":false,\"conforms\":false,\"trace\":[\"?coin\"],\"allowed\":[\"!tea\"],\
         \"observed\":[\"!milk\",\"!tea\"]}\n"
    );
    // The other way round it conforms, and is still another model.
    let files = [("greedy.aut", GREEDY), ("machine.aut", MACHINE)];
    let ran = compare(&files, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        ran.out
            .contains("conforms    yes: machine.aut ioco greedy.aut"),
        "{}",
        ran.out
    );
    let files = [("a.aut", MACHINE), ("b.aut", MACHINE)];
    let ran = compare(&files, &["--format", "json"]);
    assert_eq!(
        ran.out,
        "{\"bisimilar\":true,\"conforms\":true,\"trace\":null,\"allowed\":null,\"observed\":null}\n"
    );
}

fn limited(limit: &str) -> String {
    format!(
        "external 'c'\nprocess('p') {{\n  channel('c') {{ stimulus 'put', {{'n' => :integer}}; \
         response 'ok' }}\n  state 'A'\n  repeat {{ o {{ receive 'put'{limit}; send 'ok' }} }}\n}}\n"
    )
}

#[test]
fn models_with_data_are_compared_with_the_values_of_both() {
    let some = limited(", constraint: 'n >= 1 && n <= 3'");
    let fewer = limited(", constraint: 'n >= 1 && n <= 2'");
    let any = limited("");
    // What accepts less does not deviate, and is not the same.
    let ran = compare(&[("a.aml", &some), ("b.aml", &fewer)], &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("?put(3) (*)"), "{}", ran.out);
    // A guard that leaves everything open is tried with the values of the other model.
    let ran = compare(&[("a.aml", &some), ("b.aml", &any)], &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("?put(1), ?put(2), ?put(3)"), "{}", ran.out);
    let ran = compare(&[("a.aml", &some), ("b.aml", &some)], &[]);
    assert!(ran.out.starts_with("bisimilar   yes"), "{}", ran.all());
    let open = limited(", constraint: 'n >= 1'");
    let ran = compare(&[("a.aml", &some), ("b.aml", &open)], &[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("the second model cannot be listed"),
        "{}",
        ran.err
    );
    // Word for word the same, it needs no list.
    let ran = compare(&[("a.aml", &open), ("b.aml", &open)], &[]);
    assert!(ran.out.starts_with("bisimilar   yes"), "{}", ran.all());
}

#[test]
fn a_model_with_data_comes_back_from_every_form() {
    let folder = folder();
    let model = root().join("examples/calculator/model.aml");
    let convert = |from: &Path, to: &str| {
        let file = folder.path().join(to);
        let ran = run(ioco().arg("convert").arg(from).arg("-o").arg(&file));
        assert_eq!(ran.code, 0, "{to}: {}", ran.all());
        file
    };
    let exact = fs::read(convert(&model, "m.json")).expect("JSON");
    for name in ["m.dot", "m.mmd", "m.svg"] {
        let file = convert(&model, name);
        let again = fs::read(convert(&file, "again.json")).expect("JSON");
        assert!(again == exact, "{name}");
    }
}

#[test]
fn a_flattened_model_is_the_same_in_every_form() {
    let folder = folder();
    let model = folder.path().join("m.aml");
    fs::write(&model, limited(", constraint: 'n >= 1 && n <= 3'")).expect("written");
    for (name, to) in [
        ("m.aut", "aut"),
        ("m.dot", "dot"),
        ("m.mmd", "mmd"),
        ("m.svg", "svg"),
        ("m.json", "json"),
        ("gw.json", "graphwalker"),
    ] {
        let file = folder.path().join(name);
        let mut convert = ioco();
        convert.arg("convert").arg(&model).arg("-o").arg(&file);
        let ran = run(convert.args(["--to", to]).arg("--flatten"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.all());
        let ran = run(ioco().arg("compare").arg(&model).arg(&file));
        assert_eq!(ran.code, 0, "{name}: {}", ran.all());
        assert!(
            ran.out.starts_with("bisimilar   yes"),
            "{name}: {}",
            ran.all()
        );
    }
    // Parameters are not for GraphWalker, and labels with values not for .aut.
    for to in ["graphwalker", "aut"] {
        let mut convert = ioco();
        convert
            .arg("convert")
            .arg(&model)
            .args(["-o", "-", "--to", to]);
        let ran = run(&mut convert);
        assert_eq!(ran.code, 2, "{to}: {}", ran.all());
        assert!(
            ran.err.contains("--flatten removes data first"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn every_public_file_loads_or_is_refused_with_what_to_do() {
    let Some(folder) = bench("lts") else { return };
    let mut loaded = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let ran = match ending.as_str() {
            "dot" | "json" => run(ioco().arg("check").arg(&path)),
            "aut" => run(ioco().arg("check").arg(&path).args([
                "--stimuli",
                "r1(*)",
                "--responses",
                "s4(*)",
            ])),
            "txs" => {
                let ran = run(ioco().arg("check").arg(&path));
                assert_eq!(ran.code, 2, "{}", ran.all());
                assert!(ran.err.contains("hint: write it as .aml"), "{}", ran.err);
                continue;
            }
            _ => continue,
        };
        assert_eq!(ran.code, 0, "{}", ran.all());
        loaded += 1;
    }
    assert_eq!(loaded, 18);
}

#[test]
fn errors_of_files_name_the_line_and_what_to_do() {
    for (name, text, said, hint) in [
        (
            "m.aut",
            "des (0, 1, 2)\n(0, coin, 1)\n",
            "line 2: `coin` is neither",
            "--stimuli",
        ),
        (
            "m.dot",
            "digraph {\n a -> b [label=push]\n}\n",
            "line 2: an edge needs a label",
            "--stimuli",
        ),
        (
            "m.mmd",
            "stateDiagram-v2\n a --> b : push\n",
            "line 2: an edge needs a label",
            "--stimuli",
        ),
        (
            "m.json",
            "{\n \"format\": \"ioco-sts\",\n \"version\": }",
            "line 3: expected value",
            "GraphWalker's",
        ),
        (
            "m.json",
            "{\"models\": [\n {\"edges\": [\n {\"id\": 1}]}]}",
            "line 3: invalid type",
            "JavaScript",
        ),
        ("m.svg", "<svg></svg>", "carries no model", "ioco convert"),
        (
            "m.xyz",
            "",
            "is not a model file",
            ".aml, .json, .dot, .aut, .mmd or .svg",
        ),
    ] {
        let folder = folder();
        fs::write(folder.path().join(name), text).expect("written");
        let ran = run(ioco().current_dir(folder.path()).args(["check", name]));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains(said), "{name}: {}", ran.err);
        assert!(ran.err.contains(hint), "{name}: {}", ran.err);
    }
}
