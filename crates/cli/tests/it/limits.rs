//! Limits on work: `--limit NAME=N` and `[limits]`.

use std::fs;

use crate::support::{folder, folder_with, ioco, root, run};

#[test]
fn a_bad_limit_is_wrong_usage() {
    let model = root().join("examples/smartdoor/model.aml");
    for (typed, words) in [
        (
            "state=3",
            "there is no limit 'state', only steps, bytes, depth, states, message, queue, wire",
        ),
        ("steps=many", "'many' is not a number above 0"),
        ("depth=5000", "the limit of depth is at most 500"),
    ] {
        let ran = run(ioco().arg("check").arg(&model).args(["--limit", typed]));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains(words), "{}", ran.all());
    }
}

#[test]
fn the_project_file_sets_limits_and_names_its_mistakes() {
    let folder = folder();
    let model = root().join("examples/smartdoor/model.aml");
    fs::copy(model, folder.path().join("door.aml")).unwrap();
    let check = |section: &str| {
        let text = format!("model = \"door.aml\"\n[limits]\n{section}\n");
        fs::write(folder.path().join("ioco.toml"), text).unwrap();
        run(ioco().arg("check").arg(folder.path()))
    };
    let ran = check("steps = 5_000_000");
    assert_eq!(ran.code, 0, "{}", ran.all());
    for (section, words) in [
        ("state = 3", "unknown field `state`"),
        ("steps = 0", "a limit must be above 0"),
        ("depth = 5000", "the limit of depth is at most 500"),
    ] {
        let ran = check(section);
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains(words), "{}", ran.all());
    }
}

#[test]
fn what_a_limit_leaves_open_is_inconclusive_and_does_not_pass() {
    let model = "timeout 5\nexternal 'sys'\nprocess('main') {\n  channel('sys') {\n    \
                 response 'out'\n    response 'low'\n    response 'high'\n  }\n  \
                 var 'n', :integer, 0\n  state 'Count'\n  choice {\n    \
                 o { tau update: 'n = n + 1'; goto 'Count' }\n    \
                 o { send 'out'; goto 'After' }\n  }\n  state 'After'\n  choice {\n    \
                 o { send 'low', constraint: 'n < 5000' }\n    \
                 o { send 'high', constraint: 'n >= 5000' }\n  }\n}\n";
    let system = "import json, sys\n\
                  def say(message): print(json.dumps(message), flush=True)\n\
                  for line in sys.stdin:\n    \
                  if 'reset' in json.loads(line):\n        \
                  say({'ready': True})\n        \
                  for name in ('out', 'high'): say({'response': name, 'values': {}})\n        \
                  say({'quiescent': True})\n";
    let folder = folder_with(&[("count.aml", model), ("system.py", system)]);
    let mut command = ioco();
    command.current_dir(folder.path());
    let ran = run(command.args([
        "test",
        "count.aml",
        "--sut",
        "python3 system.py",
        "--tests",
        "2",
        "--steps",
        "5",
    ]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let words = "there are more than 4096 possible states; raise the limit with --limit states=N";
    assert!(ran.all().contains(words), "{}", ran.all());
    assert!(ran.err.contains("I004"), "{}", ran.all());
    assert!(
        ran.out.contains("INCONCLUSIVE main  2 tests"),
        "{}",
        ran.all()
    );
    assert!(!ran.out.contains("PASS"), "{}", ran.all());
}
