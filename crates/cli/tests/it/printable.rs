//! Text from outside on its way to the terminal, as a table: every source of such text with every kind of hostile
//! text. Only its printable form arrives, whatever message it is part of.

use crate::support::{PING, PONG, TempDir, folder_with, ioco, run};

/// What is to be seen in the end, so that a source that says nothing is not taken for a safe one.
const SEEN: &str = "SEEN";

/// What a terminal would obey. The first colours are ones that ioco uses too.
const HOSTILE: [&str; 7] = [
    "\u{1b}[31mSEEN",
    "\u{1b}[0mSEEN",
    "\u{1b}[8mSEEN",
    "\u{1b}]52;c;ZXZpbA==\u{7}SEEN",
    "\u{1b}[2JSEEN",
    "\u{9b}31mSEEN",
    "\u{202e}SEEN",
];

/// A project with a hostile text in it, and a command that says something about that.
type Source = fn(&str) -> (TempDir, Vec<String>);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// A system that is ready and then does this.
fn system(text: &str, does: &str) -> (TempDir, Vec<String>) {
    let python = format!(
        "import json, sys\nsaid = {}\nfor line in sys.stdin:\n    \
         if 'reset' in line:\n        print('{{\"ready\": true}}', flush=True)\n        continue\n    {does}\n",
        serde_json::to_string(text).expect("a string of Python too")
    );
    let folder = folder_with(&[("ping.aml", PING), ("system.py", &python)]);
    let test = [
        "test",
        "ping.aml",
        "--sut",
        "exec python3 system.py",
        "--seed",
        "1",
        "--tests",
        "1",
        "--no-shrink",
    ];
    (folder, words(&test))
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("JSON")
}

const SOURCES: [(&str, Source); 10] = [
    ("the label of a response", |text| {
        system(
            text,
            "print(json.dumps({'response': said}, ensure_ascii=False), flush=True)",
        )
    }),
    ("the error of a system", |text| {
        system(
            text,
            "print(json.dumps({'error': said}, ensure_ascii=False), flush=True)",
        )
    }),
    ("a line that is no message", |text| {
        system(text, "print(said, flush=True)")
    }),
    ("the last words of a system that ends", |text| {
        system(
            text,
            "print(said, file=sys.stderr, flush=True); sys.exit(3)",
        )
    }),
    ("a command in ioco.toml", |text| {
        let command =
            quoted(&format!("exec python3 system.py '{text}'")).replace("\u{9b}", "\\u009b");
        let toml = format!("model = \"ping.aml\"\n[sut]\ncommand = {command}\n");
        let folder = folder_with(&[
            ("ping.aml", PING),
            ("system.py", PONG),
            ("ioco.toml", &toml),
        ]);
        (folder, words(&["test", "--tests", "1"]))
    }),
    ("a setting of ioco.toml", |text| {
        let key = quoted(text).replace("\u{9b}", "\\u009b");
        let folder = folder_with(&[("ping.aml", PING), ("ioco.toml", &format!("{key} = 1\n"))]);
        (folder, words(&["test", "ping.aml", "--sut", "exec true"]))
    }),
    ("the name of a model file", |text| {
        let name = format!("{}.aml", text.replace('/', ""));
        let folder = folder_with(&[(&name, PING), ("system.py", PONG)]);
        let test = [
            "test",
            &name,
            "--sut",
            "exec python3 system.py",
            "--tests",
            "1",
        ];
        (folder, words(&test))
    }),
    ("a word of a model", |text| {
        let folder = folder_with(&[("ping.aml", &format!("process('x') {{ {text} }}\n"))]);
        (folder, words(&["check", "ping.aml"]))
    }),
    ("an included file", |text| {
        let folder = folder_with(&[("ping.aml", &format!("include '{text}'\n{PING}"))]);
        (folder, words(&["check", "ping.aml"]))
    }),
    ("the name of a failure file", |text| {
        let folder = folder_with(&[("ping.aml", PING)]);
        let failures = folder.path().join(".ioco/failures");
        std::fs::create_dir_all(&failures).expect("a folder");
        let name = format!("{}.json", text.replace('/', ""));
        std::fs::write(failures.join(name), "{}").expect("written");
        (folder, words(&["replay", "another"]))
    }),
];

#[test]
fn only_the_printable_form_of_text_from_outside_reaches_a_terminal() {
    let mut wrong = Vec::new();
    for (name, source) in SOURCES {
        for text in HOSTILE {
            let (folder, arguments) = source(text);
            let mut command = ioco();
            // As a terminal would get it: nothing is left out because it is none.
            command.env_remove("NO_COLOR").env("FORCE_COLOR", "1");
            let ran = run(command.current_dir(folder.path()).args(arguments));
            let all = ran.all();
            if !all.contains(SEEN) {
                wrong.push(format!("{name} is not seen: {all:?}"));
            }
            // Whole sequences of ours may stand directly before it; those of the text may not.
            if all.contains(text) {
                wrong.push(format!("{name} passes {text:?} on: {all:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
