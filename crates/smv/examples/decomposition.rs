//! The experiment of the decomposition paper: every technique over every model of a folder, and NuSMV where it is given.
//! `cargo xtask experiment decomposition` starts this program with optimisation.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ioco_smv::experiment::{Outcome, Row, Settings, Source, nusmv, run_model, tables};
use ioco_smv::{Criterion, Edge, Goal, Technique, Verdict};

const USAGE: &str = "\
decomposition --models DIR [--nusmv PATH] [--time-per-goal SECONDS] [--technique NAME]... [--jobs N] [--match TEXT] [--format json]
";

struct Arguments {
    models: PathBuf,
    nusmv: Option<PathBuf>,
    json: bool,
    only: Option<String>,
    settings: Settings,
}

fn main() -> ExitCode {
    let arguments = match arguments(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("decomposition: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut files = Vec::new();
    if let Err(error) = collect(&arguments.models, &mut files) {
        eprintln!("decomposition: {}: {error}", arguments.models.display());
        return ExitCode::from(2);
    }
    files.sort();
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    let edge = Edge {
        clock: &clock,
        stop: &|| false,
    };
    let mut outcome = Outcome::default();
    let mut contradictions = 0;
    for file in files {
        let name = file
            .strip_prefix(&arguments.models)
            .unwrap_or(&file)
            .display()
            .to_string();
        if arguments
            .only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let text = match std::fs::read(&file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                eprintln!("{name}: {error}");
                continue;
            }
        };
        let source = Source { name, text };
        let answers = run_model(
            &source,
            &arguments.settings,
            edge,
            &mut outcome,
            &mut |line| eprintln!("{line}"),
        );
        if let Some(program) = &arguments.nusmv {
            for (criterion, goals) in &answers {
                let wrong = compare(
                    program,
                    &file,
                    &source.name,
                    *criterion,
                    goals,
                    &arguments.settings,
                    &mut outcome,
                );
                contradictions += wrong;
            }
        }
    }
    if arguments.json {
        match serde_json::to_string(&outcome) {
            Ok(text) => println!("{text}"),
            Err(error) => eprintln!("decomposition: {error}"),
        }
    } else {
        print!("{}", tables(&outcome));
    }
    if contradictions > 0 {
        eprintln!("decomposition: {contradictions} answers contradict NuSMV");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut models = None;
    let mut result = Arguments {
        models: PathBuf::new(),
        nusmv: None,
        json: false,
        only: None,
        settings: Settings::default(),
    };
    let mut techniques = Vec::new();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--models" => models = Some(PathBuf::from(value()?)),
            "--nusmv" => result.nusmv = Some(PathBuf::from(value()?)),
            "--match" => result.only = Some(value()?),
            "--time-per-goal" => {
                result.settings.time_per_goal = value()?
                    .parse()
                    .map_err(|_| "--time-per-goal needs seconds".to_owned())?;
            }
            "--jobs" => {
                result.settings.jobs = value()?
                    .parse()
                    .map_err(|_| "--jobs needs a number".to_owned())?
            }
            "--technique" => {
                let name = value()?;
                let technique = Technique::ALL
                    .into_iter()
                    .find(|technique| technique.name() == name);
                techniques
                    .push(technique.ok_or_else(|| format!("there is no technique '{name}'"))?);
            }
            "--format" => match value()?.as_str() {
                "json" => result.json = true,
                "text" => {}
                other => return Err(format!("there is no format '{other}'")),
            },
            other => return Err(format!("there is no option '{other}'")),
        }
    }
    if !techniques.is_empty() {
        result.settings.techniques = techniques;
    }
    result.models = models.ok_or("--models is needed")?;
    Ok(result)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "smv") {
            files.push(path);
        }
    }
    Ok(())
}

/// NuSMV's own figures: A, a process for every goal, and B, one for all. Counts answers that differ from ours.
fn compare(
    program: &Path,
    file: &Path,
    model: &str,
    criterion: Criterion,
    goals: &[(Goal, Verdict)],
    settings: &Settings,
    outcome: &mut Outcome,
) -> usize {
    let asked: Vec<&(Goal, Verdict)> = goals
        .iter()
        .filter(|(goal, _)| nusmv::can_ask(goal))
        .collect();
    if asked.is_empty() {
        return 0;
    }
    let path = file.display().to_string();
    let plain: Vec<Goal> = asked.iter().map(|(goal, _)| goal.clone()).collect();
    let limit = Duration::from_secs_f64((settings.time_per_goal * asked.len() as f64).min(120.0));
    let (output, seconds) = ask(program, &nusmv::script_all(&path, &plain), limit);
    let together = nusmv::answers(&output);
    let mut wrong = 0;
    for ((goal, verdict), reachable) in asked.iter().zip(&together) {
        let differs = match verdict {
            Verdict::Covered => !reachable,
            Verdict::Infeasible => *reachable,
            Verdict::Unknown => false,
        };
        if differs {
            eprintln!("{model}: NuSMV contradicts {verdict:?} for {}", goal.text);
            wrong += 1;
        }
    }
    outcome.rows.push(row(
        model,
        "nusmv-b",
        criterion,
        asked.len(),
        &together,
        seconds,
    ));
    let mut single = Vec::new();
    let mut total = 0.0;
    for (goal, _) in &asked {
        let limit = Duration::from_secs_f64(settings.time_per_goal);
        let (output, seconds) = ask(program, &nusmv::script_one(&path, goal), limit);
        single.extend(nusmv::answers(&output).first());
        total += seconds;
    }
    outcome.rows.push(row(
        model,
        "nusmv-a",
        criterion,
        asked.len(),
        &single,
        total,
    ));
    wrong
}

fn row(
    model: &str,
    technique: &str,
    criterion: Criterion,
    goals: usize,
    answers: &[bool],
    seconds: f64,
) -> Row {
    let covered = answers.iter().filter(|reachable| **reachable).count();
    Row {
        model: model.to_owned(),
        technique: technique.to_owned(),
        criterion: criterion.name(),
        goals,
        covered,
        infeasible: answers.len() - covered,
        unknown: goals - answers.len(),
        seconds,
    }
}

/// Runs a script in NuSMV's prompt, for at most some time.
fn ask(program: &Path, script: &str, limit: Duration) -> (String, f64) {
    let start = Instant::now();
    let child = Command::new(program)
        .args(["-dynamic", "-dcx", "-int"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!("{}: {error}", program.display());
            return (String::new(), 0.0);
        }
    };
    let input = child.stdin.take();
    let output = child.stdout.take();
    let text = std::thread::scope(|scope| {
        let writer = scope.spawn(move || input.map(|mut input| input.write_all(script.as_bytes())));
        let reader = scope.spawn(move || {
            let mut text = String::new();
            if let Some(mut output) = output {
                let _ = std::io::Read::read_to_string(&mut output, &mut text);
            }
            text
        });
        while start.elapsed() < limit {
            if matches!(child.try_wait(), Ok(Some(_))) {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
        let _ = writer.join();
        reader.join().unwrap_or_default()
    });
    (text, start.elapsed().as_secs_f64())
}
