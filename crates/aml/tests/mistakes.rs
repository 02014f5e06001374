//! Every diagnostic there is, as a person reads it: one model with the mistake per code, in
//! `mistakes/`, and what is said about it, in `snapshots/`.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;

use ioco_aml::Sources;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mistakes");

struct Mistakes;

impl Sources for Mistakes {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(format!("{FOLDER}/{path}")).map_err(|_| "no such file".to_owned())
    }
}

/// The codes of models; mistakes in queries have tests of their own.
fn codes() -> impl Iterator<Item = &'static str> {
    ioco_aml::codes().filter(|code| !code.starts_with("A08"))
}

#[test]
fn every_mistake_is_explained_where_it_is() {
    for code in codes() {
        let file = format!("{code}.aml");
        let loaded = ioco_aml::load(&file, &Mistakes);
        let rendered: Vec<String> = loaded
            .diagnostics
            .iter()
            .map(|d| ioco_aml::render(d, &loaded.files, false))
            .collect();
        assert!(
            loaded.diagnostics.iter().any(|d| d.code == code),
            "{file} does not show {code}:\n{}",
            rendered.join("\n")
        );
        let errors = loaded
            .diagnostics
            .iter()
            .any(ioco_aml::Diagnostic::is_error);
        assert_eq!(loaded.sts.is_none(), errors, "{file}");
        insta::assert_snapshot!(code, rendered.join("\n"));
    }
}

#[test]
fn every_model_with_a_mistake_belongs_to_a_code() {
    let codes: BTreeSet<String> = codes().map(|c| format!("{c}.aml")).collect();
    let files: BTreeSet<String> = std::fs::read_dir(FOLDER)
        .expect("the folder is part of the repository")
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    assert_eq!(codes, files);
}

#[test]
fn a_diagnostic_as_json_names_file_line_and_column() {
    let loaded = ioco_aml::load("A066.aml", &Mistakes);
    let json = serde_json::to_string_pretty(&loaded.diagnostics).expect("serializable");
    insta::assert_snapshot!("json", json);
}

#[test]
fn a_declaration_with_an_unknown_type_is_one_error_however_often_it_is_used() {
    let text = |variable: &str, parameter: &str, function: &str| {
        format!(
            "external 'c'
function('twice', [:{function}] => :integer) {{ |n| n + n }}
process('p') {{
  channel('c') {{
    stimulus 'pay', {{'amount' => :{parameter}}}
    response 'paid', {{'total' => :integer}}
  }}
  var 'sum', :{variable}, 0
  state 'Start'
  receive 'pay', constraint: 'amount > 0 && amount < 100', update: 'sum = sum + amount'
  send 'paid', constraint: 'total == sum || total == twice(sum) && sum > 3'
  goto 'Start'
}}
"
        )
    };
    let of = |text: &str| -> Vec<(String, String)> {
        let loaded = ioco_aml::load_text("pay.aml", text);
        let found = loaded.diagnostics.iter();
        let errors = found.filter(|found| found.is_error());
        errors
            .map(|found| (found.code.to_owned(), found.message.clone()))
            .collect()
    };
    let good = "integer";
    assert_eq!(of(&text(good, good, good)), []);
    for text in [
        text("interger", good, good),
        text(good, "interger", good),
        text(good, good, "interger"),
    ] {
        let unknown = ("A024".to_owned(), "unknown type `:interger`".to_owned());
        assert_eq!(of(&text), [unknown], "{text}");
    }
}
