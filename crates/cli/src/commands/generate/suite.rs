//! Suites as they are written: one test a line, as JSON or as text for people, or as a file for
//! another test runner.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Subject;
use crate::exit::CommandError;
use ioco_campaign::Interrupt;
use ioco_engine::SavedStep;
use ioco_generate::PathStep;
use ioco_generate::plan::{Limits, Pattern};
use ioco_generate::suite::export::Export;
use ioco_generate::suite::{Header, SUITE_VERSION, SavedGoal, SavedQuery, SavedTest, SavedTree};
use ioco_generate::tree::{Grower, Purpose};
use ioco_sts::{Action, Direction, Step, Sts, SwitchId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use crate::args::{self, Format};

/// Text is handed on in pieces of about this size, so that threads seldom wait for each other.
const PIECE: usize = 1 << 16;

/// One test of a suite.
#[derive(Debug, Serialize)]
pub struct Test {
    /// Stimuli to give and responses that the model allows, in order.
    pub steps: Vec<SavedStep>,
    /// The switches of the path, internal ones included, numbered in the order of the model text.
    pub switches: Vec<u32>,
}

impl Test {
    pub fn new<'p>(sts: &Sts, path: impl Iterator<Item = PathStep<'p>>) -> Test {
        let mut test = Test {
            steps: Vec::new(),
            switches: Vec::new(),
        };
        for step in path {
            test.switches
                .extend(step.step.switches.iter().map(|id| id.0));
            if let Some(action) = step.action {
                test.steps
                    .push(SavedStep::new(&observable(sts, action), sts));
            }
        }
        test
    }
}

fn observable(sts: &Sts, action: Action) -> Step {
    match sts.label(action.label).direction {
        Direction::Stimulus => Step::Stimulus(action),
        Direction::Response | Direction::Internal => Step::Response(action),
    }
}

/// A test on one line, for people.
pub fn in_words<'p>(sts: &Sts, path: impl Iterator<Item = PathStep<'p>>) -> String {
    let actions = path.filter_map(|step| step.action);
    let shown: Vec<String> = actions.map(|action| action.show(sts)).collect();
    shown.join("  ")
}

/// Where a suite goes: shared by all threads.
pub struct Suite {
    target: Mutex<Target>,
    form: Form,
    model: Subject,
    tests: AtomicU64,
    /// Ends every question about what else may come.
    interrupt: Interrupt,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One line a test, for people.
    Text,
    Json,
    Export(Export),
}

struct Target {
    out: Box<dyn Write + Send>,
    failed: Option<io::Error>,
}

/// Solver steps for one question about what else may come.
const BUDGET: u64 = 50_000;
/// Ways that a branch of a test may begin.
const BRANCH_PATHS: usize = 2_000;
/// Steps that a branch may take beyond the planned ones.
const DETOUR: u32 = 10;

impl Suite {
    /// Into a file as JSON, or as the file's ending or `--export` says; to standard output in the
    /// form that was asked for.
    pub fn open(
        arguments: &args::Generate,
        format: Format,
        model: &Subject,
        query: Option<SavedQuery>,
        interrupt: &Interrupt,
    ) -> Result<Suite, CommandError> {
        let file = arguments.output.as_deref();
        let form = match export(arguments)? {
            Some(export) => Form::Export(export),
            None if file.is_some() || format == Format::Json => Form::Json,
            None => Form::Text,
        };
        if let Form::Export(export) = form
            && let Some(label) = export.refuses(&model.sts)
        {
            return Err(CommandError::usage(format!(
                "{label} has a set or a hash, which a test file without ioco cannot judge"
            ))
            .hint("write a suite, and run it with `ioco test --suite`"));
        }
        let out: Box<dyn Write + Send> = match file {
            Some(path) => Box::new(File::create(path).map_err(|error| {
                CommandError::usage(format!("cannot write {}: {error}", path.display()))
            })?),
            None => Box::new(io::stdout()),
        };
        let suite = Suite {
            target: Mutex::new(Target { out, failed: None }),
            form,
            model: model.clone(),
            tests: AtomicU64::new(0),
            interrupt: interrupt.clone(),
        };
        let mut page = suite.page();
        match form {
            Form::Text => {}
            Form::Json if file.is_none() => {}
            Form::Json => page.line(&Header {
                suite: SUITE_VERSION,
                model: model.sts.name().to_owned(),
                hash: model.hash.clone(),
                query,
            }),
            Form::Export(export) => {
                let begin = export.begin(&model.sts, arguments.sut.as_deref());
                page.text.extend(begin.into_bytes());
            }
        }
        page.flush();
        drop(page);
        Ok(suite)
    }

    pub fn page(&self) -> Page<'_> {
        Page {
            suite: self,
            text: Vec::new(),
            grower: None,
        }
    }

    /// What went wrong with writing. A reader that went away (`| head`) is nothing wrong.
    pub fn close(self) -> Result<(), CommandError> {
        let mut target = match self.target.into_inner() {
            Ok(target) => target,
            Err(poisoned) => poisoned.into_inner(),
        };
        let flushed = target.out.flush().err();
        match target.failed.or(flushed) {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::usage(
                format!("cannot write the suite: {error}"),
            )),
            _ => Ok(()),
        }
    }
}

/// The form for another test runner: as asked for, or as the file is named.
fn export(arguments: &args::Generate) -> Result<Option<Export>, CommandError> {
    match (&arguments.export, &arguments.output) {
        (Some(name), _) => match Export::named(name) {
            Some(export) => Ok(Some(export)),
            None => Err(CommandError::usage(format!("there is no export '{name}'"))
                .hint(format!("use {}", Export::NAMES.join(", ")))),
        },
        (None, Some(path)) => {
            let ending = path.extension().and_then(|ending| ending.to_str());
            Ok(ending.and_then(Export::by_ending))
        }
        (None, None) => Ok(None),
    }
}

/// What one thread has to write.
pub struct Page<'a> {
    suite: &'a Suite,
    text: Vec<u8>,
    grower: Option<(Grower, ChaCha8Rng)>,
}

impl Page<'_> {
    /// Adds a test; false when nothing more can be written.
    pub fn add<'p>(&mut self, sts: &Sts, path: impl Iterator<Item = PathStep<'p>>) -> bool {
        match self.suite.form {
            Form::Json => self.line(&Test::new(sts, path)),
            Form::Text => {
                self.text.extend(in_words(sts, path).into_bytes());
                self.text.push(b'\n');
            }
            Form::Export(export) => {
                let actions: Vec<Action> = path.filter_map(|step| step.action).collect();
                self.export(export, &actions, None, "");
            }
        }
        self.text.len() < PIECE || self.flush()
    }

    /// Adds a test for a goal: with what else may come, and how to go on then.
    pub fn add_for_goal<'p>(
        &mut self,
        sts: &Sts,
        path: impl Iterator<Item = PathStep<'p>> + Clone,
        goal: Option<SavedGoal>,
    ) -> bool {
        let pattern = goal.as_ref().and_then(|goal| goal.pattern(sts));
        let actions: Vec<Action> = path.clone().filter_map(|step| step.action).collect();
        let purpose = pattern
            .as_ref()
            .map(|pattern| self.suite.purpose(pattern, actions.len()));
        let name = goal
            .as_ref()
            .map_or_else(String::new, |goal| goal.show(sts));
        match self.suite.form {
            Form::Text => return self.add(sts, path),
            Form::Export(export) => self.export(export, &actions, purpose.as_ref(), &name),
            Form::Json => {
                let (grower, rng) = self.grower();
                let Some(tree) = grower.grow(&actions, purpose.as_ref(), rng) else {
                    // The second walk allowed it, so the meaning of the model does.
                    return self.add(sts, path);
                };
                let test = SavedTest {
                    goal,
                    tree: SavedTree::new(&tree, sts),
                    switches: path
                        .flat_map(|s| s.step.switches.clone())
                        .map(|id| id.0)
                        .collect(),
                };
                self.line(&test);
            }
        }
        self.text.len() < PIECE || self.flush()
    }

    /// Adds a test of steps in which silence may be planned, too. False when nothing more can be
    /// written.
    pub fn add_steps(&mut self, sts: &Sts, steps: Vec<Step>, switches: &[SwitchId]) -> bool {
        match self.suite.form {
            Form::Text => {
                let shown: Vec<String> = steps.iter().map(|step| step.show(sts)).collect();
                self.text.extend(shown.join("  ").into_bytes());
                self.text.push(b'\n');
            }
            Form::Json => self.line(&Test {
                steps: steps.iter().map(|s| SavedStep::new(s, sts)).collect(),
                switches: switches.iter().map(|id| id.0).collect(),
            }),
            Form::Export(export) => {
                let actions: Vec<Action> = steps.iter().filter_map(Step::action).cloned().collect();
                let (grower, rng) = self.grower();
                if let Some(mut tree) = grower.grow(&actions, None, rng) {
                    tree.plan_silences(steps);
                    self.exported(export, &tree, "");
                }
            }
        }
        self.text.len() < PIECE || self.flush()
    }

    /// Adds a test that is a tree already.
    pub fn add_tree(&mut self, test: &SavedTest, tree: &ioco_generate::tree::Tree) -> bool {
        match self.suite.form {
            Form::Export(export) => self.exported(export, tree, "an answer to the query"),
            Form::Json | Form::Text => self.line(test),
        }
        self.text.len() < PIECE || self.flush()
    }

    fn export(
        &mut self,
        export: Export,
        actions: &[Action],
        purpose: Option<&Purpose<'_>>,
        name: &str,
    ) {
        let (grower, rng) = self.grower();
        if let Some(tree) = grower.grow(actions, purpose, rng) {
            self.exported(export, &tree, name);
        }
    }

    fn exported(&mut self, export: Export, tree: &ioco_generate::tree::Tree, name: &str) {
        let number = self.suite.tests.fetch_add(1, Ordering::Relaxed) + 1;
        let text = export.test(&self.suite.model.sts, number, name, tree);
        self.text.extend(text.into_bytes());
    }

    fn grower(&mut self) -> (&mut Grower, &mut ChaCha8Rng) {
        let (grower, rng) = self.grower.get_or_insert_with(|| {
            let semantics = self.suite.model.semantics();
            let interrupt = self.suite.interrupt.clone();
            let grower = Grower::new(semantics, BUDGET, interrupt);
            (grower, ChaCha8Rng::seed_from_u64(1))
        });
        (grower, rng)
    }

    fn line(&mut self, value: &impl Serialize) {
        // Writing into memory cannot fail.
        let _ = serde_json::to_writer(&mut self.text, value);
        self.text.push(b'\n');
    }

    pub fn flush(&mut self) -> bool {
        let mut target = match self.suite.target.lock() {
            Ok(target) => target,
            Err(poisoned) => poisoned.into_inner(),
        };
        if target.failed.is_none() {
            target.failed = target.out.write_all(&self.text).err();
        }
        self.text.clear();
        target.failed.is_none()
    }
}

impl Suite {
    fn purpose<'p>(&self, pattern: &'p Pattern, steps: usize) -> Purpose<'p> {
        Purpose {
            pattern,
            limits: Limits {
                steps: steps as u32 + DETOUR,
                paths: BRANCH_PATHS,
                budget: BUDGET,
                interrupt: self.interrupt.clone(),
            },
        }
    }
}
