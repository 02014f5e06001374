//! Requirements that a model cites: which steps show them.

use ioco_aml::load_text;

#[test]
fn a_requirement_belongs_to_the_statement_after_it() {
    let text = "external 'c'
requirement 'R-1', 'A second connect closes.'
process('p') {
  channel('c') {
    stimuli 'a', 'b', 'd'
    responses 'x', 'y'
  }
  behavior('both') { receive 'd'; send 'y' }
  requirement 'R-0', 'It starts.'
  state 'S'
  receive 'a'
  requirement 'R-1'
  send 'x'
  state 'T'
  requirement 'R-2', 'All of the loop.'
  repeat {
    requirement 'R-3'
    o { receive 'a'; send 'x', requirement: 'R-1' }
    o { receive 'b'; requirement 'R-4', 'Both steps.'; call 'both' }
    o { receive 'd'; goto 'S' }
  }
}
";
    let loaded = load_text("m.aml", text);
    let sts = loaded.sts.expect("a model");
    let shown = sts.requirements().iter().map(|requirement| {
        let switches = requirement.switches.iter();
        let switches: Vec<String> = switches.map(|id| sts.show_switch(*id)).collect();
        let place = sts.show_place(requirement.place);
        format!(
            "{} {place} {:?}: {}",
            requirement.id,
            requirement.text,
            switches.join(", ")
        )
    });
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    R-1 m.aml:2 "A second connect closes.": _1 ──!x──► T, _2 ──!x──► T
    R-0 m.aml:9 "It starts.": S ──?a──► _1
    R-2 m.aml:15 "All of the loop.": T ──?a──► _2, _2 ──!x──► T, T ──?b──► _3, _3 ──?d──► _4, _4 ──!y──► T, T ──?d──► S
    R-3 m.aml:17 "": T ──?a──► _2, _2 ──!x──► T
    R-4 m.aml:19 "Both steps.": _3 ──?d──► _4, _4 ──!y──► T
    "#);
}
