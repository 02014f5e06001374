//! What statements mean as locations and switches.

use ioco_aml::{Sources, load, load_text};
use ioco_sts::{Env, Gate, LocationId, Sts, SwitchId, Value, show_expr};

/// The switches of a process with plain labels, one a line.
fn switches_of(statements: &str) -> String {
    let text = format!(
        "external 'c'\n\
         def twice()\n  receive 'a'\n  receive 'a'\nend\n\
         process('p') {{\n\
         channel('c') {{ stimuli 'a', 'b', 'c'\n responses 'x', 'y' }}\n\
         var 'n', :integer, 0\n\
         behavior('ping') {{ receive 'a'; send 'x' }}\n\
         behavior('loop') {{ state 'L'; receive 'b'; choice {{ o {{ send 'y'; goto 'L' }} o {{ send 'x' }} }} }}\n\
         behavior('forever', :non_terminating) {{ state 'F'; receive 'c'; behave_as 'forever' }}\n\
         {statements}\n}}\n"
    );
    let loaded = load_text("m.aml", &text);
    let problems: Vec<String> = loaded
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| ioco_aml::render(d, &loaded.files, false))
        .collect();
    let sts = loaded
        .sts
        .unwrap_or_else(|| panic!("{}", problems.join("\n")));
    shown(&sts)
}

fn shown(sts: &Sts) -> String {
    let mut lines = Vec::new();
    for process in sts.processes() {
        lines.push(format!("start {}", sts.location(process.initial).name));
    }
    for (index, switch) in sts.switches().iter().enumerate() {
        let id = SwitchId::from_index(index);
        let mut line = sts.show_switch(id);
        let guard = show_expr(sts, switch.gate.label(), &switch.guard);
        if guard != "true" {
            line += &format!(" [{guard}]");
        }
        for assignment in &switch.update {
            let name = &sts.variable(assignment.variable).name;
            let value = show_expr(sts, switch.gate.label(), &assignment.value);
            line += &format!(" {name} := {value}");
        }
        lines.push(line);
    }
    for (index, location) in sts.locations().iter().enumerate() {
        if sts.outgoing(LocationId::from_index(index)).is_empty() {
            lines.push(format!("end {}", location.name));
        }
    }
    lines.join("\n")
}

#[test]
fn a_goto_makes_no_step() {
    insta::assert_snapshot!(switches_of("goto 'A'\nstate 'A'\nreceive 'a'\ngoto 'B'\nstate 'B'\ngoto 'A'"), @r"
    start A, B
    A, B ──?a──► A, B
    ");
}

#[test]
fn an_option_without_goto_goes_on_after_the_block() {
    insta::assert_snapshot!(
        switches_of("choice { o { receive 'a' } o { receive 'b'; goto 'B' } }\nsend 'x'\nstate 'B'"),
        @r"
    start _1
    _1 ──?a──► _2
    _1 ──?b──► B
    _2 ──!x──► B
    end B
    "
    );
}

#[test]
fn a_repeat_returns_to_where_it_starts_until_it_is_stopped() {
    insta::assert_snapshot!(
        switches_of("state 'S'\nrepeat { o { receive 'a'; send 'x' } o { receive 'b'; stop_repetition } }\nsend 'y'"),
        @r"
    start S
    S ──?a──► _1
    _1 ──!x──► S
    S ──?b──► _2
    _2 ──!y──► _3
    end _3
    "
    );
}

#[test]
fn a_repeat_inside_an_option_does_not_offer_the_other_options_again() {
    insta::assert_snapshot!(
        switches_of("state 'S'\nchoice { o { repeat { o { receive 'a' } o { receive 'c'; stop_repetition } } } o { receive 'b' } }\nsend 'x'"),
        @r"
    start S
    S ──?a──► _1
    _1 ──?a──► _1
    S ──?c──► _2
    _1 ──?c──► _2
    S ──?b──► _2
    _2 ──!x──► _3
    end _3
    "
    );
}

#[test]
fn an_option_that_begins_with_goto_offers_what_that_state_offers_and_not_the_reverse() {
    insta::assert_snapshot!(
        switches_of("state 'S'\nchoice { o { goto 'T' } o { receive 'b'; goto 'T' } }\nstate 'T'\nreceive 'a'\ngoto 'T'"),
        @r"
    start S
    S ──?b──► T
    S ──?a──► T
    T ──?a──► T
    "
    );
}

#[test]
fn an_empty_option_may_be_passed_over() {
    insta::assert_snapshot!(
        switches_of("choice { o { receive 'a' } o { } }\nsend 'x'"),
        @r"
    start _1
    _1 ──?a──► _2
    _1 ──!x──► _3
    _2 ──!x──► _3
    end _3
    "
    );
}

#[test]
fn a_called_behavior_comes_back_to_each_of_its_calls() {
    insta::assert_snapshot!(
        switches_of("state 'S'\ncall 'ping'\ncall 'loop'\ncall 'loop'\nreceive 'c'\ngoto 'S'"),
        @r"
    start S
    S ──?a──► _1
    _1 ──!x──► L
    L ──?b──► _2
    _2 ──!y──► L
    _2 ──!x──► L#2
    L#2 ──?b──► _3
    _3 ──!y──► L#2
    _3 ──!x──► _4
    _4 ──?c──► S
    "
    );
}

#[test]
fn behaving_as_a_behavior_does_not_come_back() {
    insta::assert_snapshot!(
        switches_of("receive 'a'\nchoice { o { receive 'b'; behave_as 'forever' } o { receive 'c'; behave_as 'forever' } }"),
        @r"
    start _1
    _1 ──?a──► _2
    _2 ──?b──► F
    _2 ──?c──► F
    F ──?c──► F
    "
    );
}

#[test]
fn a_macro_is_put_in_place_of_its_name() {
    insta::assert_snapshot!(switches_of("twice()\nsend 'x'\ntwice()"), @r"
    start _1
    _1 ──?a──► _2
    _2 ──?a──► _3
    _3 ──!x──► _4
    _4 ──?a──► _5
    _5 ──?a──► _6
    end _6
    ");
}

#[test]
fn updates_read_the_old_values_and_plus_equals_is_written_out() {
    insta::assert_snapshot!(
        switches_of("state 'S'\nreceive 'a', constraint: 'n < 3', update: 'n += 1'\ntau update: 'n = 0'\ngoto 'S'"),
        @r"
    start S
    S ──?a──► _1 [n < 3] n := n + 1
    _1 ──τ──► S n := 0
    "
    );
}

#[test]
fn processes_shake_hands_on_internal_channels() {
    let loaded = load_text(
        "m.aml",
        "external 'c'\ninternal 'i'\n\
         process('left') {\n channel('c') { stimuli 'a' }\n channel('i') { response 'tell', {'n' => :integer} }\n\
         var 'v', :integer, 1\n state 'L'\n receive 'a'\n send 'tell', constraint: 'n == v'\n goto 'L' }\n\
         process('right') {\n channel('i') { stimulus 'tell', {'n' => :integer} }\n channel('c') { responses 'x' }\n\
         var 'v', :integer\n state 'R'\n receive 'tell', constraint: 'n > 0', update: 'v = n'\n send 'x'\n goto 'R' }\n",
    );
    let sts = loaded.sts.expect("no errors");
    insta::assert_snapshot!(shown(&sts), @r"
    start L
    start R
    L ──?a──► _1
    _1 ──tell──► L [n == left.v]
    R ──tell──► _2 [n > 0] v := n
    _2 ──!x──► R
    ");
    let gates: Vec<Gate> = sts.switches().iter().map(|s| s.gate).collect();
    assert!(matches!(gates[1], Gate::Send(_)) && matches!(gates[2], Gate::Receive(_)));
    let label = gates[1].label().expect("a label");
    assert_eq!(sts.participants(label).len(), 2);
}

#[test]
fn time_outs_are_kept_for_the_model_and_for_a_state() {
    let loaded = load_text(
        "m.aml",
        "timeout 1.5\nprocess('p') { state 'S'\n goto 'B'\n state 'B', timeout: 5 }",
    );
    let sts = loaded.sts.expect("no errors");
    assert_eq!(sts.timeout(), 1_500_000_000);
    assert_eq!(sts.locations()[0].timeout, Some(5_000_000_000));
}

#[test]
fn a_time_out_is_never_rounded_down() {
    for (written, nanoseconds) in [
        ("0.0000000001", 1),
        ("0.0000000011", 2),
        ("1.0000000001", 1_000_000_001),
        ("0.000000001", 1),
    ] {
        let text = format!("timeout {written}\nprocess('p') {{ state 'S' }}");
        let sts = load_text("m.aml", &text).sts.expect("no errors");
        assert_eq!(sts.timeout(), nanoseconds, "{written}");
    }
}

#[test]
fn an_unset_integer_is_an_unset_decimal() {
    let text = "
external 'c'
struct 'Pair', {'one' => :decimal}
function('same', [:decimal] => :decimal) { |x| x }
process('p') {
  channel('c') { stimulus 'a', {'n' => :integer} }
  var 'd', :decimal, 1.5
  var 'f', :decimal, 1.5
  var 'ds', [:decimal], []
  var 'r', 'Pair'
  state 'S'
  receive 'a', update: 'd = n; f = same(n); ds = [n, 2]; r = Pair(one: n)'
  goto 'S'
}
";
    let sts = load_text("m.aml", text).sts.expect("no errors");
    let before: Vec<Value> = sts.variables().iter().map(|v| v.initial.clone()).collect();
    let after = |given: Value| -> Vec<String> {
        let env = Env {
            variables: &before,
            parameters: &[given],
            functions: sts.functions(),
        };
        let switch = &sts.switches()[0];
        assert_eq!(switch.enabled.holds(env), Ok(true));
        let values = switch
            .update
            .iter()
            .map(|a| a.value.eval(env).expect("a value"));
        values.map(|v| v.display(sts.types()).to_string()).collect()
    };
    assert_eq!(
        after(Value::Int(3)),
        ["3.0", "3.0", "[3.0, 2.0]", "{one: 3.0}"]
    );
    assert_eq!(
        after(Value::Void),
        [":void", ":void", "[:void, 2.0]", "{one: :void}"]
    );
}

#[test]
fn included_files_are_read_relative_to_the_including_one_and_keep_their_places() {
    struct Two;
    impl Sources for Two {
        fn read(&self, path: &str) -> Result<String, String> {
            match path {
                "models/door.aml" => Ok("process('p') {\ninclude 'parts/body.aml'\n}".to_owned()),
                "models/parts/body.aml" => {
                    Ok("include '../labels.aml'\nstate 'S'\nreceive 'a'\ngoto 'S'".to_owned())
                }
                "models/labels.aml" => Ok("channel('c') { stimuli 'a' }\nexternal 'c'".to_owned()),
                _ => Err("no such file".to_owned()),
            }
        }
    }
    let sts = load("models/door.aml", &Two).sts.expect("no errors");
    let place = sts.switches()[0].place;
    assert_eq!(sts.show_place(place), "models/parts/body.aml:3");
    assert_eq!(place.column, 1);
}

#[test]
fn one_wrong_line_does_not_hide_the_next() {
    let loaded = load_text(
        "m.aml",
        "external 'c'\nprocess('p') {\n channel('c') { stimuli 'a' }\n state 'S'\n\
         receive 'a\n receive 'b'\n receive 'a', constraint: 'q > '\n receive 'a', constraint: 'q'\n\
         o { }\n goto 'T'\n}\nprocess('q') { receive 'z' }",
    );
    let found: Vec<(&str, u32)> = loaded
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| (d.code, d.line_column().0))
        .collect();
    assert_eq!(
        found,
        [
            ("A002", 5),
            ("A030", 6),
            ("A005", 7),
            ("A032", 8),
            ("A021", 9),
            ("A031", 10),
            ("A030", 12)
        ]
    );
}

#[test]
fn every_way_of_writing_and_every_kind_of_expression_is_understood() {
    let text = r#"
timeout 2; external "c"
enum 'Product', 'Coffee', 'Tea'
struct 'Order', { 'product' => 'Product',   # what
                  'count'   => integer(1..9) }
function ( 'price', ['Product', :integer] => :decimal ) { |p, n|
  if p == Coffee then n * 2.50 else n * 1
}
function('zero', [] => :integer) { 0 }
def ready?() receive 'go' end
process 'shop' do
  channel('c') do
    stimulus 'order', 'order' => 'Order',
             'when' => :date
    stimulus "go"
    response 'bill', { 'sum' => :decimal, 'lines' => [:decimal], 'paid' => :boolean }
  end
  var 'orders', ['Order'], []
  var 'last_one', 'Order', {'product' => Tea, 'count' => 1}
  var 'total', :decimal, 0
  var '_since', :date
  var 'names', [:string], ['a', "b"]
  ready?
  state 'Open', timeout: 0.25
  receive 'order',
    constraint: %(order.count in 1..9 && order.product in [Coffee, Product.Tea]
                  && (when > _since || _since == :void) && when != :void),
    update: "orders += [order]; last_one = order;
             _since = when", # simultaneous
    note: '#green $total'
  send 'bill', constraint: 'sum == price(last(orders).product, orders[length(orders) - 1].count) + zero() && lines == [1, 2.5] && !(paid)
     && max(length(orders), -3) % 4 < abs(-5) * 2 && names[0] =~ /^[a-z]\/?$/ && min(1, 2.5) <= last_one.count',
    update: 'total = 0
      names = names + ["c"]'
  goto 'Open'
end
"#;
    let loaded = load_text("m.aml", text);
    let said: Vec<String> = loaded
        .diagnostics
        .iter()
        .map(|d| ioco_aml::render(d, &loaded.files, false))
        .collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
    let sts = loaded.sts.expect("no errors");
    insta::assert_snapshot!("every_kind", shown(&sts));
    let again = ioco_aml::format(text).expect("well formed");
    let formatted = load_text("m.aml", &again).sts.expect("no errors");
    assert_eq!(shown(&formatted), shown(&sts));
    insta::assert_snapshot!("formatted", again);
}

#[test]
fn an_update_by_an_unset_value_is_no_mistake() {
    for (constraint, is_wrong) in [("n == :void", false), ("n > 20", true)] {
        let text = format!(
            "external 'c'\nprocess('p') {{\n  channel('c') {{ stimulus 'a', {{'n' => :integer}} }}\n  \
             var 'k', integer(0..9), 0\n  state 'S'\n  receive 'a', constraint: '{constraint}', update: 'k = n'\n}}\n"
        );
        let loaded = load_text("m.aml", &text);
        let warned = loaded.diagnostics.iter().any(|d| d.code == "A076");
        assert_eq!(warned, is_wrong, "{constraint}: {:?}", loaded.diagnostics);
    }
}

#[test]
fn what_values_make_impossible_is_said_and_nothing_else() {
    for (constraint, update, expected) in [
        (
            "(n > 5 && n < 3) || (n > 10 && n < 8)",
            "k = 1",
            Some("A062"),
        ),
        ("(n > 5 && n < 3) || (n > 10 && n < 12)", "k = 1", None),
        ("s in ['a', 'b'] && s == 'c'", "k = 1", Some("A062")),
        ("s in ['a', 'b'] && s != 'a'", "k = 1", None),
        ("length(s) > 3 && s == 'ab'", "k = 1", Some("A062")),
        ("b && !b", "k = 1", Some("A062")),
        ("n == 2 && half(n) == 2", "k = 1", Some("A062")),
        ("n == :void", "k = n + 1", Some("A076")),
        ("n == :void", "k = n", None),
        ("n in [7, 8] || n == 9", "k = n + 3", Some("A076")),
        ("n in [1, 3] || n == 9", "k = n + 3", None),
        ("n == 0", "k = 5 / n", Some("A078")),
        ("n == 0", "k = if n == 0 then 1 else 5 / n", None),
    ] {
        let text = format!(
            "external 'c'\nfunction('half', [:integer] => :integer) {{ |x| x / 2 }}\nprocess('p') {{\n  \
             channel('c') {{ stimulus 'a', {{'n' => :integer, 's' => :string, 'b' => :boolean}} }}\n  \
             var 'k', integer(0..9), 0\n  state 'S'\n  \
             receive 'a', constraint: %({constraint}), update: '{update}'\n  goto 'S'\n}}\n"
        );
        let loaded = load_text("m.aml", &text);
        let said: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
        let impossible = said.iter().find(|c| ["A062", "A076", "A078"].contains(*c));
        assert_eq!(
            impossible.copied(),
            expected,
            "{constraint}, {update}: {said:?}"
        );
    }
}

/// Two channels with the same labels, as two clients of one server have them.
const TWO_CLIENTS: &str = "external 'a', 'b'
process('p') {
  channel('a') { stimulus 'ping', {'n' => :integer}\n responses 'pong', 'bye' }
  channel('b') { stimulus 'ping', {'n' => :integer}\n response 'pong', {'n' => :integer} }
  var 'm', :integer, 0
  state 'S'
  STEPS
}";

#[test]
fn labels_of_several_channels_may_share_a_name() {
    let steps = "receive 'a.ping', update: 'm = n'; send 'b.pong', constraint: 'n == m'; send 'bye'; send 'a.bye'";
    let loaded = load_text("m.aml", &TWO_CLIENTS.replace("STEPS", steps));
    let sts = loaded.sts.expect("a model");
    let labels: Vec<(&str, &str, &str)> = (sts.labels().iter().enumerate())
        .map(|(index, l)| {
            let id = ioco_sts::LabelId::from_index(index);
            (l.name.as_str(), l.channel.as_str(), sts.plain_name(id))
        })
        .collect();
    assert_eq!(
        labels,
        [
            ("a.ping", "a", "ping"),
            ("a.pong", "a", "pong"),
            ("bye", "a", "bye"),
            ("b.ping", "b", "ping"),
            ("b.pong", "b", "pong"),
        ]
    );
    assert!(
        shown(&sts).starts_with("start S\nS ──?a.ping──► _1 m := n\n_1 ──!b.pong──► _2 [n == m]")
    );
    let named = |name| sts.label_named(ioco_sts::Direction::Response, name);
    assert_eq!(named("a.bye"), named("bye"));
    assert!(named("bye").is_some() && named("pong").is_none());
    assert_eq!(
        sts.labels_called(ioco_sts::Direction::Response, "pong")
            .len(),
        2
    );
}

#[test]
fn a_name_that_several_channels_share_needs_its_channel() {
    let loaded = load_text("m.aml", &TWO_CLIENTS.replace("STEPS", "receive 'ping'"));
    let error = loaded
        .diagnostics
        .iter()
        .find(|d| d.is_error())
        .expect("an error");
    assert_eq!(error.message, "the stimulus `ping` is on several channels");
    assert_eq!(error.hint.as_deref(), Some("write 'a.ping' or 'b.ping'"));
}

#[test]
fn a_process_that_has_one_of_them_needs_no_channel() {
    let text = "external 'a', 'b'
process('p') { channel('a') { stimuli 'ping' }\nstate 'S'\nreceive 'ping' }
process('q') { channel('b') { stimuli 'ping' }\nstate 'T'\nreceive 'ping' }";
    let sts = load_text("m.aml", text).sts.expect("a model");
    assert!(shown(&sts).contains("S ──?a.ping──► _1"), "{}", shown(&sts));
    assert!(shown(&sts).contains("T ──?b.ping──► "), "{}", shown(&sts));
}
