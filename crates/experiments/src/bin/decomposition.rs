//! The experiment of the decomposition paper: every technique over every model of a folder, and NuSMV where it is given.
//! `cargo xtask experiment decomposition` starts this program with optimisation.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use ioco_experiments::decomposition::{
    NOT_ASKED, Outcome, Row, Settings, Source, UNKNOWN, nusmv, run_model, tables,
};
use ioco_smv::{Criterion, Edge, Goal, Technique};

#[derive(Parser)]
#[command(name = "cargo xtask experiment decomposition")]
struct Arguments {
    /// The folder of the models
    #[arg(long, value_name = "DIR")]
    models: PathBuf,

    /// The program NuSMV, to be asked the same questions
    #[arg(long, value_name = "PATH")]
    nusmv: Option<PathBuf>,

    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    time_per_goal: f64,

    /// For a technique other than auto on one model and criterion [default: no limit]
    #[arg(long, value_name = "SECONDS")]
    time_per_model: Option<f64>,

    /// Only this technique (may be repeated)
    #[arg(long = "technique", value_name = "NAME", value_parser = technique)]
    techniques: Vec<Technique>,

    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,

    /// Only models whose path contains the text, or one of the texts
    #[arg(long = "match", value_name = "TEXT")]
    only: Vec<String>,

    /// Writes every row to the file at once, and repeats nothing that is in it already: what was interrupted goes on
    /// where it stopped, and with everything there only the tables are printed
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,

    /// Runs nothing: prints the tables of what is in the file of rows
    #[arg(long)]
    tables: bool,

    /// Processor time for NuSMV on one model and criterion
    #[arg(long = "nusmv-limit", value_name = "SECONDS", default_value_t = 60.0)]
    limit: f64,

    /// A asks at most so many goals of a model and criterion, chosen by a fixed seed [default: all]
    #[arg(long = "nusmv-sample", value_name = "N")]
    sample: Option<usize>,

    /// Leaves out A, a process for every goal
    #[arg(long = "nusmv-without-a")]
    without_a: bool,

    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    format: String,
}

impl Arguments {
    fn settings(&self) -> Settings {
        let usual = Settings::default();
        Settings {
            time_per_goal: self.time_per_goal,
            model_limit: self.time_per_model,
            techniques: match self.techniques.is_empty() {
                true => usual.techniques,
                false => self.techniques.clone(),
            },
            jobs: self.jobs,
            cpu: || processor_time("self").map(|(own, _)| own),
            ..usual
        }
    }
}

fn technique(name: &str) -> Result<Technique, String> {
    let mut all = Technique::ALL.into_iter();
    all.find(|technique| technique.name() == name)
        .ok_or_else(|| format!("there is no technique '{name}'"))
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(contradictions) => {
            eprintln!("decomposition: {contradictions} answers are contradicted");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("decomposition: {message}");
            ExitCode::from(2)
        }
    }
}

/// The number of contradictions.
fn run(arguments: &Arguments) -> Result<usize, String> {
    let settings = arguments.settings();
    let trouble = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    let mut files = Vec::new();
    collect(&arguments.models, &mut files).map_err(trouble(&arguments.models))?;
    files.sort();
    let mut outcome = Outcome {
        rows: match &arguments.rows {
            Some(path) => known_rows(path)?,
            None => Vec::new(),
        },
        nusmv_limit: arguments.nusmv.is_some().then_some(arguments.limit),
        model_limit: arguments.time_per_model,
        ..Outcome::default()
    };
    let mut sink = match &arguments.rows {
        Some(path) => Some(
            std::fs::File::options()
                .create(true)
                .append(true)
                .open(path)
                .map_err(trouble(path))?,
        ),
        None => None,
    };
    let mut done = |row: &Row| {
        eprintln!("{row}");
        if let (Some(sink), Ok(line)) = (&mut sink, serde_json::to_string(row))
            && let Err(error) = writeln!(sink, "{line}")
        {
            eprintln!("decomposition: the row is not in the file: {error}");
        }
    };
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    let edge = Edge {
        clock: &clock,
        stop: &|| arguments.tables,
    };
    for file in files {
        let name = file
            .strip_prefix(&arguments.models)
            .unwrap_or(&file)
            .display()
            .to_string();
        let only = &arguments.only;
        if !only.is_empty() && !only.iter().any(|only| name.contains(only.as_str())) {
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
        let asked = run_model(
            &source,
            &settings,
            edge,
            &mut outcome,
            &mut done,
            &mut |line| eprintln!("{line}"),
        );
        if let Some(program) = arguments.nusmv.as_ref().filter(|_| !arguments.tables) {
            for (criterion, goals) in &asked {
                let question = Question {
                    program,
                    file: &file,
                    model: &source.name,
                    criterion: *criterion,
                    goals,
                };
                question.ask(arguments, &mut outcome, &mut done);
            }
        }
    }
    if arguments.format == "json" {
        println!("{}", outcome.to_json());
    } else {
        print!("{}", tables(&outcome));
    }
    let contradictions = outcome
        .comparisons()
        .into_iter()
        .map(|entry| entry.contradictions);
    Ok(contradictions.sum())
}

/// The rows that a file has already. The last line may be cut off where a run was interrupted.
fn known_rows(path: &Path) -> Result<Vec<Row>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
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

/// The goals of one model and criterion, to be asked of NuSMV.
struct Question<'q> {
    program: &'q Path,
    file: &'q Path,
    model: &'q str,
    criterion: Criterion,
    goals: &'q [Goal],
}

impl Question<'_> {
    /// NuSMV's own figures: B, one process for all goals, and A, one for every goal.
    fn ask(&self, arguments: &Arguments, outcome: &mut Outcome, done: &mut dyn FnMut(&Row)) {
        let path = self.file.display().to_string();
        let asked: Vec<usize> = (0..self.goals.len())
            .filter(|index| nusmv::can_ask(&self.goals[*index]))
            .collect();
        let criterion = self.criterion.name();
        if asked.is_empty() {
            return;
        }
        if outcome.row(self.model, nusmv::B, criterion).is_none() {
            let mut letters = vec![NOT_ASKED; self.goals.len()];
            for index in &asked {
                letters[*index] = UNKNOWN;
            }
            let script = nusmv::script_all(&path, self.goals);
            let answered = ask(self.program, &script, arguments.limit);
            nusmv::enter(&answered.text, &mut letters);
            let row = Row {
                seconds: answered.seconds,
                cpu: answered.cpu,
                ..Row::new(
                    self.model,
                    nusmv::B,
                    criterion,
                    letters.into_iter().collect(),
                )
            };
            done(&row);
            outcome.rows.push(row);
        }
        if arguments.without_a || outcome.row(self.model, nusmv::A, criterion).is_some() {
            return;
        }
        let chosen: Vec<usize> = match arguments.sample {
            Some(number) if number < asked.len() => nusmv::sample(asked.len(), number)
                .into_iter()
                .map(|position| asked[position])
                .collect(),
            _ => asked.clone(),
        };
        let mut letters = vec![NOT_ASKED; self.goals.len()];
        for index in &chosen {
            letters[*index] = UNKNOWN;
        }
        let (mut seconds, mut cpu) = (0.0, 0.0);
        for index in &chosen {
            let left = (arguments.limit - cpu).min(arguments.time_per_goal);
            if left <= 0.0 {
                break;
            }
            let script = nusmv::script_one(&path, *index, &self.goals[*index]);
            let answered = ask(self.program, &script, left);
            seconds += answered.seconds;
            cpu += answered.cpu.unwrap_or(answered.seconds);
            nusmv::enter(&answered.text, &mut letters);
        }
        let row = Row {
            seconds,
            cpu: Some(cpu),
            sampled_from: (chosen.len() < asked.len()).then_some(asked.len()),
            ..Row::new(
                self.model,
                nusmv::A,
                criterion,
                letters.into_iter().collect(),
            )
        };
        done(&row);
        outcome.rows.push(row);
    }
}

/// Processor time of a process and of its children that have ended, in seconds. Known on Linux only.
fn processor_time(process: &str) -> Option<(f64, f64)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<f64> = text
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .skip(11)
        .take(4)
        .map_while(|field| field.parse().ok())
        .collect();
    // Ticks of a hundredth of a second, on every Linux there is.
    match fields[..] {
        [user, system, child_user, child_system] => {
            Some(((user + system) / 100.0, (child_user + child_system) / 100.0))
        }
        _ => None,
    }
}

struct Answered {
    text: String,
    seconds: f64,
    cpu: Option<f64>,
}

/// Runs a script in NuSMV's prompt until its processor time is used up. Others may use the machine too, so the time that
/// passes is no fair limit; where processor time is not known, it must do.
fn ask(program: &Path, script: &str, limit: f64) -> Answered {
    let start = Instant::now();
    let before = processor_time("self");
    let child = Command::new(program)
        .args(nusmv::FLAGS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!("{}: {error}", program.display());
            return Answered {
                text: String::new(),
                seconds: 0.0,
                cpu: None,
            };
        }
    };
    let input = child.stdin.take();
    let output = child.stdout.take();
    let text = std::thread::scope(|scope| {
        let writer = scope.spawn(move || input.map(|mut input| input.write_all(script.as_bytes())));
        let reader = scope.spawn(move || {
            let mut text = Vec::new();
            if let Some(mut output) = output {
                let _ = std::io::Read::read_to_end(&mut output, &mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        wait(&mut child, start, limit);
        let _ = child.kill();
        let _ = child.wait();
        let _ = writer.join();
        reader.join().unwrap_or_default()
    });
    Answered {
        text,
        seconds: start.elapsed().as_secs_f64(),
        cpu: processor_time("self")
            .zip(before)
            .map(|((_, now), (_, before))| now - before),
    }
}

fn wait(child: &mut Child, start: Instant, limit: f64) {
    let process = child.id().to_string();
    loop {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        let passed = start.elapsed().as_secs_f64();
        let used = processor_time(&process).map_or(passed, |(own, _)| own);
        if used >= limit || passed >= 20.0 * limit {
            return;
        }
        std::thread::sleep(Duration::from_millis(if passed < 1.0 { 2 } else { 20 }));
    }
}
