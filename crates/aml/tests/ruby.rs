//! The Ruby that is carried out when a model is read: constants, `each`, macros with parameters.

use ioco_aml::load_text;
use ioco_sts::{SwitchId, show_switch_label};

const CHANNEL: &str = "channel('c') {
    stimulus 'a', {'n' => integer(0..9)}
    stimuli 'b', 'c'
    response 'x', {'text' => :string}
    responses 'y', 'z'
  }";

/// The switches, one a line, or the errors.
fn read(declarations: &str, statements: &str) -> String {
    let text =
        format!("external 'c'\n{declarations}\nprocess('p') {{\n  {CHANNEL}\n{statements}\n}}\n");
    let loaded = load_text("m.aml", &text);
    let Some(sts) = &loaded.sts else {
        let errors = loaded.diagnostics.iter().filter(|d| d.is_error());
        let said = errors.map(|d| {
            let (line, column) = d.line_column();
            format!("{line}:{column} {} {}", d.code, d.message)
        });
        return said.collect::<Vec<_>>().join("\n");
    };
    let switches = (0..sts.switches().len()).map(|index| {
        let id = SwitchId::from_index(index);
        let switch = sts.switch(id);
        let source = &sts.location(switch.source).name;
        let target = &sts.location(switch.target).name;
        format!("{source} {} {target}", show_switch_label(sts, id))
    });
    switches.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_makes_an_option_for_every_item() {
    insta::assert_snapshot!(
        read("", "state 'S'\nrepeat { ['b', 'c'].each { |l| o { receive l; send 'y' } } o { receive 'a' } }"),
        @r#"
    S ?b _1
    _1 !y S
    S ?c _2
    _2 !y S
    S ?a S
    "#
    );
    insta::assert_snapshot!(
        read("ALL = ['y', 'z']\nLAST = 2", "state 'S'\n(0..LAST).each do |i|\n  receive 'a', constraint: \"n == #{i}\"\nend\nchoice { ALL.each { |r| o { send r; goto 'S' } } }"),
        @r#"
    S ?a [n == 0] _1
    _1 ?a [n == 1] _2
    _2 ?a [n == 2] _3
    _3 !y S
    _3 !z S
    "#
    );
}

#[test]
fn expressions_read_constants() {
    insta::assert_snapshot!(
        read(
            "MAX = 3\nWORDS = ['on', 'off']\nLOW = -2\nfunction('far', [:integer] => :boolean) { |k| k > MAX }",
            "var 'k', :integer, 0\nstate 'S'\nrepeat {
                o { receive 'a', constraint: 'n in 1..MAX', update: 'k = LOW + MAX' }
                o { receive 'b'; send 'x', constraint: 'text in WORDS'; goto 'S' }
                o { receive 'c'; send 'x', constraint: '(1..MAX).all? { |i| i != k } && far(k) && text == WORDS[0]'; goto 'S' }
            }"
        ),
        @r#"
    S ?a [n in 1..3] k := -2 + 3 S
    S ?b _1
    _1 !x [text in ["on", "off"]] S
    S ?c _2
    _2 !x [(1..3).all? { |i| i != k } && far(k) && text == ["on", "off"][0]] S
    "#
    );
    // What the model declares goes before a constant; the message of what has no place in an expression names it.
    insta::assert_snapshot!(
        read("enum 'E', 'Max', 'Min'\nMax = 7", "var 'e', 'E', 'Min'\nstate 'S'\nreceive 'b', constraint: 'e == Max'"),
        @"S ?b [e == Max] _1"
    );
    insta::assert_snapshot!(
        read("MAX = 'three'\nKIND = :integer", "state 'S'\nreceive 'a', constraint: 'n < MAX'\nreceive 'a', constraint: 'n == KIND'"),
        @r"
    12:27 A040 an integer and a string do not go together
    13:32 A032 unknown name `KIND`
    "
    );
}

#[test]
fn a_macro_takes_arguments_and_can_be_defined_again() {
    let macros = "def answer(label, word)\n  send label, constraint: \"text == \\\"#{word}\\\"\"\nend\n\
                  def twice(word)\n  answer('x', word)\n  answer('x', word)\nend\n\
                  def stop()\n  send 'y'\nend\ndef stop()\n  send 'z'\nend";
    insta::assert_snapshot!(
        read(macros, "state 'S'\nreceive 'b'\ntwice('hi')\nstop()\ngoto 'S'"),
        @r#"
    S ?b _1
    _1 !x [text == "hi"] _2
    _2 !x [text == "hi"] _3
    _3 !z S
    "#
    );
    let again = "def turn(n)\n  receive 'a', constraint: \"n == #{n}\"\n  turn(n)\nend";
    insta::assert_snapshot!(
        [
            read(again, "turn(1)"),
            read(macros, "answer('x')"),
            read("", "receive 'a', constraint: \"n == #{who}\""),
            read("", "[1, who].each { |x, y| receive 'b' }"),
            read("", "receive 'a', constraint: \"n < 3 && #{MAX} > foo\""),
            read("MAX = 12345", "receive 'a', constraint: \"n < 3 && #{MAX} > foo\""),
            read("", "A = 3"),
            read("A = 3\nA = 4", "receive 'b'"),
            read("", "(1..300000).each { |i| receive 'b' }"),
        ]
        .join("\n"),
        @r#"
    4:3 A051 the macro `turn` contains itself
    22:1 A022 `answer` takes 2 arguments, not 1
    10:32 A003 not supported: only a constant, a parameter of a macro or of `each` can be put into a string
    10:1 A022 the block of `each` has one parameter: `[1, 2].each { |x| ... }`
    10:36 A003 not supported: only a constant, a parameter of a macro or of `each` can be put into a string
    10:45 A032 unknown name `foo`
    10:1 A021 a constant is declared at the top of the file
    3:1 A023 the constant `A` is declared twice
    10:24 A052 with all loops and macros put in place, the model is too large
    "#
    );
}

#[test]
fn what_is_expanded_is_formatted_and_stays_as_it_is() {
    let text = "MAX=3\nprocess('p') {\nrepeat {\n[1,2].each{|i| o { receive 'a' } }\n(1..MAX).each do |i|\n o { receive 'b' }\nend\n}\n}\n";
    let formatted = ioco_aml::format(text).expect("readable");
    insta::assert_snapshot!(formatted, @r#"
    MAX = 3
    process('p') {
      repeat {
        [1, 2].each { |i| o { receive 'a' } }
        (1..MAX).each do |i|
          o { receive 'b' }
        end
      }
    }
    "#);
    assert_eq!(ioco_aml::format(&formatted), Ok(formatted));
}

/// An empty `repeat` and a comparison that is decided by the types are most likely slips, and no errors.
#[test]
fn a_model_with_a_slip_can_be_used() {
    for statements in [
        "receive 'b'\nrepeat {}",
        "receive 'a', constraint: 'n == \"3\"'",
        "receive 'a', constraint: 'n != \"3\"'",
    ] {
        let text = format!("external 'c'\nprocess('p') {{\n  {CHANNEL}\n{statements}\n}}\n");
        let loaded = load_text("m.aml", &text);
        assert!(loaded.sts.is_some(), "{statements}");
        let warnings = loaded.diagnostics.iter();
        let warnings = warnings.filter(|d| d.severity == ioco_aml::Severity::Warning);
        assert_eq!(
            warnings.count(),
            1,
            "{statements}: {:?}",
            loaded.diagnostics
        );
    }
}
