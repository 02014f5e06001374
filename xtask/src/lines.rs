//! `cargo xtask lines [REV]`: how many lines of Rust the project has, tests apart, now and at another revision.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::tools::root;

/// Lines that are not blank: of the programs and libraries, and of their tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    code: i64,
    tests: i64,
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    let now = counted(&files(None)?);
    let before = match arguments {
        [] => None,
        [revision] => Some(counted(&files(Some(revision))?)),
        _ => return Err("name one revision at most".to_owned()),
    };
    let names = now.keys().chain(before.iter().flat_map(BTreeMap::keys));
    let mut names: Vec<&String> = names.collect();
    names.sort();
    names.dedup();
    println!(
        "{:<28}{:>9}{:>9}{:>9}",
        "lines of Rust, not blank", "before", "now", "more"
    );
    let row = |name: &str, before: Option<i64>, now: i64| {
        let than = before.map_or(String::new(), |before| before.to_string());
        let more = before.map_or(String::new(), |before| format!("{:+}", now - before));
        println!("{name:<28}{than:>9}{now:>9}{more:>9}");
    };
    let of = |counts: &BTreeMap<String, Lines>, name: &String| {
        counts.get(name).copied().unwrap_or_default()
    };
    for name in names {
        let before = before.as_ref().map(|before| of(before, name).code);
        row(name, before, of(&now, name).code);
    }
    let sum = |counts: &BTreeMap<String, Lines>, part: fn(&Lines) -> i64| {
        counts.values().map(part).sum::<i64>()
    };
    for (what, part) in [
        (
            "all, tests apart",
            (|lines| lines.code) as fn(&Lines) -> i64,
        ),
        ("tests", |lines| lines.tests),
    ] {
        row(
            what,
            before.as_ref().map(|before| sum(before, part)),
            sum(&now, part),
        );
    }
    Ok(())
}

/// The Rust files of a revision, or of the working tree, with their text.
fn files(revision: Option<&str>) -> Result<Vec<(String, String)>, String> {
    let listed = match revision {
        Some(revision) => git(&["ls-tree", "-r", "--name-only", revision], "")?,
        None => git(&["ls-files"], "")?,
    };
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let rust = listed.lines().filter(|path| path.ends_with(".rs"));
    let paths: Vec<String> = rust.map(str::to_owned).collect();
    let Some(revision) = revision else {
        // What was deleted and is not yet committed is no part of the tree.
        let read = |path: String| {
            let text = std::fs::read_to_string(root().join(&path)).ok()?;
            Some((path, text))
        };
        return Ok(paths.into_iter().filter_map(read).collect());
    };
    let asked: String = paths
        .iter()
        .map(|path| format!("{revision}:{path}\n"))
        .collect();
    let mut answer = git(&["cat-file", "--batch"], &asked)?.into_iter();
    let mut found = Vec::new();
    for path in paths {
        // `OBJECT blob SIZE`, the text, and an empty line.
        let header: Vec<u8> = answer.by_ref().take_while(|byte| *byte != b'\n').collect();
        let header = String::from_utf8_lossy(&header).into_owned();
        let size = header.rsplit(' ').next().and_then(|size| size.parse().ok());
        let size: usize = size.ok_or_else(|| format!("git cat-file: {header}"))?;
        let text: Vec<u8> = answer.by_ref().take(size).collect();
        answer.next();
        found.push((path, String::from_utf8_lossy(&text).into_owned()));
    }
    Ok(found)
}

fn git(arguments: &[&str], input: &str) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("git {}: {error}", arguments[0]);
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    let stdin = child.stdin.take();
    let input = input.to_owned();
    // Both at once, or full pipes would wait for each other.
    let writer =
        std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().map_err(cannot)?;
    let _ = writer.join();
    if !output.status.success() {
        return Err(format!("git {} failed", arguments.join(" ")));
    }
    Ok(output.stdout)
}

/// Per crate, or folder where there is none.
fn counted(files: &[(String, String)]) -> BTreeMap<String, Lines> {
    let mut counts: BTreeMap<String, Lines> = BTreeMap::new();
    for (path, text) in files {
        let folders: Vec<&str> = path.split('/').collect();
        let name = match folders.as_slice() {
            ["crates" | "examples", name, ..] => format!("{}/{name}", folders[0]),
            [first, ..] => (*first).to_owned(),
            [] => continue,
        };
        let lines = lines(path, text);
        let count = counts.entry(name).or_default();
        count.code += lines.code;
        count.tests += lines.tests;
    }
    counts
}

/// A file in a folder `tests` or of that name is tests as a whole, and so is everything from `#[cfg(test)]` before a
/// module in braces on.
fn lines(path: &str, text: &str) -> Lines {
    let whole = path
        .split('/')
        .any(|part| part == "tests" || part == "tests.rs");
    let mut lines = Lines::default();
    let mut is_test = whole;
    let mut marked = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        is_test |= marked && line.starts_with("mod ") && line.ends_with('{');
        marked = line == "#[cfg(test)]" || (marked && line.starts_with("#["));
        *(if is_test {
            &mut lines.tests
        } else {
            &mut lines.code
        }) += 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Lines, lines};

    #[test]
    fn tests_are_counted_apart() {
        let text = "//! A.\n\nfn a() {}\n\n#[cfg(test)]\n#[path = \"x\"]\nmod tests {\n    #[test]\n    fn b() {}\n}\n";
        assert_eq!(
            lines("crates/a/src/lib.rs", text),
            Lines { code: 4, tests: 4 }
        );
        assert_eq!(
            lines("crates/a/tests/it/b.rs", "fn a() {}\n\n"),
            Lines { code: 0, tests: 1 }
        );
        let elsewhere = "#[cfg(test)]\nmod tests;\nfn a() {}\n";
        assert_eq!(
            lines("crates/a/src/b.rs", elsewhere),
            Lines { code: 3, tests: 0 }
        );
    }
}
