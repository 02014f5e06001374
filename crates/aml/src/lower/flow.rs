//! Walks the statements of a process with a current location, and makes its graph.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Block, Command, Item, Site};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::lower::Lowering;
use crate::lower::arguments::keyword_value;
use crate::lower::graph::{Branching, Graph, NodeId};
use crate::lower::process::{Behavior, ProcessScope};
use crate::suggest::did_you_mean;
use crate::words::{self, Context};

/// Blocks, macros and behaviors inside each other.
const MAX_DEPTH: usize = 250;

/// Locations of one process, and statements once all calls are put in place.
const MAX_SIZE: usize = 200_000;

/// States that a `goto` can see: those of the process, and those of one copy of a behavior.
#[derive(Clone, Copy, PartialEq, Eq)]
struct StatesId(usize);

const PROCESS: StatesId = StatesId(0);

/// A `goto` whose state may be declared later.
struct Goto {
    from: NodeId,
    state: String,
    states: StatesId,
    site: Site,
}

/// An open `repeat`.
struct Repetition {
    exit: Option<NodeId>,
}

pub(super) struct Walker<'w, 'a> {
    pub lowering: &'w mut Lowering<'a>,
    pub scope: &'w ProcessScope<'a>,
    pub graph: Graph,
    states: Vec<FxHashMap<String, (NodeId, Site)>>,
    /// The copies of behaviors entered with `behave_as`: the process can jump into them.
    shared_states: Vec<StatesId>,
    gotos: Vec<Goto>,
    repetitions: Vec<Repetition>,
    /// Behaviors and macros that are being put in place.
    active: Vec<String>,
    /// Where the one copy of each behavior begins that is entered with `behave_as`.
    shared: FxHashMap<String, NodeId>,
    waiting: Vec<(String, NodeId)>,
    used_behaviors: FxHashSet<String>,
    /// Requirements whose statement has not come yet.
    pub pending: Vec<usize>,
    /// Requirements of the blocks around.
    pub shown: Vec<usize>,
    /// How many statements so far left the blocks around them.
    escapes: usize,
    depth: usize,
    statements: usize,
    too_large: bool,
}

impl<'w, 'a> Walker<'w, 'a> {
    pub fn new(lowering: &'w mut Lowering<'a>, scope: &'w ProcessScope<'a>) -> Self {
        Walker {
            lowering,
            scope,
            graph: Graph::default(),
            states: vec![FxHashMap::default()],
            shared_states: Vec::new(),
            gotos: Vec::new(),
            repetitions: Vec::new(),
            active: Vec::new(),
            shared: FxHashMap::default(),
            waiting: Vec::new(),
            used_behaviors: FxHashSet::default(),
            pending: Vec::new(),
            shown: Vec::new(),
            escapes: 0,
            depth: 0,
            statements: 0,
            too_large: false,
        }
    }

    pub fn process(mut self, command: &'a Command, items: &'a [Item]) {
        let initial = self.graph.node(command.site());
        self.items(items, Some(initial), PROCESS, Context::Process);
        self.shared_behaviors();
        self.resolve_gotos();
        self.unused_behaviors();
        let Walker {
            lowering,
            scope,
            graph,
            ..
        } = self;
        lowering.lint_process(&graph, initial, scope);
        lowering.locations(&graph, initial, scope.process);
    }

    fn shared_behaviors(&mut self) {
        while let Some((name, start)) = self.waiting.pop() {
            if let Some(behavior) = self.scope.behaviors.get(&name).copied() {
                let states = self.new_states();
                self.shared_states.push(states);
                self.active.push(name);
                let end = self.items(behavior.body, Some(start), states, Context::Statements);
                self.active.pop();
                self.ends(behavior, end);
            }
        }
    }

    /// A behavior that nothing enters is read all the same, so that its mistakes are seen.
    fn unused_behaviors(&mut self) {
        for name in &self.scope.behavior_order {
            let behavior = self.scope.behaviors[name];
            if self.used_behaviors.contains(name) {
                continue;
            }
            if !self.lowering.diagnostics.iter().any(Diagnostic::is_error) {
                let Site { file, span } = behavior.command.site();
                let message = format!("the behavior `{name}` is never used");
                self.lowering
                    .report(codes::UNUSED_BEHAVIOR, file, &span, message);
            }
            let mark = self.graph.mark();
            let start = self.graph.node(behavior.command.site());
            let states = self.new_states();
            self.active.push(name.clone());
            let end = self.items(behavior.body, Some(start), states, Context::Statements);
            self.active.pop();
            self.ends(behavior, end);
            self.shared_behaviors();
            self.resolve_gotos();
            self.graph.take_back(&mark);
            let kept = self.graph.nodes.len();
            self.shared.retain(|_, start| start.index() < kept);
        }
    }

    fn new_states(&mut self) -> StatesId {
        self.states.push(FxHashMap::default());
        StatesId(self.states.len() - 1)
    }

    /// Walks statements from `current` on; the result is where control is after them, if it can
    /// get there. Declarations of the process are passed over.
    fn items(
        &mut self,
        items: &'a [Item],
        current: Option<NodeId>,
        states: StatesId,
        context: Context,
    ) -> Option<NodeId> {
        self.depth += 1;
        let mut current = current;
        // Statements after a `goto` are reported once, not each.
        let mut reported = false;
        for item in items {
            let Item::Command(command) = item else {
                self.lowering.definition_misplaced(item);
                continue;
            };
            if self.is_too_large(command) {
                break;
            }
            match words::allowed(&command.word, context) {
                Some(true) if command.word == "state" => {
                    reported = false;
                    current = Some(self.state(command, current, states));
                }
                Some(true) if is_declaration(&command.word) => {}
                Some(true) if command.word == "requirement" => {
                    let cited = self.lowering.requirement(command);
                    self.pending.extend(cited);
                }
                Some(true) => {
                    let from = self.live(command, current, &mut reported);
                    current = self.statement(command, from, states);
                }
                Some(false) => self.lowering.wrong_place(command),
                None => match self.lowering.macros.get(&command.word).copied() {
                    None => self.lowering.unknown_word(command),
                    Some(definition) => {
                        let (wanted, given) =
                            (definition.parameters.len(), command.arguments.len());
                        if wanted != given {
                            let plural = if wanted == 1 { "" } else { "s" };
                            let message = format!(
                                "`{}` takes {wanted} argument{plural}, not {given}",
                                command.word
                            );
                            let (file, span) = (command.file, command.span.clone());
                            self.lowering.report(codes::ARGUMENTS, file, &span, message);
                        }
                        self.lowering.used_macros.insert(command.word.clone());
                        if wanted == given && self.enters(command, &command.word, "macro") {
                            self.active.push(command.word.clone());
                            let body = command.expansion.as_ref().unwrap_or(&definition.body);
                            current = self.items(body, current, states, Context::Statements);
                            self.active.pop();
                        }
                    }
                },
            }
        }
        // What nothing follows is shown by nothing.
        self.pending.clear();
        self.depth -= 1;
        current
    }

    /// Counts a statement, and says once when there are too many.
    fn is_too_large(&mut self, command: &Command) -> bool {
        self.statements += 1;
        if self.statements <= MAX_SIZE && self.graph.nodes.len() <= MAX_SIZE {
            return false;
        }
        if !std::mem::replace(&mut self.too_large, true) {
            let message = "with all calls put in place, the process is too large";
            let Site { file, span } = command.site();
            self.lowering.report(codes::TOO_LARGE, file, &span, message);
        }
        true
    }

    /// The current location, or a new one with a warning where control cannot be.
    fn live(&mut self, command: &Command, current: Option<NodeId>, reported: &mut bool) -> NodeId {
        current.unwrap_or_else(|| {
            if !*reported {
                *reported = true;
                let message = "this is never reached";
                let span = command.span.clone();
                self.lowering
                    .report(codes::UNREACHABLE_STATEMENT, command.file, &span, message)
                    .hint = Some("name the place with `state` to jump to it".to_owned());
            }
            self.graph.node(command.site())
        })
    }

    fn state(&mut self, command: &Command, current: Option<NodeId>, states: StatesId) -> NodeId {
        let node = current.unwrap_or_else(|| self.graph.node(command.site()));
        let named = self.lowering.name_argument(command, "a name for the state");
        self.lowering.no_more_arguments(command, 1, &["timeout"]);
        if let Some(value) = keyword_value(command, "timeout") {
            let timeout = self.lowering.seconds(command.file, value);
            self.graph.nodes[node.index()].timeout = timeout;
        }
        let Some((name, span)) = named else {
            return node;
        };
        let site = Site {
            file: command.file,
            span: span.clone(),
        };
        if let Some((_, first)) = self.states[states.0].get(&name.value) {
            let first = (first.file, first.span.clone());
            let message = format!("the state `{}` is declared twice", name.value);
            self.lowering.twice(&site, message, first);
            return node;
        }
        self.states[states.0].insert(name.value.clone(), (node, site));
        let known = &mut self.graph.nodes[node.index()];
        if known.names.is_empty() {
            known.site = command.site();
        }
        known.names.push(name.value.clone());
        node
    }

    fn statement(
        &mut self,
        command: &'a Command,
        from: NodeId,
        states: StatesId,
    ) -> Option<NodeId> {
        let has_block = command.block.is_some();
        if has_block && !matches!(command.word.as_str(), "choice" | "repeat") {
            let message = format!("`{}` takes no block", command.word);
            let span = command.word_span.clone();
            self.lowering
                .report(codes::ARGUMENTS, command.file, &span, message);
        }
        match command.word.as_str() {
            "receive" | "send" | "tau" => Some(self.step(command, from)),
            "goto" => {
                self.goto(command, from, states);
                None
            }
            "stop_repetition" => {
                self.lowering.no_more_arguments(command, 0, &[]);
                self.stop_repetition(command, from)
            }
            "behave_as" => {
                self.behave_as(command, from);
                None
            }
            // Every step inside shows what stands before it.
            "call" | "choice" | "repeat" => {
                let around = self.shown.len();
                self.shown.append(&mut self.pending);
                let after = match command.word.as_str() {
                    "call" => self.call(command, from),
                    _ => self.branch(command, from, states),
                };
                self.shown.truncate(around);
                after
            }
            _ => Some(from),
        }
    }

    fn goto(&mut self, command: &Command, from: NodeId, states: StatesId) {
        self.escapes += 1;
        self.pending.clear();
        let name = self.lowering.name_argument(command, "the name of a state");
        self.lowering.no_more_arguments(command, 1, &[]);
        if let Some((name, span)) = name {
            self.gotos.push(Goto {
                from,
                state: name.value.clone(),
                states,
                site: Site {
                    file: command.file,
                    span: span.clone(),
                },
            });
        }
    }

    fn resolve_gotos(&mut self) {
        for goto in std::mem::take(&mut self.gotos) {
            let seen = [goto.states, PROCESS]
                .into_iter()
                .chain(self.shared_states.iter().copied());
            let target = seen
                .clone()
                .find_map(|states| self.states[states.0].get(&goto.state).map(|s| s.0));
            match target {
                Some(target) => {
                    self.graph.nodes[target.index()].jumped_to = true;
                    self.graph.jump(goto.from, target);
                }
                None => {
                    let names: Vec<String> = seen
                        .flat_map(|states| self.states[states.0].keys().cloned())
                        .collect();
                    let elsewhere = self.states.iter().any(|s| s.contains_key(&goto.state));
                    let hint = if elsewhere {
                        Some("it is declared in a behavior, and seen only there".to_owned())
                    } else {
                        did_you_mean(&goto.state, names.iter().map(String::as_str))
                    };
                    let message = format!("unknown state `{}`", goto.state);
                    let Site { file, span } = &goto.site;
                    self.lowering
                        .report(codes::UNKNOWN_STATE, *file, span, message)
                        .hint = hint;
                }
            }
        }
    }

    fn stop_repetition(&mut self, command: &Command, from: NodeId) -> Option<NodeId> {
        self.escapes += 1;
        let Some(repetition) = self.repetitions.last_mut() else {
            let message = "there is no `repeat` around this to leave";
            let span = command.span.clone();
            self.lowering
                .report(codes::OUTSIDE_REPEAT, command.file, &span, message);
            return Some(from);
        };
        let exit = match repetition.exit {
            Some(exit) => exit,
            None => {
                let exit = self.graph.node(command.site());
                repetition.exit = Some(exit);
                exit
            }
        };
        self.graph.jump(from, exit);
        None
    }

    fn branch(&mut self, command: &'a Command, from: NodeId, states: StatesId) -> Option<NodeId> {
        let repeats = command.word == "repeat";
        self.lowering.no_more_arguments(command, 0, &[]);
        let Some(Block::Items(items)) = &command.block else {
            let message = format!("`{}` needs options", command.word);
            let span = command.span.clone();
            self.lowering
                .report(codes::ARGUMENTS, command.file, &span, message)
                .hint = Some(format!("{} {{ o {{ ... }} o {{ ... }} }}", command.word));
            return Some(from);
        };
        if !self.not_too_deep(command) {
            return Some(from);
        }
        let escapes = self.escapes;
        if repeats {
            self.repetitions.push(Repetition { exit: None });
        }
        let mut join = None;
        let mut options = Vec::new();
        for item in items {
            let Item::Command(option) = item else {
                self.lowering.definition_misplaced(item);
                continue;
            };
            if option.word == "requirement" {
                let cited = self.lowering.requirement(option);
                self.pending.extend(cited);
                continue;
            }
            let (true, Some(Block::Items(body))) = (option.word == "o", &option.block) else {
                self.not_an_option(option);
                continue;
            };
            self.lowering.no_more_arguments(option, 0, &[]);
            let start = self.graph.node(option.site());
            self.graph.nodes[start.index()].option_start = true;
            self.graph.jump(from, start);
            options.push((start, option.site()));
            let around = self.shown.len();
            self.shown.append(&mut self.pending);
            let end = self.items(body, Some(start), states, Context::Statements);
            self.shown.truncate(around);
            if let Some(end) = end {
                let next = if repeats {
                    from
                } else {
                    *join.get_or_insert_with(|| self.graph.node(command.site()))
                };
                self.graph.jump(end, next);
            }
        }
        if options.is_empty() {
            let message = format!("`{}` has no options", command.word);
            let span = command.span.clone();
            let code = match repeats {
                true => codes::EMPTY_REPEAT,
                false => codes::ARGUMENTS,
            };
            self.lowering
                .report(code, command.file, &span, message)
                .hint = Some("an option is written `o { ... }`".to_owned());
        }
        let any = !options.is_empty();
        self.graph.branchings.push(Branching { options });
        if !repeats {
            return join.or((!any).then_some(from));
        }
        let exit = self.repetitions.pop().and_then(|r| r.exit);
        let named = !self.graph.nodes[from.index()].names.is_empty();
        if any && self.escapes == escapes && !named {
            let message = "this `repeat` is never left, and has no name";
            let span = command.word_span.clone();
            self.lowering
                .report(codes::ENDLESS_REPEAT, command.file, &span, message)
                .hint =
                Some("put `state 'name'` before it, or leave it with `stop_repetition`".into());
        }
        exit
    }

    fn not_an_option(&mut self, command: &Command) {
        let message = if command.word == "o" {
            "an option needs a block".to_owned()
        } else {
            format!("`{}` is not allowed here, only in an option", command.word)
        };
        let code = match words::allowed(&command.word, Context::Options) {
            None if !self.lowering.macros.contains_key(&command.word) => {
                self.lowering.unknown_word(command);
                return;
            }
            _ => codes::WRONG_PLACE,
        };
        let span = command.word_span.clone();
        self.lowering
            .report(code, command.file, &span, message)
            .hint = Some("an option is written `o { ... }`".to_owned());
    }

    fn not_too_deep(&mut self, command: &Command) -> bool {
        let fits = self.depth < MAX_DEPTH;
        if !fits {
            let message = "this is nested too deeply";
            let span = command.span.clone();
            self.lowering
                .report(codes::TOO_DEEP, command.file, &span, message);
        }
        fits
    }

    /// Whether a macro or behavior can be put in place here: it must not be inside itself.
    fn enters(&mut self, command: &Command, name: &str, what: &str) -> bool {
        if self.active.iter().any(|active| active == name) {
            let through = self.active.join("`, `");
            let message = format!("the {what} `{name}` contains itself");
            let span = command.span.clone();
            self.lowering
                .report(codes::RECURSION, command.file, &span, message)
                .hint = Some(format!(
                "it is being put in place inside `{through}`; use `behave_as` or `goto` to go round"
            ));
            return false;
        }
        self.not_too_deep(command)
    }

    fn named_behavior(&mut self, command: &'a Command) -> Option<(&'a str, Behavior<'a>)> {
        let name = self
            .lowering
            .name_argument(command, "the name of a behavior");
        self.lowering.no_more_arguments(command, 1, &[]);
        let (name, span) = name?;
        let found = self.scope.behaviors.get(&name.value).copied();
        if found.is_none() {
            let known = self.scope.behavior_order.iter().map(String::as_str);
            let hint = did_you_mean(&name.value, known);
            let message = format!("unknown behavior `{}`", name.value);
            self.lowering
                .report(codes::UNKNOWN_BEHAVIOR, command.file, span, message)
                .hint = hint;
        }
        self.used_behaviors.insert(name.value.clone());
        Some((name.value.as_str(), found?))
    }

    fn call(&mut self, command: &'a Command, from: NodeId) -> Option<NodeId> {
        let Some((name, behavior)) = self.named_behavior(command) else {
            return Some(from);
        };
        if !self.enters(command, name, "behavior") {
            return Some(from);
        }
        let states = self.new_states();
        // The repetitions around the call are not those of the behavior.
        let around = std::mem::take(&mut self.repetitions);
        self.active.push(name.to_owned());
        let end = self.items(behavior.body, Some(from), states, Context::Statements);
        self.active.pop();
        self.repetitions = around;
        self.ends(behavior, end);
        end
    }

    fn ends(&mut self, behavior: Behavior<'a>, end: Option<NodeId>) {
        if behavior.non_terminating && end.is_some() {
            let message = "the behavior is declared `:non_terminating`, but can end";
            let span = behavior.command.span.clone();
            self.lowering
                .report(codes::BEHAVIOR_ENDS, behavior.command.file, &span, message);
        }
    }

    fn behave_as(&mut self, command: &'a Command, from: NodeId) {
        self.escapes += 1;
        let Some((name, behavior)) = self.named_behavior(command) else {
            return;
        };
        let start = match self.shared.get(name) {
            Some(start) => *start,
            None => {
                let start = self.graph.node(behavior.command.site());
                self.shared.insert(name.to_owned(), start);
                self.waiting.push((name.to_owned(), start));
                start
            }
        };
        self.graph.jump(from, start);
    }
}

/// Declarations that stand among the statements of a process.
fn is_declaration(word: &str) -> bool {
    matches!(
        word,
        "channel" | "var" | "behavior" | "external" | "internal" | "include"
    )
}
