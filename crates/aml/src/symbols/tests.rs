//! Names found in a model that has one of everything.

use super::*;

const MODEL: &str = "\
external 'door'
enum 'Key', 'Gold', 'Iron'
function('double', [:integer] => :integer) { |x| x * 2 }
def shut()
  send 'closed'
end

process('main') {
  channel('door') {
    stimulus 'open', {'code' => integer(0..9), 'key' => 'Key'}
    responses 'opened', 'closed'
  }
  var 'tries', :integer, 0
  behavior('wait') {
    state 'Waiting'
    receive 'open', constraint: 'double(code) == tries && key == Gold', update: 'tries += code'
    goto 'Waiting'
  }
  state 'Closed'
  choice {
    o { receive 'open', note: 'after $tries'; send 'opened'; goto 'Closed' }
    o { shut(); call 'wait'; goto 'Closed' }
  }
}
";

struct SingleFile(&'static str);

impl Sources for SingleFile {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_owned())
    }
}

fn index() -> Index {
    Index::read("door.aml", &SingleFile(MODEL)).unwrap()
}

/// The symbol under the last character of the first `needle`.
fn under(index: &Index, needle: &str) -> String {
    let offset = MODEL.find(needle).unwrap() + needle.len() - 1;
    let (symbol, _) = index.at(0, offset).unwrap_or_else(|| panic!("{needle}"));
    format!("{} {}", symbol.kind.name(), symbol.name)
}

#[test]
fn names_are_found_in_statements_and_inside_constraint_strings() {
    let index = index();
    assert_eq!(under(&index, "goto 'Waiting"), "state Waiting");
    assert_eq!(under(&index, "goto 'Closed"), "state Closed");
    assert_eq!(under(&index, "call 'wait"), "behavior wait");
    assert_eq!(under(&index, "o { receive 'open"), "stimulus open");
    assert_eq!(under(&index, "constraint: 'double"), "function double");
    assert_eq!(under(&index, "double(code"), "parameter code");
    assert_eq!(under(&index, "== tries"), "variable tries");
    assert_eq!(under(&index, "key == Gold"), "enum value Gold");
    assert_eq!(under(&index, "update: 'tries"), "variable tries");
    assert_eq!(under(&index, "after $tries"), "variable tries");
    assert_eq!(under(&index, "'key' => 'Key"), "enum Key");
    assert_eq!(under(&index, "o { shut"), "macro shut");
    assert_eq!(under(&index, "external 'door"), "channel door");
}

#[test]
fn a_symbol_knows_its_definition_and_every_use() {
    let index = index();
    let tries = index.symbols.iter().find(|s| s.name == "tries").unwrap();
    assert_eq!(tries.detail, "var 'tries', :integer, 0");
    assert_eq!((tries.definitions.len(), tries.uses.len()), (1, 3));
    for place in tries.occurrences() {
        assert_eq!(&MODEL[place.span.clone()], "tries");
    }
}

#[test]
fn renaming_refuses_what_would_clash_or_cannot_be_a_name() {
    let index = index();
    let symbol = |name: &str| index.symbols.iter().find(|s| s.name == name).unwrap();
    assert!(index.can_rename(symbol("tries"), "count").is_ok());
    assert!(index.can_rename(symbol("tries"), "two words").is_err());
    assert!(index.can_rename(symbol("Closed"), "two words").is_ok());
    assert!(index.can_rename(symbol("opened"), "closed").is_err());
    assert!(index.can_rename(symbol("Closed"), "it's").is_err());
}

fn completed(text: &'static str) -> Vec<String> {
    let offset = text.find('^').unwrap();
    let shown: &'static str = Box::leak(text.replace('^', "").into_boxed_str());
    let index = Index::read("door.aml", &SingleFile(shown)).unwrap();
    let mut found: Vec<String> = index
        .complete(0, offset)
        .into_iter()
        .map(|c| c.text)
        .collect();
    found.sort();
    found
}

#[test]
fn what_can_be_typed_depends_on_the_place() {
    let model = |statement: &str| -> &'static str {
        let text = MODEL.replace(
            "  state 'Closed'\n",
            &format!("  {statement}\n  state 'Closed'\n"),
        );
        Box::leak(text.into_boxed_str())
    };
    assert_eq!(completed(model("goto '^'")), ["Closed"]);
    assert_eq!(completed(model("goto '^")), ["Closed"]);
    assert_eq!(completed(model("receive '^'")), ["open"]);
    assert_eq!(completed(model("send '^'")), ["closed", "opened"]);
    assert_eq!(completed(model("call '^'")), ["wait"]);
    assert_eq!(
        completed(model("receive 'open', constraint: '^'")),
        ["Gold", "Iron", "code", "double", "key", "tries"]
    );
    let words = completed(model("^"));
    assert!(words.contains(&"receive".to_owned()) && words.contains(&"shut()".to_owned()));
    assert!(!words.contains(&"stimulus".to_owned()), "{words:?}");
    assert!(completed("^\n").contains(&"process".to_owned()));
}
