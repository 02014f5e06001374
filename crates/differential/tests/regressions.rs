//! Models on which ioco and the reference once differed, each asked in every way.

use std::sync::Arc;

use ioco_differential::check::{Counts, Kind, ask};
use ioco_sts::Sts;

fn model(text: &str) -> Arc<Sts> {
    let loaded = ioco_aml::load_text("model.aml", text);
    loaded
        .sts
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn agree_on(text: &str, kinds: &[Kind], seeds: std::ops::Range<u64>) {
    agree_on_both(text, text, kinds, seeds);
}

fn agree_on_both(first: &str, second: &str, kinds: &[Kind], seeds: std::ops::Range<u64>) {
    let (first, second) = (model(first), model(second));
    for kind in kinds {
        for seed in seeds.clone() {
            if let Some(finding) = ask(*kind, &first, &second, seed, &mut Counts::default()) {
                panic!(
                    "{kind:?}, seed {seed}: {}\n{}",
                    finding.kind, finding.detail
                );
            }
        }
    }
}

const ALL: [Kind; 4] = [Kind::Explore, Kind::Test, Kind::Trace, Kind::Suite];

#[test]
fn what_follows_from_a_truncated_set_is_truncated() {
    let text = "
external 'door'
process('main') {
  channel('door') { responses 'out', 'low', 'high' }
  var 'n', :integer, 0
  state 'Count'
  choice {
    o { tau update: 'n = n + 1'; goto 'Count' }
    o { send 'out'; goto 'After' }
  }
  state 'After'
  choice {
    o { send 'low', constraint: 'n < 5000'; goto 'End' }
    o { send 'high', constraint: 'n >= 5000'; goto 'End' }
  }
  state 'End'
}
";
    agree_on(text, &[Kind::Explore], 0..1);
}

#[test]
fn two_strings_that_must_be_equal_and_match_a_pattern() {
    for condition in [
        "name == again && again =~ /^[0-9]+$/",
        "again == name && again =~ /^[0-9]+$/",
    ] {
        for (word, label) in [("receive", "stimulus"), ("send", "response")] {
            let text = format!(
                "
external 'door'
process('main') {{
  channel('door') {{ {label} 'login', {{'name' => :string, 'again' => :string}} }}
  state 'Out'
  {word} 'login', constraint: '{condition}'
  state 'In'
}}
"
            );
            agree_on(&text, &[Kind::Explore, Kind::Test], 0..4);
        }
    }
}

#[test]
fn hand_shakes_with_every_kind_of_condition() {
    for (ty, condition) in [
        (":decimal", "v == 3"),
        (":integer", "v > 0 && v < 3"),
        (":integer", "v in 1..3"),
        (":string", "v == \"x\" || v == \"y\""),
        (":integer", "v - 1 == 2"),
        ("'Pair'", "v.one == 1 && v.two == \"a\""),
        ("[:decimal]", "v == [3]"),
    ] {
        let text = format!(
            "
external 'door'
internal 'wire'
struct 'Pair', {{'one' => :integer, 'two' => :string}}
process('a') {{
  channel('door') {{ stimuli 'go' }}
  channel('wire') {{ response 'pass', {{'v' => {ty}}} }}
  state 'A'
  receive 'go'
  send 'pass', constraint: '{condition}'
  goto 'A'
}}
process('b') {{
  channel('door') {{ response 'got', {{'w' => {ty}}} }}
  channel('wire') {{ stimulus 'pass', {{'v' => {ty}}} }}
  var 'kept', {ty}
  state 'B'
  receive 'pass', update: 'kept = v'
  send 'got', constraint: 'w == kept'
  goto 'B'
}}
"
        );
        agree_on(&text, &[Kind::Explore, Kind::Test, Kind::Trace], 0..3);
    }
}

#[test]
fn a_process_without_a_time_out_counts_with_the_models() {
    let text = "
timeout 5
external 'door'
process('a') {
  channel('door') { stimuli 'go' }
  state 'A', timeout: 0.1
  receive 'go'
  state 'Done'
}
process('b') {
  channel('door') { response 'due' }
  state 'B'
  send 'due'
  state 'Sent'
}
";
    agree_on(text, &ALL, 0..4);
}

#[test]
fn numbers_convert_wherever_a_decimal_is_expected() {
    for (ty, condition) in [
        (":decimal", "v == min(3, 4.5) / 2"),
        (":decimal", "v == (if true then 3 else 0.5) / 2"),
        (":decimal", "v == [3, 0.5][0] / 2"),
        ("[:decimal]", "v == [3]"),
        ("[:decimal]", "v in [[1], [2]]"),
        ("[:decimal]", "v == xs + [3]"),
    ] {
        let text = format!(
            "
external 'door'
process('main') {{
  channel('door') {{ response 'out', {{'v' => {ty}}}; stimuli 'more' }}
  var 'xs', [:decimal], []
  state 'S'
  repeat {{
    o {{ send 'out', constraint: '{condition}' }}
    o {{ receive 'more', update: 'xs = xs + [3]' }}
  }}
}}
"
        );
        agree_on(&text, &[Kind::Explore, Kind::Test], 0..3);
    }
}

/// The solver took `v * 2 == 3` for a question about integers.
#[test]
fn half_of_an_odd_number_is_a_decimal() {
    for condition in ["v * 2 == 3", "2 * v - 1 == 2", "v * 2 == 3 || v == 7"] {
        let text = format!(
            "
external 'door'
process('main') {{
  channel('door') {{ stimulus 'in', {{'v' => :decimal}}; response 'out', {{'v' => :decimal}} }}
  state 'S'
  receive 'in', constraint: '{condition}'
  send 'out', constraint: '{condition}'
  goto 'S'
}}
"
        );
        agree_on(&text, &[Kind::Explore, Kind::Test], 0..3);
    }
}

#[test]
fn equal_decimals_of_different_scale_are_the_same() {
    let text = |number: &str| {
        format!(
            "
external 'door'
process('main') {{
  channel('door') {{ response 'out', {{'v' => :decimal}} }}
  state 'S'
  send 'out', constraint: 'v == {number}'
  state 'T'
}}
"
        )
    };
    agree_on_both(&text("3"), &text("3.00"), &[Kind::Compare], 0..2);
    let (first, second) = (model(&text("3")), model(&text("3.00")));
    let options = ioco_sts::CompareOptions {
        equivalence: ioco_sts::Equivalence::Weak,
        relation: ioco_sts::Relation::Ioco,
        limit: 100,
    };
    let found = ioco_sts::compare(&first, &second, options);
    assert_eq!(found.map(|found| found.conforms), Ok(true));
}

#[test]
fn a_count_of_many_stimuli_in_flight() {
    let text = "
external 'door'
process('main') {
  channel('door') { stimuli 'a'; response 'count', {'n' => :integer} }
  var 'k', :integer, 0
  state 'S'
  repeat {
    o { receive 'a', update: 'k = k + 1' }
    o { send 'count', constraint: 'n == k && k > 0' }
  }
}
";
    agree_on(text, &[Kind::Trace, Kind::Test], 0..6);
}

/// Both `a` may reach the system one right after the other, however late: the second then comes in
/// `Owes`, where the model does not accept it, and nothing after that proves a failure. The union
/// of all orders does accept it, so that the doubt was not seen and silence failed.
#[test]
fn an_order_in_which_a_stimulus_is_not_accepted_leaves_a_doubt() {
    let text = "
external 'door'
process('main') {
  channel('door') { stimuli 'a'; responses 'r' }
  state 'Owes'
  send 'r'
  state 'May'
  repeat {
    o { receive 'a'; goto 'Owes' }
    o { send 'r' }
    o { send 'r'; goto 'Owes' }
  }
}
";
    agree_on(text, &[Kind::Trace, Kind::Test], 0..60);
}

/// Flattening gave a stimulus unset where its guard does not mention a parameter, and two models that
/// differ in what they answer were the same.
#[test]
fn a_parameter_that_no_guard_mentions_has_all_its_values_when_models_are_compared() {
    let text = |condition: &str| {
        format!(
            "
external 'door'
process('main') {{
  channel('door') {{ stimulus 'in', {{'v' => integer(0..3)}}; response 'out', {{'w' => integer(0..9)}} }}
  var 'k', integer(0..3), 0
  state 'S'
  receive 'in', update: 'k = v'
  send 'out', constraint: '{condition}'
  goto 'S'
}}
"
        )
    };
    let conforms = |first: &str, second: &str| {
        agree_on_both(&text(first), &text(second), &[Kind::Compare], 0..2);
        let options = ioco_sts::CompareOptions {
            equivalence: ioco_sts::Equivalence::Weak,
            relation: ioco_sts::Relation::Ioco,
            limit: 1000,
        };
        let found = ioco_sts::compare(&model(&text(first)), &model(&text(second)), options);
        found.expect("finite models").conforms
    };
    assert!(conforms("w == k * 2", "w == k + k"));
    assert!(conforms("w >= k * 2", "w == k * 2"));
    assert!(!conforms("w == k * 2", "w >= k * 2"));
    assert!(!conforms("w == k * 2", "w == k * 2 && k < 3"));
}

/// `generate` left a parameter of a stimulus unset where nothing mentions it.
#[test]
fn a_suite_sets_the_parameters_that_nothing_mentions() {
    let text = "
external 'door'
struct 'Pair', {'one' => :decimal, 'two' => :string}
process('main') {
  channel('door') {
    stimulus 'put', {'n' => :integer, 's' => :string, 'p' => 'Pair', 'kept' => :decimal}
    response 'got', {'kept' => :decimal, 'free' => :string}
  }
  var 'last', :decimal
  state 'S'
  receive 'put', update: 'last = kept'
  send 'got', constraint: 'kept == last'
  goto 'S'
}
";
    agree_on(text, &[Kind::Suite], 0..3);
}
