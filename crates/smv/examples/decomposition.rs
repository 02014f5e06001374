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
  --match TEXT           only models whose path contains the text
  --nusmv-limit SECONDS  for NuSMV on one model and criterion (60)
  --nusmv-sample N       A asks at most N goals of a model and criterion, chosen by a fixed seed (all)
  --nusmv-without-a      leaves out A, a process for every goal
";

struct Arguments {
    models: PathBuf,
    nusmv: Option<PathBuf>,
    json: bool,
    only: Option<String>,
    limit: f64,
    sample: Option<usize>,
    without_a: bool,
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
    let mut outcome = Outcome {
        nusmv_limit: arguments.nusmv.is_some().then_some(arguments.limit),
        ..Outcome::default()
    };
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
                let question = Question {
                    program,
                    file: &file,
                    model: &source.name,
                    criterion: *criterion,
                    goals,
                };
                question.ask(&arguments, &mut outcome);
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
    let contradictions = outcome.contradictions();
    if contradictions > 0 {
        eprintln!("decomposition: {contradictions} answers are contradicted");
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
        limit: 60.0,
        sample: None,
        without_a: false,
        settings: Settings {
            cpu: || processor_time().map(|(own, _)| own),
            ..Settings::default()
        },
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
            "--nusmv-limit" => {
                result.limit = value()?
                    .parse()
                    .map_err(|_| "--nusmv-limit needs seconds".to_owned())?;
            }
            "--nusmv-sample" => {
                let number = value()?
                    .parse()
                    .map_err(|_| "--nusmv-sample needs a number".to_owned())?;
                result.sample = Some(number);
            }
            "--nusmv-without-a" => result.without_a = true,
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

/// The goals of one model and criterion, to be asked of NuSMV.
struct Question<'q> {
    program: &'q Path,
    file: &'q Path,
    model: &'q str,
    criterion: Criterion,
    /// With the answers of the last technique.
    goals: &'q [(Goal, Verdict)],
}

impl Question<'_> {
    /// NuSMV's own figures: B, one process for all goals, and A, one for every goal. Answers that differ are counted.
    fn ask(&self, arguments: &Arguments, outcome: &mut Outcome) {
        let asked: Vec<&(Goal, Verdict)> = self
            .goals
            .iter()
            .filter(|(goal, _)| nusmv::can_ask(goal))
            .collect();
        if asked.is_empty() {
            return;
        }
        let path = self.file.display().to_string();
        let plain: Vec<Goal> = asked.iter().map(|(goal, _)| goal.clone()).collect();
        let limit = Duration::from_secs_f64(arguments.limit);
        let told = tell(self.program, &nusmv::script_all(&path, &plain), limit);
        let together = nusmv::answers(&told.text);
        let pairs: Vec<(&(Goal, Verdict), bool)> = asked
            .iter()
            .copied()
            .zip(together.iter().copied())
            .collect();
        self.compare(&pairs, arguments, outcome);
        outcome
            .rows
            .push(self.row("nusmv-b", asked.len(), &together, told.seconds, told.cpu));
        if arguments.without_a {
            return;
        }
        let chosen = match arguments.sample {
            Some(number) if number < asked.len() => nusmv::sample(asked.len(), number),
            _ => (0..asked.len()).collect(),
        };
        let (mut answers, mut seconds, mut cpu) = (Vec::new(), 0.0, Some(0.0));
        for index in &chosen {
            let left = arguments.limit - seconds;
            if left <= 0.0 {
                break;
            }
            let limit = Duration::from_secs_f64(arguments.settings.time_per_goal.min(left));
            let script = nusmv::script_one(&path, &asked[*index].0);
            let told = tell(self.program, &script, limit);
            seconds += told.seconds;
            cpu = cpu.zip(told.cpu).map(|(sum, more)| sum + more);
            answers.extend(nusmv::answers(&told.text).first());
        }
        // Not compared: with fairness, `AG` speaks of fair infinite paths only, and tests are finite.
        let mut row = self.row("nusmv-a", chosen.len(), &answers, seconds, cpu);
        row.sampled_from = (chosen.len() < asked.len()).then_some(asked.len());
        outcome.rows.push(row);
    }

    fn compare(
        &self,
        pairs: &[(&(Goal, Verdict), bool)],
        arguments: &Arguments,
        outcome: &mut Outcome,
    ) {
        let (mut known, mut wrong) = (0, 0);
        for ((goal, verdict), reachable) in pairs {
            let differs = match verdict {
                Verdict::Covered => !reachable,
                Verdict::Infeasible => *reachable,
                Verdict::Unknown => continue,
            };
            known += 1;
            if differs {
                eprintln!(
                    "{}: NuSMV contradicts {verdict:?} for {}",
                    self.model, goal.text
                );
                wrong += 1;
            }
        }
        let technique = arguments
            .settings
            .techniques
            .last()
            .map_or("", |technique| technique.name());
        outcome.compare(technique, "nusmv", known, wrong);
    }

    fn row(
        &self,
        technique: &str,
        goals: usize,
        answers: &[bool],
        seconds: f64,
        cpu: Option<f64>,
    ) -> Row {
        let covered = answers.iter().filter(|reachable| **reachable).count();
        let row = Row {
            model: self.model.to_owned(),
            technique: technique.to_owned(),
            criterion: self.criterion.name(),
            goals,
            covered,
            infeasible: answers.len() - covered,
            unknown: goals - answers.len(),
            seconds,
            cpu,
            sampled_from: None,
        };
        eprintln!(
            "{} {} {}: {} goals, {} covered, {} infeasible, {} unknown, {:.2} s, cpu {:.2} s",
            row.model,
            row.technique,
            row.criterion,
            row.goals,
            row.covered,
            row.infeasible,
            row.unknown,
            row.seconds,
            row.cpu.unwrap_or(f64::NAN)
        );
        row
    }
}

/// Processor time of this process and of its children that have ended, in seconds. Known on Linux only.
fn processor_time() -> Option<(f64, f64)> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
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

struct Told {
    text: String,
    seconds: f64,
    cpu: Option<f64>,
}

/// Runs a script in NuSMV's prompt, for at most some time.
fn tell(program: &Path, script: &str, limit: Duration) -> Told {
    let start = Instant::now();
    let before = processor_time();
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
            return Told {
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
    Told {
        text,
        seconds: start.elapsed().as_secs_f64(),
        cpu: processor_time()
            .zip(before)
            .map(|((_, now), (_, before))| now - before),
    }
}
