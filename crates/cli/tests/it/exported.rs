//! Exported suites give the verdicts of `ioco test --suite`: every condition of a table meets every
//! answer for its type, in ioco, in the Python file and in the Rust file.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::support::{TempDir, folder_with, ioco, run};

/// A type, conditions on a `y` of it, and answers as JSON; an empty answer leaves `y` out.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    (
        ":integer",
        &[
            "y != 3",
            "y > 5",
            "!(y > 5)",
            "y + 1 > 3",
            "y * 2 != 8",
            "-y < 3",
            "y in 1..7",
            "y in [3, 7]",
            "y == :void || y > 3",
        ],
        &[
            "",
            "null",
            "3",
            "7",
            "7.0",
            "7.5",
            "true",
            "\"7\"",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "[7]",
            "{\"y\":7}",
        ],
    ),
    ("integer(0..9)", &["y != 4"], &["3", "4", "11", "-1", "9e0"]),
    (
        ":boolean",
        &["y != true", "!y", "y || y == :void"],
        &["", "true", "false", "0", "1"],
    ),
    (
        ":string",
        &["y != \"a\"", "y > \"a\"", "y + \"b\" != \"ab\""],
        &[
            "",
            "\"a\"",
            "\"b\"",
            "\"\\u00e9\"",
            "\"\\ud83d\\ude00\"",
            "5",
            "true",
        ],
    ),
    (
        ":decimal",
        &["y == 1234567890123456789.123456789", "y == 1.5"],
        &[
            "",
            "1234567890123456789.1",
            "1234567890123456789.123456789",
            "1.50",
            "15e-1",
            "\"1.5\"",
        ],
    ),
    (
        "'Col'",
        &["y != Red", "y == Green"],
        &["", "\"Red\"", "\"Green\"", "\"Blue\"", "0"],
    ),
    (
        "'It'",
        &["y == It(n: \"x\")", "y == It(n: \"x\", p: 2.5)"],
        &[
            "",
            "{\"n\":\"x\"}",
            "{\"n\":\"x\",\"k\":null}",
            "{\"n\":\"x\",\"k\":1}",
            "{\"n\":\"x\",\"z\":null}",
            "{\"n\":\"x\",\"p\":2.50}",
            "{\"n\":\"x\",\"p\":\"2.5\"}",
        ],
    ),
    (
        "[:boolean]",
        &["y == [true]"],
        &["[true]", "[1]", "[]", "[null]"],
    ),
    (
        "[:integer]",
        &["y == [1]"],
        &["[1]", "[1.0]", "[true]", "[1,1]"],
    ),
];

/// Answers the stimulus `gN` with the answer of that number and the column that it is started with.
const SYSTEM: &str = r#"
import json, sys
ANSWERS = json.load(open("answers.json"))
for line in sys.stdin:
    message = json.loads(line)
    if "reset" in message:
        print('{"ready":true}', flush=True)
    elif "stimulus" in message:
        number = int(message["stimulus"][1:])
        answers = ANSWERS[number]
        answer = answers[int(sys.argv[1]) % len(answers)]
        values = '"y":' + answer if answer else ""
        print('{"response":"r%d","values":{%s}}' % (number, values), flush=True)
"#;

/// Calls the tests as pytest would, and says how each ended.
const RUN: &str = r#"
import sys, types
class Fail(Exception): pass
class Skip(Exception): pass
def fail(why): raise Fail(why)
def skip(why): raise Skip(why)
pytest = types.ModuleType("pytest")
pytest.fail, pytest.skip, pytest.fixture = fail, skip, lambda **_: lambda f: f
sys.modules["pytest"] = pytest
sys.path.insert(0, ".")
import suite as tests
system = tests.System(tests.COMMAND)
for name, test in list(vars(tests).items()):
    if name.startswith("test_"):
        try:
            test(system)
            print(name, "ok")
        except Fail as why: print(name, "FAILED", why)
        except Skip as why: print(name, "ok", why)
system.close()
"#;

struct Rows {
    folder: TempDir,
    /// The condition with its type, for every stimulus.
    conditions: Vec<String>,
    answers: Vec<Vec<String>>,
    /// For every test of the suite, the number of its stimulus.
    tests: Vec<usize>,
}

fn rows(ending: &str) -> Rows {
    let (mut labels, mut ways) = (String::new(), String::new());
    let (mut conditions, mut all) = (Vec::new(), Vec::new());
    for (ty, wanted, answers) in TABLE {
        for condition in *wanted {
            let n = conditions.len();
            labels.push_str(&format!(
                "    stimulus 'g{n}'\n    response 'r{n}', {{'y' => {ty}}}\n"
            ));
            ways.push_str(&format!(
                "    o {{ receive 'g{n}'; send 'r{n}', constraint: '{condition}' }}\n"
            ));
            conditions.push(format!("{ty} {condition}"));
            all.push(answers.iter().map(|&answer| answer.to_owned()).collect());
        }
    }
    let model = format!(
        "timeout 10\nexternal 'c'\nenum 'Col', 'Red', 'Green'\n\
         struct 'It', {{'n' => :string, 'k' => :integer, 'p' => :decimal}}\n\
         process('p') {{\n  channel('c') {{\n{labels}  }}\n  state 'idle', timeout: 0.02\n  \
         choice {{\n{ways}  }}\n  state 'end', timeout: 0.02\n}}\n"
    );
    let answers = serde_json::to_string(&all).expect("JSON");
    let folder = folder_with(&[
        ("m.aml", &model),
        ("answers.json", &answers),
        ("system.py", SYSTEM),
        ("run.py", RUN),
    ]);
    for file in ["all.jsonl", &format!("suite.{ending}")] {
        let ran = run(ioco().current_dir(folder.path()).args([
            "generate", "m.aml", "--cover", "switches", "--seed", "1", "-o", file,
        ]));
        assert_eq!(ran.code, 0, "{}", ran.all());
    }
    let suite = fs::read_to_string(folder.path().join("all.jsonl")).expect("a suite");
    let number = |line: &str| {
        let rest = line.split("\"stimulus\":\"g").nth(1).expect("a stimulus");
        let digits = rest.split('"').next().unwrap_or_default();
        digits.parse::<usize>().expect("a number")
    };
    let tests: Vec<usize> = suite.lines().skip(1).map(number).collect();
    assert_eq!(tests.len(), conditions.len(), "{suite}");
    Rows {
        folder,
        conditions,
        answers: all,
        tests,
    }
}

impl Rows {
    fn system(column: usize) -> String {
        format!("exec python3 system.py {column}")
    }

    /// Whether ioco lets one test pass with an answer.
    fn passes(&self, test: usize, column: usize) -> bool {
        let path = self.folder.path();
        let suite = fs::read_to_string(path.join("all.jsonl")).expect("a suite");
        let lines: Vec<&str> = suite.lines().collect();
        let one = format!("{}\n{}\n", lines[0], lines[test + 1]);
        fs::write(path.join("one.jsonl"), one).expect("written");
        let system = Rows::system(column);
        let ran = run(ioco().current_dir(path).args([
            "test",
            "m.aml",
            "--suite",
            "one.jsonl",
            "--sut",
            &system,
            "--seed",
            "1",
            "--no-known",
            "--no-shrink",
        ]));
        assert!(ran.code == 0 || ran.code == 1, "{}", ran.all());
        ran.code == 0
    }

    /// Compares ioco with what `export` prints for a system: lines with the name of a test, and `ok` or
    /// `FAILED`.
    fn agree(&self, export: impl Fn(&str) -> String) {
        let columns = self.answers.iter().map(Vec::len).max().unwrap_or_default();
        let mut wrong = Vec::new();
        for column in 0..columns {
            let said = export(&Rows::system(column));
            let mut verdicts = BTreeMap::new();
            for line in said.lines() {
                let name = line.split(|c: char| c != '_' && !c.is_alphanumeric());
                let name = name.into_iter().find(|word| word.starts_with("test_"));
                let words: Vec<&str> = line.split(' ').collect();
                let verdict = words.iter().find(|word| ["ok", "FAILED"].contains(word));
                if let (Some(name), Some(verdict)) = (name, verdict) {
                    verdicts.entry(name.to_owned()).or_insert((*verdict, line));
                }
            }
            for (test, number) in self.tests.iter().enumerate() {
                if column >= self.answers[*number].len() {
                    continue;
                }
                let name = format!("test_{}", test + 1);
                let (verdict, line) = verdicts
                    .get(&name)
                    .unwrap_or_else(|| panic!("{name}: {said}"));
                let passes = self.passes(test, column);
                if passes != (*verdict == "ok") {
                    let answer = &self.answers[*number][column];
                    let condition = &self.conditions[*number];
                    wrong.push(format!(
                        "{condition}, {answer}: ioco passes: {passes}, {line}"
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn a_python_file_gives_the_verdicts_of_ioco() {
    let rows = rows("py");
    rows.agree(|system| {
        let ran = run(Command::new("python3")
            .arg("run.py")
            .current_dir(rows.folder.path())
            .env("IOCO_SUT", system));
        assert_eq!(ran.code, 0, "{}", ran.all());
        ran.out
    });
}

#[test]
fn a_rust_file_gives_the_verdicts_of_ioco() {
    let rows = rows("rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = run(Command::new(rustc)
        .args(["-D", "warnings", "--test", "-o", "suite", "suite.rs"])
        .current_dir(rows.folder.path()));
    assert_eq!(built.code, 0, "{}", built.all());
    rows.agree(|system| {
        let program = rows.folder.path().join("suite");
        run(Command::new(program)
            .current_dir(rows.folder.path())
            .env("IOCO_SUT", system))
        .out
    });
}

#[test]
fn a_flat_model_is_refused_where_a_system_is_judged() {
    let model = "timeout 1\nexternal 'c'\nprocess('p') {\n  channel('c') { stimulus 'a'; response 'b', {'y' => \
                 integer(0..1)} }\n  state 'S'\n  receive 'a'; send 'b', constraint: 'y == 1'\n}\n";
    let trace = "{\"stimulus\":\"a\"}\n{\"response\":\"b\",\"values\":{\"y\":1}}\n";
    let folder = folder_with(&[("m.aml", model), ("t.jsonl", trace)]);
    let check = ["check", "m.aml", "--trace", "t.jsonl"];
    let ran = run(ioco().current_dir(folder.path()).args(check));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let test = ["test", "m.aml", "--sut", "exec true"];
    for arguments in [&check, &test] {
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(arguments)
            .arg("--flatten"));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains("leave it out here"), "{}", ran.all());
    }
}
