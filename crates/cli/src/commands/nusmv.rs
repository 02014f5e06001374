//! NuSMV models: `ioco check`, `ioco generate` and `ioco convert --decompose` on `.smv` files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::exit::{Answer, CommandError, Exit};
use ioco_campaign::{Interrupt, ModelOptions, Project, time};
use ioco_draw::decomposition::{self, Decomposition, Subsystem};
use ioco_engine::SavedStep;
use ioco_generate::suite::{Header, SUITE_VERSION, SavedGoal, SavedTest, SavedTree};
use ioco_smv::decompose::{self, Tree};
use ioco_smv::depend::Dependencies;
use ioco_smv::explicit::remarks;
use ioco_smv::expr::VarId;
use ioco_smv::runnable::Runnable;
use ioco_smv::{
    Criterion, Diagnostic, Edge, Event, Goal, GoalOptions, GoalResult, Model, Options, Severity,
    Shortened, Summary, Technique, Verdict, runnable, suite,
};
use serde::Serialize;

use crate::args::{Format, Generate, SmvArguments};
use crate::output::{self, ERROR, GOOD, WARNING};
use crate::progress::Progress;

/// Whether a path is a NuSMV model.
pub fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "smv")
}

/// What `ioco check --format json` prints.
#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    summary: Option<Summary>,
    errors: usize,
    diagnostics: Vec<Diagnostic>,
}

pub fn check(path: &Path, options: &ModelOptions, format: Format) -> Answer {
    let interrupt = crate::interrupt::listen();
    let (model, diagnostics) = read(path, options, &interrupt)?;
    let summary = model.as_ref().map(Model::summary);
    let errors = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .count();
    if format == Format::Json {
        output::json(&Checked {
            summary,
            errors,
            diagnostics,
        })?;
    } else {
        show(&diagnostics);
        for remark in model.iter().flat_map(remarks) {
            say!("{}: warning: {remark}", path.display());
        }
        if let Some(summary) = summary {
            output::print(&format!(
                "{}: {} variables ({} state, {} input, {} frozen), {} bits, {} modules, {} \
                 instances, {} processes\nuses {}\n",
                summary.file,
                summary.variables,
                summary.state_variables,
                summary.input_variables,
                summary.frozen_variables,
                summary.bits,
                summary.modules,
                summary.instances,
                summary.processes,
                summary.features.join(", "),
            ));
        }
    }
    Ok(if errors > 0 {
        Exit::Usage
    } else if interrupt.is_raised() {
        Exit::Interrupted
    } else {
        Exit::Conforms
    })
}

fn read(
    path: &Path,
    options: &ModelOptions,
    interrupt: &Interrupt,
) -> Result<(Option<Model>, Vec<Diagnostic>), CommandError> {
    let limits = options.budget(&Project::find(Some(path), None)?);
    let bytes = ioco_outside::file::read(path, &limits)
        .map_err(|error| CommandError::usage(format!("cannot read {}: {error}", path.display())))?;
    // Old models have comments in whatever their authors' machines wrote.
    let text = String::from_utf8_lossy(&bytes);
    let name = path.display().to_string();
    Ok(ioco_smv::load_within(&text, &name, &limits, interrupt))
}

fn show(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        say!("{diagnostic}");
    }
}

fn load(path: &Path, options: &ModelOptions, interrupt: &Interrupt) -> Result<Model, CommandError> {
    let (model, diagnostics) = read(path, options, interrupt)?;
    show(&diagnostics);
    model.ok_or_else(|| CommandError::usage(format!("{} has errors", path.display())))
}

/// Finds a test, a proof that there is none, or says that it does not know, for every goal.
pub fn generate(arguments: &Generate, path: &Path, format: Format) -> Answer {
    let interrupt = crate::interrupt::listen();
    let mut model = load(path, &arguments.model.options(), &interrupt)?;
    for remark in remarks(&model) {
        say!("{}: warning: {remark}", path.display());
    }
    let (goals, shortened) = goals(&mut model, arguments)?;
    for variable in &shortened {
        say!(
            "{}: warning: {variable}; choose some with --max-values N",
            path.display()
        );
    }
    let options = options(&arguments.smv, arguments.jobs)?;
    let progress = Progress::start();
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    let stop = || interrupt.is_raised();
    let mut failed = None;
    let results = ioco_smv::generate(
        &model,
        &goals,
        &options,
        Edge {
            clock: &clock,
            stop: &stop,
        },
        &mut |event| match event {
            Event::Result(result) => {
                if format == Format::Json {
                    failed = output::json(&result.to_json(&model)).err();
                } else if result.verdict != Verdict::Covered {
                    progress.aside(|| output::print(&line(result)));
                }
            }
            Event::Progress(now) => progress.say(|| {
                format!(
                    "{} of {} goals: {} covered, {} infeasible, {} unknown; at most {:.0} s left",
                    now.done, now.goals, now.covered, now.infeasible, now.unknown, now.seconds_left
                )
            }),
        },
    );
    drop(progress);
    if let Some(stop) = failed {
        return Err(stop);
    }
    if let Some(file) = &arguments.output {
        write_suite(file, &model, &goals, &results, arguments.smv.minimise)?;
    }
    let count = |verdict| results.iter().filter(|r| r.verdict == verdict).count();
    let unknown = count(Verdict::Unknown);
    say!(
        "{} goals: {} covered, {} infeasible, {unknown} unknown, in {:.1} s",
        results.len(),
        count(Verdict::Covered),
        count(Verdict::Infeasible),
        clock()
    );
    Ok(if interrupt.is_raised() {
        Exit::Interrupted
    } else if unknown > 0 || !shortened.is_empty() {
        Exit::GoalMissed
    } else {
        Exit::Conforms
    })
}

fn line(result: &GoalResult) -> String {
    let (style, word) = match result.verdict {
        Verdict::Covered => (GOOD, "covered"),
        Verdict::Infeasible => (WARNING, "infeasible"),
        Verdict::Unknown => (ERROR, "unknown"),
    };
    format!(
        "{style}{word:<10}{style:#}  {}  ({})\n",
        result.goal, result.method
    )
}

fn goals(
    model: &mut Model,
    arguments: &Generate,
) -> Result<(Vec<Goal>, Vec<Shortened>), CommandError> {
    let smv = &arguments.smv;
    let mut criteria = Vec::new();
    for word in arguments.cover.iter().flat_map(|text| text.split(',')) {
        criteria.push(match word.trim() {
            "values" | "value" => Criterion::Value,
            "decisions" | "decision" => Criterion::Decision,
            "conditions" | "condition" => Criterion::Condition,
            "mcdc" => Criterion::Mcdc,
            "invariants" | "invariant" => Criterion::Invariant,
            other => {
                return Err(CommandError::usage(format!(
                    "'{other}' is not a coverage criterion for NuSMV models"
                ))
                .hint(
                    "use values, decisions, conditions, mcdc, invariants, or several joined by \
                         commas",
                ));
            }
        });
    }
    if criteria.is_empty() && smv.goal.is_empty() {
        return Err(CommandError::usage("the goals of the tests are missing")
            .hint("use --cover values,decisions or --goal 'EXPRESSION'"));
    }
    let options = GoalOptions {
        max_values: smv.max_values,
        seed: arguments.seed,
        inputs: smv.inputs,
        reached_guards: smv.reached_guards,
        boolean_sides: smv.boolean_sides,
        constraints: !smv.assignments_only,
    };
    let shortened = model.shortened(&criteria, &options);
    let mut goals = model.goals(&criteria, &options);
    for text in &smv.goal {
        let goal = model
            .user_goal(text)
            .map_err(|diagnostic| bad_goal(text, diagnostic))?;
        goals.push(goal);
    }
    Ok((goals, shortened))
}

fn bad_goal(goal: &str, diagnostic: Diagnostic) -> CommandError {
    let column = diagnostic.place.column;
    let stop = CommandError::usage(format!(
        "goal '{goal}', column {column}: {}",
        diagnostic.message
    ));
    match diagnostic.hint {
        Some(hint) => stop.hint(hint),
        None => stop,
    }
}

fn options(smv: &SmvArguments, jobs: Option<usize>) -> Result<Options, CommandError> {
    let technique = Technique::ALL
        .into_iter()
        .find(|t| t.name() == smv.technique)
        .ok_or_else(|| {
            CommandError::usage(format!("there is no technique '{}'", smv.technique))
                .hint("use auto, monolithic, strong or weak")
        })?;
    let seconds = |text: &str| time::parse(text).map(|nanoseconds| nanoseconds as f64 / 1e9);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(Options {
        technique,
        time_per_goal: seconds(&smv.time_per_goal)?,
        time: smv.time.as_deref().map(seconds).transpose()?,
        jobs: jobs.unwrap_or(cores).max(1),
        ..Options::default()
    })
}

/// `.csv` is a table for people, `.aml` a model of the tests with a suite beside it, which `ioco test` runs; anything
/// else gets one test a line.
fn write_suite(
    file: &Path,
    model: &Model,
    goals: &[Goal],
    results: &[GoalResult],
    minimise: bool,
) -> Result<(), CommandError> {
    let mut tests = suite::tests(results);
    if minimise {
        tests = suite::minimise(model, goals, &tests);
    }
    let text = match file.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => suite::csv(model, &tests),
        Some("aml") => {
            let runnable = runnable::runnable(model, &tests);
            let beside = file.with_extension("jsonl");
            write(&beside, &suite_file(file, &runnable)?)?;
            say!(
                "{}: run it with ioco test {} --suite {} --sut 'COMMAND'",
                beside.display(),
                file.display(),
                beside.display()
            );
            runnable.aml
        }
        _ => suite::suite_lines(model, goals, &tests),
    };
    write(file, &text)?;
    let plural = if tests.len() == 1 { "" } else { "s" };
    say!("{}: {} test{plural}", file.display(), tests.len());
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), CommandError> {
    fs::write(file, text)
        .map_err(|error| CommandError::usage(format!("cannot write {}: {error}", file.display())))
}

/// The tests as a suite for the model that is written with them.
fn suite_file(file: &Path, runnable: &Runnable) -> Result<String, CommandError> {
    let loaded = ioco_aml::load_text(&file.display().to_string(), &runnable.aml);
    let Some(sts) = &loaded.sts else {
        return Err(CommandError::usage(format!(
            "the model of the tests is not read back: {:?}",
            loaded.diagnostics.first()
        )));
    };
    let mut lines = vec![as_json(&Header {
        suite: SUITE_VERSION,
        model: sts.name().to_owned(),
        hash: ioco_campaign::model::hash(&loaded.files),
        query: None,
    })?];
    for test in &runnable.tests {
        let steps = test.exchanges.iter().flat_map(|exchange| {
            [
                SavedStep::Stimulus {
                    stimulus: exchange.stimulus.to_owned(),
                    values: exchange.given.clone(),
                },
                SavedStep::Response {
                    response: "state".to_owned(),
                    values: exchange.expected.clone(),
                },
            ]
        });
        lines.push(as_json(&SavedTest {
            goal: Some(SavedGoal::Location(test.end.clone())),
            tree: SavedTree {
                steps: steps.collect(),
                branches: Vec::new(),
            },
            switches: Vec::new(),
        })?);
    }
    Ok(lines.join("\n") + "\n")
}

fn as_json(line: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(line).map_err(|error| CommandError::usage(error.to_string()))
}

/// Draws the dependency graph and the tree of subsystems for a goal.
pub fn convert(path: &Path, options: &ModelOptions, output: &Path, goal: Option<&str>) -> Answer {
    let Some(goal) = goal else {
        return Err(
            CommandError::usage("a NuSMV model has no locations and switches to write")
                .hint("use --decompose 'GOAL' to draw its decomposition for a goal"),
        );
    };
    let mut model = load(path, options, &crate::interrupt::listen())?;
    let parsed = model
        .user_goal(goal)
        .map_err(|diagnostic| bad_goal(goal, diagnostic))?;
    let dependencies = Dependencies::of(&model);
    let tree = Tree::of(&model, &dependencies, parsed.expr);
    let tree = by_name(&tree, &model, &dependencies, goal);
    let text = match output.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => decomposition::svg(&tree),
        Some("dot" | "gv") => decomposition::dot(&tree),
        _ => {
            return Err(CommandError::usage(
                "a decomposition is drawn as .svg or .dot",
            ));
        }
    };
    write(output, &text)?;
    say!("{}: {} subsystems", output.display(), tree.subsystems.len());
    Ok(Exit::Conforms)
}

fn by_name(tree: &Tree, model: &Model, dependencies: &Dependencies, goal: &str) -> Decomposition {
    let name = |var: &VarId| model.var(*var).name.clone();
    let all: BTreeSet<VarId> = (tree.subsystems.iter())
        .flat_map(|subsystem| subsystem.vars.iter().copied())
        .collect();
    let direct = all.iter().flat_map(|from| {
        let near = dependencies.direct(*from).iter();
        near.map(move |to| (from, to))
    });
    let subsystems = tree.subsystems.iter().enumerate();
    Decomposition {
        goal: goal.to_owned(),
        subsystems: subsystems
            .map(|(index, subsystem)| Subsystem {
                name: format!("M{}", index + 1),
                variables: (subsystem.vars.iter())
                    .filter(|var| !subsystem.inputs.contains(var))
                    .map(name)
                    .collect(),
                inputs: subsystem.inputs.iter().map(name).collect(),
                bits: decompose::bits(model, &subsystem.vars),
                children: (subsystem.children.iter())
                    .map(|(var, child)| (name(var), *child))
                    .collect(),
            })
            .collect(),
        dependencies: direct
            .filter(|(_, to)| all.contains(to))
            .map(|(from, to)| (name(from), name(to)))
            .collect(),
    }
}
