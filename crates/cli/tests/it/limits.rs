//! Limits on work: `--limit NAME=N` and `[limits]`.

use std::fs;

use crate::support::{folder, ioco, root, run};

#[test]
fn a_bad_limit_is_wrong_usage() {
    let model = root().join("examples/smartdoor/model.aml");
    for (typed, words) in [
        (
            "state=3",
            "there is no limit 'state', only steps, bytes, depth, states",
        ),
        ("steps=many", "'many' is not a number above 0"),
        ("depth=5000", "depth can be raised to 500"),
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
        ("steps = 0", "a limit of 0"),
        ("depth = 5000", "depth can be raised to 500"),
    ] {
        let ran = check(section);
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains(words), "{}", ran.all());
    }
}
