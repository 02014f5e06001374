//! The text of queries: what it means, and what is said about mistakes in it.

use ioco_aml::query::{Item, Query, parse};
use ioco_aml::{SourceFile, render};
use ioco_sts::{Sts, show_expr};

const DOOR: &str = "
external 'door'
process('Door') {
  channel('door') {
    stimulus 'open'
    stimulus 'lock', {'code' => integer(0..9), 'force' => :boolean}
    responses 'opened', 'locked'
  }
  var 'tries', :integer, 0
  state 'Closed'
  repeat {
    o { receive 'open'; send 'opened'; goto 'the yard' }
    o { receive 'lock', constraint: 'code > 0', update: 'tries += 1'; send 'locked' }
  }
  state 'the yard'
}
";

fn door() -> std::sync::Arc<Sts> {
    ioco_aml::load_text("door.aml", DOOR).sts.expect("a model")
}

fn read(text: &str) -> Query {
    parse("door.query", text, &door()).unwrap_or_else(|found| panic!("{found:#?}"))
}

/// The items, one a line.
fn shown(text: &str) -> String {
    let sts = door();
    let query = read(text);
    let matchers = |all: &[ioco_aml::query::Matcher]| -> String {
        let one = |m: &ioco_aml::query::Matcher| {
            let name = sts.label(m.label).marked_name();
            format!("{name}[{}]", show_expr(&sts, Some(m.label), &m.condition))
        };
        all.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    let mut lines = Vec::new();
    for item in &query.items {
        lines.push(match item {
            Item::Step(all) => matchers(all),
            Item::Gap {
                least,
                most,
                without,
            } => format!("{least}..{most:?} {}", matchers(without)),
            Item::Here {
                locations,
                condition,
            } => {
                let names: Vec<&str> = locations
                    .iter()
                    .map(|l| sts.location(*l).name.as_str())
                    .collect();
                format!(
                    "@{} [{}]",
                    names.join(","),
                    show_expr(&sts, None, condition)
                )
            }
        });
    }
    lines.join("\n")
}

#[test]
fn steps_gaps_places_and_lengths() {
    let text = "
within 12 steps          # a comment with 'quotes
?lock(code=3, force) where tries < 2 or !opened
... without ?open or ?lock where code == 1
... 3 steps
... within 4 steps
... at least 1 step
2 times ?lock where code in 1..3 &&
    force
at 'the yard' where tries == 0
where tries > 1
visits Closed or 'the yard'
!*
*
";
    assert_eq!(read(text).within, Some(12));
    insta::assert_snapshot!(shown(text), @r"
    ?lock[code == 3 && force && tries < 2] !opened[true]
    0..None ?open[true] ?lock[code == 1]
    3..Some(3) 
    0..Some(4) 
    1..None 
    ?lock[code in 1..3 && force]
    ?lock[code in 1..3 && force]
    @the yard [tries == 0]
    @ [tries > 1]
    0..None 
    @Closed,the yard [true]
    !opened[true] !locked[true]
    ?open[true] ?lock[true] !opened[true] !locked[true]
    ");
}

#[test]
fn every_mistake_has_its_place_and_a_hint() {
    let text = "within twelve steps
?opne
!open
?lock(coed=3)
?lock where coed > 3
?lock where code
?lock where
at Closde
ahead ?open
3 ?open
0 times ?open
... sometimes
?open and more
?lock(code=3
";
    let files = [SourceFile {
        name: "door.query".to_owned(),
        text: text.to_owned(),
    }];
    let found = parse("door.query", text, &door()).expect_err("mistakes");
    let all: Vec<String> = found.iter().map(|d| render(d, &files, false)).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_query_that_asks_for_nothing_is_refused() {
    for text in ["", "# nothing\n", "within 3 steps\n"] {
        let found = parse("door.query", text, &door()).expect_err("nothing asked for");
        assert_eq!(found[0].code, "A081", "{text:?}");
    }
}

#[test]
fn reading_never_fails_on_odd_text() {
    for text in [
        "?",
        "!",
        "...(",
        "?lock(",
        "at",
        "'",
        "2 times",
        "…",
        "? open",
        "within 99999999999 steps",
        "?lock where \"",
        "at ''",
    ] {
        let _ = parse("door.query", text, &door());
    }
}
