//! Exported suites give the verdicts of `ioco test --suite`: every condition of a table meets every
//! answer for its type, in ioco, in the Python file and in the Rust file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
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

/// Answers the stimulus `gN` with line N of the file of answers that it is started with. A program, since
/// it is started some hundred times.
const SYSTEM: &str = r#"
use std::io::BufRead;
fn main() {
    let file = std::env::args().nth(1).expect("a file");
    let answers = std::fs::read_to_string(file).expect("answers");
    let answers: Vec<&str> = answers.lines().collect();
    println!("{{\"ready\":true}}");
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        if line.contains("\"reset\"") {
            println!("{{\"ready\":true}}");
        } else if let Some((_, rest)) = line.split_once("\"stimulus\"") {
            let rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
            let end = rest.find('"').expect("a label");
            let number: usize = rest[..end].parse().expect("a number");
            println!("{{\"response\":\"r{number}\",\"values\":{{{}}}}}", answers[number]);
        }
    }
}
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
    if name in sys.argv:
        try:
            test(system)
            print(name, "ok")
        except Fail as why: print(name, "FAILED", why)
        except Skip as why: print(name, "ok", why)
        except RuntimeError as why: print(name, "FAILED", why)
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

fn rows() -> Rows {
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
    let folder = folder_with(&[("m.aml", &model), ("system.rs", SYSTEM), ("run.py", RUN)]);
    export(folder.path(), "switches");
    compile(folder.path(), &["system.rs"]);
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

fn compile(folder: &Path, arguments: &[&str]) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = run(Command::new(rustc).args(arguments).current_dir(folder));
    assert_eq!(built.code, 0, "{}", built.all());
}

/// Writes the suite of `m.aml` in all forms, and compiles the one in Rust.
fn export(folder: &Path, cover: &str) {
    for file in ["all.jsonl", "suite.py", "suite.rs"] {
        let ran = run(ioco().current_dir(folder).args([
            "generate", "m.aml", "--cover", cover, "--seed", "1", "-o", file,
        ]));
        assert_eq!(ran.code, 0, "{}", ran.all());
    }
    compile(folder, &["-D", "warnings", "--test", "suite.rs"]);
}

impl Rows {
    /// The numbers of the tests whose stimulus has an answer in a column, from zero.
    fn with_answer(&self, column: usize) -> Vec<usize> {
        let answered = |test: &usize| column < self.answers[self.tests[*test]].len();
        (0..self.tests.len()).filter(answered).collect()
    }

    /// The verdicts of ioco on some tests, with the answers that were written for the system.
    fn verdicts(&self, tests: &[usize]) -> Vec<String> {
        let path = self.folder.path();
        let suite = fs::read_to_string(path.join("all.jsonl")).expect("a suite");
        let lines: Vec<&str> = suite.lines().collect();
        let mut some = vec![lines[0]];
        some.extend(tests.iter().map(|test| lines[test + 1]));
        fs::write(path.join("some.jsonl"), some.join("\n")).expect("written");
        // A process for every test, so that nothing waits for the late answers of a test that failed.
        let settings = "[sut]\ncommand = [\"./system\", \"answers\"]\nrestart = true\n";
        fs::write(path.join("ioco.toml"), settings).expect("written");
        let ran = run(ioco().current_dir(path).args([
            "test",
            "m.aml",
            "--suite",
            "some.jsonl",
            "--seed",
            "1",
            "--trust",
            "--failures",
            "0",
            "--no-known",
            "--no-shrink",
        ]));
        assert!(ran.code == 0 || ran.code == 1, "{}", ran.all());
        // The table of a suite has a line for every test: its number, its verdict and its goal.
        let mut verdicts = Vec::new();
        for line in ran.out.lines() {
            let mut words = line.split_whitespace();
            if words.next() == Some((verdicts.len() + 1).to_string().as_str()) {
                let verdict = words.next().unwrap_or_default();
                if ["pass", "fail", "inconclusive"].contains(&verdict) {
                    verdicts.push(verdict.to_owned());
                }
            }
        }
        assert_eq!(verdicts.len(), tests.len(), "{}", ran.all());
        verdicts
    }
}

/// What an exported file says of each test: lines with the name of a test, and `ok` or `FAILED`.
fn exported(said: &str) -> BTreeMap<String, &str> {
    let mut verdicts = BTreeMap::new();
    for line in said.lines() {
        let mut names = line.split(|c: char| c != '_' && !c.is_alphanumeric());
        let name = names.find(|word| word.starts_with("test_"));
        if let Some(name) = name
            && line.split(' ').any(|word| ["ok", "FAILED"].contains(&word))
        {
            verdicts.entry(name.to_owned()).or_insert(line);
        }
    }
    verdicts
}

#[test]
fn exported_files_give_the_verdicts_of_ioco() {
    let rows = rows();
    let path = rows.folder.path();
    let columns = rows.answers.iter().map(Vec::len).max().unwrap_or_default();
    let (mut wrong, mut passed, mut failed) = (Vec::new(), 0, 0);
    for column in 0..columns {
        let tests = rows.with_answer(column);
        let answers = rows
            .answers
            .iter()
            .map(|answers| match answers.get(column) {
                Some(answer) if !answer.is_empty() => format!("\"y\":{answer}\n"),
                _ => "\n".to_owned(),
            });
        fs::write(path.join("answers"), answers.collect::<String>()).expect("written");
        let ours = rows.verdicts(&tests);
        let names: Vec<String> = tests.iter().map(|n| format!("test_{}", n + 1)).collect();
        let system = "exec ./system answers";
        let python = run(Command::new("python3")
            .arg("run.py")
            .args(&names)
            .current_dir(path)
            .env("IOCO_SUT", system));
        let rust = run(Command::new(path.join("suite"))
            .arg("--exact")
            .args(&names)
            .current_dir(path)
            .env("IOCO_SUT", system));
        let languages = [exported(&python.out), exported(&rust.out)];
        for ((test, name), ours) in tests.iter().zip(&names).zip(&ours) {
            let number = rows.tests[*test];
            let (condition, answer) = (&rows.conditions[number], &rows.answers[number][column]);
            passed += usize::from(ours == "pass");
            failed += usize::from(ours == "fail");
            for (language, ran) in languages.iter().zip([&python, &rust]) {
                let line = language
                    .get(name)
                    .unwrap_or_else(|| panic!("{name}: {}", ran.all()));
                let fails = line.split(' ').any(|word| word == "FAILED");
                if (ours == "fail") != fails {
                    wrong.push(format!("{condition}, {answer}: ioco: {ours}, {line}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        passed > 30 && failed > 30,
        "{passed} passed, {failed} failed"
    );
}

/// A system that says what a file tells it to: every line of the file is a stimulus and a line that answers it.
const TOLD: &str = r#"
import json, sys
answers = [line.split(b" ", 1) for line in open("answers", "rb").read().splitlines()]
for line in sys.stdin:
    message = json.loads(line)
    given = message.get("stimulus", "").encode()
    lines = [text for name, text in answers if name == given]
    lines = [b'{"ready":true}'] if "reset" in message else lines
    sys.stdout.buffer.write(b"".join(text + b"\n" for text in lines))
    sys.stdout.flush()
"#;

/// One test of an exported suite, against a system that is told what to say.
struct Told {
    folder: TempDir,
    /// Its number, from one.
    test: usize,
}

impl Told {
    /// The test of a suite whose line contains `steps`.
    fn new(model: &str, cover: &str, steps: &str) -> Told {
        let folder = folder_with(&[("m.aml", model), ("system.py", TOLD), ("run.py", RUN)]);
        export(folder.path(), cover);
        let suite = fs::read_to_string(folder.path().join("all.jsonl")).expect("a suite");
        let lines: Vec<&str> = suite.lines().collect();
        let found = lines.iter().position(|line| line.contains(steps));
        let test = found.unwrap_or_else(|| panic!("{steps}: {suite}"));
        let one = format!("{}\n{}\n", lines[0], lines[test]);
        fs::write(folder.path().join("one.jsonl"), one).expect("written");
        Told { folder, test }
    }

    /// What ioco, Python and Rust say: `pass`, `fail`, `inconclusive` or `error`.
    fn verdicts(&self, answers: &[u8]) -> [String; 3] {
        let path = self.folder.path();
        fs::write(path.join("answers"), answers).expect("written");
        let system = "exec python3 system.py";
        let ours = run(ioco().current_dir(path).args([
            "test",
            "m.aml",
            "--suite",
            "one.jsonl",
            "--seed",
            "1",
            "--sut",
            system,
            "--trust",
            "--failures",
            "0",
            "--no-known",
            "--no-shrink",
        ]));
        let name = format!("test_{}", self.test);
        let python = run(Command::new("python3")
            .args(["run.py", &name])
            .current_dir(path)
            .env("IOCO_SUT", system));
        let rust = run(Command::new(path.join("suite"))
            .args(["--nocapture", "--exact", &name])
            .current_dir(path)
            .env("IOCO_SUT", system));
        let of_ioco = |line: &str| {
            let mut words = line.split_whitespace();
            let verdict = words
                .next()
                .filter(|number| *number == "1")
                .and(words.next());
            let verdicts = ["pass", "fail", "inconclusive", "error"];
            verdict
                .filter(|verdict| verdicts.contains(verdict))
                .map(str::to_owned)
        };
        let exported = |said: String| {
            let has = |word: &str| said.split_whitespace().any(|found| found == word);
            let verdict = match (has("FAILED"), said.contains("what is not a message")) {
                (true, true) => "error",
                (true, false) => "fail",
                (false, _) if has("inconclusive:") => "inconclusive",
                (false, _) if has("ok") => "pass",
                _ => panic!("{said}"),
            };
            verdict.to_owned()
        };
        let found = ours.out.lines().find_map(of_ioco);
        [
            found.unwrap_or_else(|| panic!("{}", ours.all())),
            exported(python.all()),
            exported(rust.all()),
        ]
    }

    fn assert(&self, answers: &[u8], wanted: &str) {
        let shown = String::from_utf8_lossy(answers);
        assert_eq!(self.verdicts(answers), [wanted; 3], "{shown}");
    }
}

/// A system that keeps its answer back until the next stimulus is seen as one that crosses it.
#[test]
fn an_exported_file_fails_no_system_whose_response_crosses_stimuli() {
    let model = |process: &str| {
        format!(
            "timeout 10\nexternal 'c'\nprocess('p') {{\n  channel('c') {{ stimuli 'a', 'b', 'c'; responses \
             'x', 'y', 'z', 'w' }}\n  state 'S0'\n  receive 'a'\n  state 'S1'\n  choice {{\n{process}  }}\n  \
             state 'End', timeout: 0.02\n}}\n"
        )
    };
    let say = |responses: &[&str]| {
        let line = |said: &&str| {
            let (stimulus, response) = said.split_at(1);
            format!("{stimulus} {{\"response\":\"{response}\"}}\n")
        };
        responses.iter().map(line).collect::<String>().into_bytes()
    };
    let (a, b) = ("{\"stimulus\":\"a\"}", "{\"stimulus\":\"b\"}");

    // The planned response may also come before the stimulus.
    let planned = model(
        "    o { receive 'b'; send 'x'; send 'z'; goto 'End' }\n    o { send 'x'; receive 'b'; send 'w'; \
         goto 'End' }\n",
    );
    let told = Told::new(&planned, "switches", &format!("[{a},{b}"));
    told.assert(&say(&["bx", "bz"]), "pass");
    told.assert(&say(&["bx", "bw"]), "inconclusive");
    told.assert(&say(&["bw"]), "fail");
    told.assert(&say(&["by"]), "fail");

    // It comes before the last two stimuli.
    let two = model(
        "    o { receive 'b'; receive 'c'; send 'y'; goto 'End' }\n    o { send 'x'; receive 'b'; receive 'c'; \
         send 'z'; goto 'End' }\n",
    );
    let told = Told::new(&two, "switches", &format!("[{a},{b}"));
    told.assert(&say(&["cy"]), "pass");
    told.assert(&say(&["cx", "cz"]), "inconclusive");
    told.assert(&say(&["bx", "cz"]), "inconclusive");
    told.assert(&say(&["cz"]), "fail");

    // The test goes on in both orders, and a response that neither allows is a failure.
    let both = model(
        "    o { send 'x'; receive 'b'; send 'y'; goto 'End' }\n    o { receive 'b'; choice { o { send 'x'; \
         send 'y'; goto 'End' } o { send 'y'; goto 'End' } } }\n",
    );
    let told = Told::new(&both, "locations", &format!("[{a},{b}"));
    told.assert(&say(&["bx", "by"]), "pass");
    told.assert(&say(&["by"]), "pass");
    told.assert(&say(&["bx", "bw"]), "fail");
    told.assert(&say(&["bw"]), "fail");
}

#[test]
fn an_exported_file_reads_lines_as_ioco_does() {
    let model = "timeout 10\nexternal 'c'\nprocess('p') {\n  channel('c') { stimulus 'go'; response 'r', {'s' => \
                 :integer, 'any' => :integer} }\n  state 'S0'\n  receive 'go'; send 'r', constraint: 's == 1'\n  \
                 state 'End', timeout: 0.02\n}\n";
    let told = Told::new(model, "locations", "{\"stimulus\":\"go\"}");
    let right: &[&str] = &[
        r#"{"response":"r","values":{"s":1}}"#,
        // With its channel, or in other letters.
        r#"{"response":"c.r","values":{"s":1}}"#,
        r#" { "response" : "\u0072" , "values" : { "s" : 1e0 } } "#,
        // The model leaves this parameter to the system.
        r#"{"response":"r","values":{"s":1,"any":5}}"#,
        // Other keys are ignored, and so are empty keys.
        r#"{"response":"r","values":{"s":1},"more":[{},[],-0.5E+3,"\"\\"],"error":null}"#,
    ];
    let wrong: &[&str] = &[
        r#"{"response":"r"}"#,
        r#"{"response":"r","values":null}"#,
        r#"{"response":"c.r","values":{"s":2}}"#,
        r#"{"response":"d.r","values":{"s":1}}"#,
        r#"{"response":"r","values":{"s":1,"any":"5"}}"#,
        r#"{"response":"r","values":{"s":1,"other":5}}"#,
    ];
    let junk: &[&[u8]] = &[
        b"hello world",
        b"5",
        b"[\"response\"]",
        b"{\"response\":\"r\",\"values\":{\"s\":1}} trailing",
        b"{\"response\":\"r\",\"values\":{\"s\":1}}{}",
        b"{\"response\":\"r\",\"values\":{\"s\":1},}",
        b"{\"response\":\"r\",\"values\":{\"s\":one}}",
        b"{\"response\":\"r\",\"values\":{\"s\":01}}",
        b"{\"response\":\"r\",\"values\":{\"s\" 1}}",
        b"{\"response\":\"r\",\"values\":{\"s\":1",
        b"{\"response\":\"r\",\"values\":[1]}",
        b"{\"response\":\"\xff\",\"values\":{\"s\":1}}",
        b"{\"response\":5,\"values\":{\"s\":1}}",
        b"{\"values\":{\"s\":1}}",
        b"{\"ready\":1}",
    ];
    let answer = |line: &[u8]| [b"go ", line, b"\n"].concat();
    for line in right {
        told.assert(&answer(line.as_bytes()), "pass");
    }
    for line in wrong {
        told.assert(&answer(line.as_bytes()), "fail");
    }
    for line in junk {
        told.assert(&answer(line), "error");
    }
}

/// A float would take these two numbers for the same.
#[test]
fn a_script_of_a_failure_compares_numbers_exactly() {
    let model = "timeout 10\nexternal 'c'\nprocess('p') {\n  channel('c') { stimulus 'go'; response 'd', {'d' => \
                 :decimal} }\n  state 'S0'\n  receive 'go'; send 'd', constraint: 'd == 0.1'\n  state 'End', \
                 timeout: 0.02\n}\n";
    let answer =
        |number: &str| format!("go {{\"response\":\"d\",\"values\":{{\"d\":{number}}}}}\n");
    let wrong = answer("0.10000000000000000001");
    let folder = folder_with(&[("m.aml", model), ("system.py", TOLD), ("answers", &wrong)]);
    let path = folder.path();
    let ran = run(ioco().current_dir(path).args([
        "test",
        "m.aml",
        "--seed",
        "1",
        "--sut",
        "exec python3 system.py",
        "--trust",
        "--no-shrink",
    ]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    let failures = fs::read_dir(path.join(".ioco/failures")).expect("failures");
    let file = failures.flatten().next().expect("a failure").path();
    let id = file.file_stem().expect("an id").to_owned();
    let export = run(ioco()
        .current_dir(path)
        .arg("export")
        .arg(id)
        .args(["--as", "python"]));
    assert_eq!(export.code, 0, "{}", export.all());
    fs::write(path.join("shows.py"), &export.out).expect("written");
    for (number, code) in [
        ("0.10000000000000000001", 1),
        ("1.0000000000000000001e-1", 1),
        ("0.1", 0),
        ("0.100000000000000000010001", 0),
    ] {
        fs::write(path.join("answers"), answer(number)).expect("written");
        let ran = run(Command::new("python3").arg("shows.py").current_dir(path));
        assert_eq!(ran.code, code, "{number}: {}", ran.all());
    }
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
        assert!(ran.err.contains("omit it here"), "{}", ran.all());
    }
}
