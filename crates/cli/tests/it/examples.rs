//! Every mutant of the example systems is found within a stated budget, and the right systems
//! never fail.

use std::path::Path;

use crate::support::{example_program, folder, ioco, root, run};

/// Enough for every mutant: most fall in the first test.
const BUDGET: &[&str] = &["--tests", "300", "--steps", "200", "--timeout", "10s"];
/// The shop of videos has 25 numbers: its mutants fall within a few steps, and take long to shrink.
const SMALL_BUDGET: &[&str] = &[
    "--tests",
    "10",
    "--steps",
    "50",
    "--no-shrink",
    "--timeout",
    "10s",
];

/// The cases of the papers; their models lie in `examples/NAME/model.aml`.
const CASES: [&str; 5] = ["smartdoor", "koopman", "atm", "calculator", "blockbuster"];

fn test(case: &str, mutant: Option<&str>, seed: u32) -> crate::support::Ran {
    let folder = folder();
    let model = root().join("examples").join(case).join("model.aml");
    let program = example_program().display();
    let sut = match mutant {
        Some(mutant) => format!("exec {program} {case} --mutant {mutant}"),
        None => format!("exec {program} {case}"),
    };
    run(ioco()
        .current_dir(folder.path())
        .arg("test")
        .arg(
            Path::new(&model)
                .canonicalize()
                .expect("the model is there"),
        )
        .args(["--sut", &sut, "--seed", &seed.to_string()])
        .args(match case {
            "blockbuster" => SMALL_BUDGET,
            _ => BUDGET,
        }))
}

#[test]
fn every_mutant_is_found() {
    for case in CASES {
        for mutant in ioco_examples::mutants(case) {
            let ran = test(case, Some(mutant.0), 1);
            assert_eq!(ran.code, 1, "{case} {}: {}", mutant.0, ran.all());
        }
    }
}

#[test]
fn the_right_systems_pass() {
    for case in CASES {
        for seed in 1..=3 {
            let ran = test(case, None, seed);
            assert_eq!(ran.code, 0, "{case} seed {seed}: {}", ran.all());
        }
    }
}

/// Their servers are not needed for that; `cargo xtask real` tests them.
#[test]
fn every_model_and_configuration_of_the_public_systems_can_be_used() {
    let real = root().join("examples/real");
    let mut models = 0;
    for entry in real.read_dir().expect("examples/real is there").flatten() {
        let folder = entry.path();
        assert!(folder.join("ioco.toml").is_file(), "{}", folder.display());
        // The folder: its model and [lines] or [http]. The model alone: also what ioco.toml does not name.
        let files = folder.read_dir().expect("a folder").flatten();
        let texts = files.map(|file| file.path());
        let texts = texts.filter(|file| file.extension().is_some_and(|end| end == "aml"));
        for checked in texts.chain([folder.clone()]) {
            let ran = run(ioco().arg("check").arg(&checked));
            assert_eq!(ran.code, 0, "{}: {}", checked.display(), ran.all());
            models += 1;
        }
    }
    assert!(models >= 6, "{models}");
}

/// The bug of the queue needs 43 numbers in it, so more must go in than out.
#[test]
fn the_full_queue_is_found() {
    let folder = folder();
    let sut = format!("exec {} queue --mutant m01", example_program().display());
    let ran = run(ioco()
        .current_dir(folder.path())
        .arg("test")
        .arg(
            root()
                .join("examples/queue/model.aml")
                .canonicalize()
                .expect("the model is there"),
        )
        .args([
            "--sut",
            &sut,
            "--seed",
            "1",
            "--weight",
            "enqueue=3",
            "--weight",
            "dequeue=2",
        ])
        .args(["--tests", "10", "--steps", "1000", "--no-shrink"]));
    assert_eq!(ran.code, 1, "{}", ran.all());
}

/// The trace is full of valid passcodes; the one invalid passcode that fails must not be crowded
/// out by them.
#[test]
fn a_failure_by_one_value_among_many_is_cut_down_to_that_value() {
    let ran = test("smartdoor", Some("m05"), 11);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("→ 2 steps"), "{}", ran.all());
}
