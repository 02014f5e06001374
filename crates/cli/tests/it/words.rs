//! Words for people: they count, they can be typed, and nobody has to read them to the end.

use std::process::Stdio;

use crate::support::{folder, folder_with, ioco, run};

#[test]
fn a_reader_that_goes_away_does_not_change_what_is_said() {
    let folder = folder_with(&[("bad.aml", "system {\n")]);
    for closed in [["out"], ["err"]] {
        let mut child = ioco()
            .current_dir(folder.path())
            .args(["check", "bad.aml"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ioco starts");
        // Closed before anything is written, as `| head` does later.
        match closed {
            ["out"] => drop(child.stdout.take()),
            _ => drop(child.stderr.take()),
        }
        let ended = child.wait_with_output().expect("ioco ends");
        assert_eq!(ended.status.code(), Some(2), "{closed:?}");
    }
    let long = run(ioco().args(["--help"]));
    assert_eq!(long.code, 0);
}

#[test]
fn one_error_is_one_error() {
    let folder = folder_with(&[("bad.aml", "process('p') { receive 'x' }\n")]);
    let checked = run(ioco().current_dir(folder.path()).args(["check", "bad.aml"]));
    assert_eq!(checked.code, 2, "{}", checked.all());
    assert!(
        checked.err.contains("1 error, 0 warnings"),
        "{}",
        checked.err
    );
}

#[test]
fn the_command_that_comes_next_can_be_typed() {
    let folder = folder();
    let at = |name: &str| run(ioco().current_dir(folder.path()).args(["new", name]));
    assert!(at("door").err.contains("cd door && ioco test"));
    assert!(at("my door").err.contains("cd 'my door' && ioco test"));
    assert!(at("it's").err.contains(r"cd 'it'\''s' && ioco test"));
}

#[test]
fn a_service_that_was_never_up_is_not_a_system_that_ended() {
    let folder = folder_with(&[(
        "api.json",
        r#"{"openapi": "3.0.0", "info": {"title": "shop", "version": "1"},
            "servers": [{"url": "http://127.0.0.1:9"}],
            "paths": {"/a": {"get": {"operationId": "get", "responses": {"200": {"description": "ok"}}}}}}"#,
    )]);
    let made =
        run(ioco()
            .current_dir(folder.path())
            .args(["new", "shop", "--openapi", "api.json"]));
    assert_eq!(made.code, 0, "{}", made.all());
    let ran = run(ioco().current_dir(folder.path().join("shop")).arg("test"));
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(
        ran.err.contains("E001 no connection to http://127.0.0.1:9"),
        "{}",
        ran.all()
    );
    assert!(ran.out.contains(" 0 steps"), "{}", ran.out);
    assert!(!folder.path().join("shop/.ioco/failures").exists());
}

#[test]
fn shells_and_readers_of_manuals_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(ioco().args(["completions", shell]));
        assert_eq!(script.code, 0, "{}", script.all());
        for word in ["failures", "export", "no-shrink"] {
            assert!(script.out.contains(word), "{shell}: {word}");
        }
    }
    // The shell itself takes it.
    let script = run(ioco().args(["completions", "bash"])).out;
    let asked = format!(
        "{script}\nCOMP_WORDS=(ioco expo); COMP_CWORD=1; _ioco ioco expo ioco; echo $COMPREPLY"
    );
    let folder = folder();
    // One argument of a command is not longer than 128 KiB, and the script is.
    let file = folder.path().join("bash");
    std::fs::write(&file, asked).expect("written");
    let completed = run(std::process::Command::new("bash").arg(&file));
    assert_eq!(completed.out.trim(), "export", "{}", completed.all());
    let load_zsh = "autoload -Uz compinit; compinit -u -D; source $1; echo $_comps[ioco]";
    let load_fish = "source $argv[1]; complete --do-complete 'ioco expo'";
    for (shell, flags, load, wanted) in [
        ("zsh", ["-f", "-c"], load_zsh, "_ioco"),
        ("fish", ["--no-config", "-c"], load_fish, "export"),
    ] {
        let file = folder.path().join(shell);
        let script = run(ioco().args(["completions", shell])).out;
        std::fs::write(&file, script).expect("written");
        let mut loading = std::process::Command::new(shell);
        loading.args(flags).arg(load);
        // The first word after the text is the name of the program for zsh.
        loading.args((shell == "zsh").then_some("zsh")).arg(&file);
        if loading.output().is_err() {
            eprintln!("skipped: {shell} is not here");
            continue;
        }
        let loaded = run(&mut loading);
        let first = loaded.out.split_whitespace().next();
        assert_eq!(first, Some(wanted), "{shell}: {}", loaded.all());
        assert_eq!(loaded.err, "", "{shell}");
    }
    let place = folder.path().join("man");
    let written = run(ioco().arg("man").arg(&place));
    assert_eq!(written.code, 0, "{}", written.all());
    for page in ["ioco.1", "ioco-test.1", "ioco-failures-accept.1"] {
        let text = std::fs::read_to_string(place.join(page)).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}
