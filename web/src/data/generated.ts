// Written from the Rust types by `IOCO_WRITE=1 cargo test -p ioco-server contract`.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** An integer; one beyond 2^53 is a string of digits. */
export type Whole = number | string;
export type Values = Record<string, Json>;

export type AcceptRequest = { reason: string | null, };

/**
 * A variable whose value is another one after the step. Where the model may be in several states,
 * all its values.
 */
export type Change = { variable: string, from: string, to: string, };

/**
 * How often each was seen to change since the page began to listen.
 */
export type Changes = { model: number, system: number, 
/**
 * What changed last.
 */
file: string | null, };

export type Comparison = { a: RunSummary, b: RunSummary, gained: Array<string>, lost: Array<string>, new_failures: Array<FailureSummary>, fixed_failures: Array<FailureSummary>, same_failures: Array<FailureSummary>, };

/**
 * How to reach the system: `process` with a command, `tcp` with an address, `simulated` plays the
 * model itself.
 */
export type ConnectionView = { kind: string, text: string, };

export type ControlRequest = { action: string, delay_ms?: number | null, };

/**
 * Covered and total.
 */
export type CoverageView = { locations: [number, number], switches: [number, number], 
/**
 * Boundary values of parameters.
 */
data: [number, number], };

/**
 * Where the model may be now.
 */
export type Current = { states: Array<StateView>, 
/**
 * What the system may do.
 */
allowed: Array<string>, 
/**
 * What the tester may give.
 */
stimuli: Array<string>, quiescent: boolean, 
/**
 * Seconds without a response that count as silence.
 */
timeout: number, };

/**
 * The limits of a run that are not set.
 */
export type DefaultsView = { 
/**
 * Where neither time nor coverage ends the run.
 */
tests: number, steps: number, failures: number, };

export type DiagnosticView = { 
/**
 * `error`, `warning` or `hint`.
 */
severity: string, code: string, message: string, hint: string | null, file: string, line: number, column: number, };

/**
 * What the page shows.
 */
export type Document = { project: ProjectView, model: ModelView, run: RunDetail, failures: Array<FailureDetail>, 
/**
 * Failing ones whole, some of the passing ones.
 */
tests: Array<TestView>, 
/**
 * The history, newest first.
 */
runs: Array<RunSummary>, goals: Array<GoalView>, };

/**
 * What ioco says about a draft.
 */
export type Draft = { 
/**
 * Of this file; places are in UTF-16 units.
 */
diagnostics: Array<DraftDiagnostic>, completions: Array<DraftCompletion>, };

export type DraftCompletion = { text: string, detail: string, 
/**
 * `keyword`, or what the name is.
 */
kind: string, };

export type DraftDiagnostic = { from: number, to: number, 
/**
 * `error`, `warning` or `hint`.
 */
severity: string, code: string, message: string, hint: string | null, 
/**
 * What would repair it.
 */
fix: DraftFix | null, };

export type DraftFix = { from: number, to: number, text: string, };

/**
 * A text that is being typed.
 */
export type DraftRequest = { 
/**
 * The path of the model.
 */
model: string, 
/**
 * Which of its files, as the model names it.
 */
file: string, text: string, 
/**
 * Where the cursor stands, in UTF-16 units as browsers count: what can be typed there is asked for.
 */
at?: number | null, };

export type Exploration = { 
/**
 * The walk as far as the model allows it.
 */
trace: TraceView, states: Array<StateView>, more_states: number, menu: Array<MenuEntry>, 
/**
 * Why the walk could not be followed to its end.
 */
problem: string | null, };

export type ExploreRequest = { model: string, seed: Whole, trace: Array<WalkedStep>, };

export type FailureDetail = { 
/**
 * As the terminal shows it, without colour.
 */
explanation: string, allowed: Array<string>, because: Array<string>, 
/**
 * The names of the requirements that it touches.
 */
requirements: Array<string>, model_lines: Array<ModelLine>, connection: string, shrunk: TraceView | null, original: TraceView, 
/**
 * Why the original trace fails, where there is a shrunk one: that may deviate elsewhere.
 */
original_why: Why | null, 
/**
 * Length over runs of the last shrinking, where it is known.
 */
shrinking_progress: Array<ProgressPoint>, 
/**
 * What `ioco explain` says about the code.
 */
code_text: string, id: string, model: string, 
/**
 * `D001`, `D002` or `D003`.
 */
code: string, title: string, observed: string, 
/**
 * Steps when it was first seen, and now.
 */
from: number, to: number, 
/**
 * That it took to shrink it.
 */
runs: number, confirmed: [number, number] | null, flaky: boolean, status: FailureStatus, 
/**
 * The run in which it did not fail any more.
 */
fixed_in: string | null, 
/**
 * The run in which the system did it again, and a changed model allowed it.
 */
allowed_in: string | null, 
/**
 * Why a person accepted it.
 */
accepted: string | null, 
/**
 * Ids that it had before.
 */
aliases: Array<string>, first_seen: string | null, last_seen: string | null, 
/**
 * The run that found it, and the number of the test in it.
 */
run: string | null, test: number, last_run: string | null, 
/**
 * The number of runs and of tests that showed it.
 */
seen_in: number, tests: number, };

/**
 * What became of a failure.
 */
export type FailureStatus = "new" | "confirmed" | "flaky" | "accepted" | "fixed" | "allowed";

export type FailureSummary = { id: string, model: string, 
/**
 * `D001`, `D002` or `D003`.
 */
code: string, title: string, observed: string, 
/**
 * Steps when it was first seen, and now.
 */
from: number, to: number, 
/**
 * That it took to shrink it.
 */
runs: number, confirmed: [number, number] | null, flaky: boolean, status: FailureStatus, 
/**
 * The run in which it did not fail any more.
 */
fixed_in: string | null, 
/**
 * The run in which the system did it again, and a changed model allowed it.
 */
allowed_in: string | null, 
/**
 * Why a person accepted it.
 */
accepted: string | null, 
/**
 * Ids that it had before.
 */
aliases: Array<string>, first_seen: string | null, last_seen: string | null, 
/**
 * The run that found it, and the number of the test in it.
 */
run: string | null, test: number, last_run: string | null, 
/**
 * The number of runs and of tests that showed it.
 */
seen_in: number, tests: number, };

export type GenerateRequest = { model: string, cover?: string | null, only?: GoalRef | null, 
/**
 * After which no further goal is begun.
 */
seconds?: number | null, };

/**
 * What became of the goals.
 */
export type GenerateResult = { goals: Array<GoalView>, };

/**
 * A stimulus with its values, by names.
 */
export type Given = { 
/**
 * With or without the mark.
 */
label: string, values: Values, };

/**
 * One goal: `switch` or `location`, by number.
 */
export type GoalRef = { kind: "switch" | "location", id: number, };

export type GoalView = { 
/**
 * `switch Open ──?close──► Closing (door.aml:14)`, for people.
 */
goal: string, 
/**
 * What its test is called, with the names of the model text.
 */
name: string, 
/**
 * `location`, `switch`, ...
 */
kind: string, 
/**
 * The number of the location, or of the switch that it is about.
 */
id: number | null, 
/**
 * `covered`, `unreachable` or `unknown`.
 */
verdict: "covered" | "unreachable" | "unknown", reason: string | null, solver_calls: number, seconds: number, test: TraceView | null, };

export type GoalsRunRequest = { model: string, connection?: ConnectionView | null, };

/**
 * What a job found out, by its kind.
 */
export type JobResult = ReplayResult | ShrinkResult | GenerateResult;

export type JobState = "running" | "finished" | "error" | "stopped";

/**
 * A job as the page sees it.
 */
export type JobView = { job: string, kind: "replay" | "shrink" | "generate", state: JobState, shrinking_progress: Array<ProgressPoint>, done: number, total: number | null, message: string | null, result: JobResult | null, };

/**
 * Where a walk was kept.
 */
export type KeptWalk = { 
/**
 * A suite, below the project's folder.
 */
file: string, 
/**
 * How many tests it has now.
 */
tests: number, command: string, };

export type LabelView = { name: string, 
/**
 * `stimulus`, `response` or `internal`.
 */
kind: "stimulus" | "response" | "internal", parameters: Array<ParameterView>, };

/**
 * What ends the run at the latest.
 */
export type Limits = { tests: number | null, seconds: number | null, };

/**
 * One batch for one who watches.
 */
export type Live = { run: string, state: RunState, tests: number, steps: number, steps_per_second: number, 
/**
 * Since the run began.
 */
seconds: number, 
/**
 * Waits that ended in silence.
 */
silences: number, limits: Limits, 
/**
 * What the run waits for before its first step.
 */
waiting: Waiting | null, 
/**
 * Who carries out the tests, where several do.
 */
workers: Array<WorkerView>, 
/**
 * The test under way and the number of its steps.
 */
test: number, step: number, 
/**
 * Those that have changed since the last batch, with their new counts.
 */
switch_counts: Array<[number, number]>, location_counts: Array<[number, number]>, current: Current | null, coverage: CoverageView, 
/**
 * New points.
 */
trend: Array<TrendPoint>, recent: Array<RecentStep>, 
/**
 * New ones.
 */
failures: Array<FailureSummary>, message: string | null, };

export type LocationView = { id: number, name: string, process: number, initial: boolean, 
/**
 * Whether the model text gives it a name; others are called by what led there.
 */
named: boolean, file: string | null, line: number | null, };

/**
 * Something that can happen next.
 */
export type MenuEntry = { kind: StepKind, label: string, 
/**
 * With the first values that are suggested.
 */
text: string, parameters: Array<Parameter>, };

/**
 * A line of the model that says so.
 */
export type ModelLine = { file: string, line: number, 
/**
 * `Open ──?close──► Closing`.
 */
text: string, };

export type ModelName = { 
/**
 * Relative to the project's folder.
 */
path: string, name: string, };

/**
 * A model with errors has its text and its diagnostics, and the graph of its last text without errors, if that is
 * known.
 */
export type ModelView = { name: string, path: string, hash: string, sources: Array<SourceView>, 
/**
 * By number.
 */
processes: Array<string>, locations: Array<LocationView>, switches: Array<SwitchView>, labels: Array<LabelView>, variables: Array<VariableView>, diagnostics: Array<DiagnosticView>, 
/**
 * The text has errors: the graph is that of an earlier text, or empty.
 */
stale?: boolean, };

export type Parameter = { name: string, type: string, 
/**
 * The suggestions of the same position belong together: with them the step is allowed. Null
 * where the parameter stays unset.
 */
suggestions: Json[], };

export type ParameterView = { name: string, type: string, };

export type ProjectView = { name: string, 
/**
 * Of ioco.
 */
version: string, models: Array<ModelName>, 
/**
 * The path of the model that is shown first.
 */
model: string, connection: ConnectionView | null, strategies: Array<string>, strategy: string, shrinkers: Array<string>, settings: SettingsView, 
/**
 * What an empty field means.
 */
defaults: DefaultsView, };

/**
 * The shortest trace known after so many runs.
 */
export type ProgressPoint = { run: number, length: number, };

export type RecentStep = { number: number, kind: StepKind, text: string, };

/**
 * The body of a call that is refused.
 */
export type Refused = { 
/**
 * What is wrong.
 */
error: string, 
/**
 * What to do about it.
 */
hint: string, };

export type ReplayRequest = { times?: number | null, 
/**
 * Systems that run it side by side.
 */
jobs?: number | null, connection?: ConnectionView | null, };

/**
 * What running a failure again said.
 */
export type ReplayResult = { verdict: "fixed" | "still-failing" | "different" | "flaky", failed: number, runs: number, 
/**
 * As the terminal says it.
 */
text: string, trace: TraceView | null, };

/**
 * A requirement that the model cites, and how often a run has shown it.
 */
export type RequirementView = { id: string, text: string, 
/**
 * `door.aml:14`; empty where the model has no text.
 */
place: string, 
/**
 * Steps whose switch is one of its own.
 */
steps: number, };

export type RunDetail = { 
/**
 * Switches and locations by number, with how often they were taken and entered; those never
 * reached are left out.
 */
switch_counts: Array<[number, number]>, location_counts: Array<[number, number]>, trend: Array<TrendPoint>, failure_ids: Array<string>, 
/**
 * Failing ones first.
 */
tests_listed: Array<TestRow>, 
/**
 * What the model cites, in its order.
 */
requirements: Array<RequirementView>, 
/**
 * What was asked for, where it can be asked for again.
 */
request?: RunRequest, run: string, model: string, model_hash: string, 
/**
 * `2026-01-31T12:00:00Z`.
 */
started: string, state: RunState, 
/**
 * Of a run that goes on, what its tests say so far.
 */
verdict: "fail" | "flaky" | "error" | "stopped" | "accepted" | "inconclusive" | "pass", seed: Whole, strategy: string, tests: number, steps: number, 
/**
 * Alike ones counted once.
 */
failures: number, coverage: CoverageView, seconds: number, message: string | null, 
/**
 * What silence cost; not known where others carried out the tests.
 */
silence: SilenceView | null, 
/**
 * Milliseconds that a run which goes on waits before each step.
 */
delay_ms: number, };

/**
 * What a person chose for a run; ioco.toml says the rest.
 */
export type RunRequest = { model: string, connection?: ConnectionView | null, strategy?: string | null, seed?: Whole | null, tests?: number | null, steps?: number | null, time?: string | null, coverage?: number | null, failures?: number | null, timeout?: string | null, 
/**
 * Systems that are tested side by side.
 */
jobs?: number | null, delay_ms?: number | null, paused?: boolean, prefix?: Array<Given>, };

export type RunState = "running" | "paused" | "finished" | "stopped" | "error";

export type RunSummary = { run: string, model: string, model_hash: string, 
/**
 * `2026-01-31T12:00:00Z`.
 */
started: string, state: RunState, 
/**
 * Of a run that goes on, what its tests say so far.
 */
verdict: "fail" | "flaky" | "error" | "stopped" | "accepted" | "inconclusive" | "pass", seed: Whole, strategy: string, tests: number, steps: number, 
/**
 * Alike ones counted once.
 */
failures: number, coverage: CoverageView, seconds: number, message: string | null, 
/**
 * What silence cost; not known where others carried out the tests.
 */
silence: SilenceView | null, 
/**
 * Milliseconds that a run which goes on waits before each step.
 */
delay_ms: number, };

export type SaveRequest = { model: string, file: string, text: string, 
/**
 * The text that the editor began with: another one on disk is not overwritten.
 */
before: string, };

export type ScriptView = { 
/**
 * A name for the file.
 */
name: string, text: string, };

/**
 * What ioco.toml says; times as people write them.
 */
export type SettingsView = { seed: Whole | null, tests: number | null, steps: number | null, time: string | null, coverage: number | null, failures: number | null, timeout: string | null, };

export type ShrinkRequest = { shrinker?: string | null, runs?: number | null, 
/**
 * Systems that try shorter traces side by side.
 */
jobs?: number | null, connection?: ConnectionView | null, };

/**
 * A failure that was shrunk again.
 */
export type ShrinkResult = { 
/**
 * Its id now.
 */
failure: string, 
/**
 * Steps before and now.
 */
from: number, to: number, runs: number, text: string, };

/**
 * What silence cost in a run.
 */
export type SilenceView = { 
/**
 * Of waiting that ended in silence.
 */
seconds: number, 
/**
 * Silences that were observed.
 */
observed: number, 
/**
 * Those in a situation without one before.
 */
new: number, };

export type SourceView = { file: string, text: string, };

export type StateView = { locations: Array<number>, text: string, };

export type StepKind = "stimulus" | "response" | "silence" | "deviation";

export type StepView = { 
/**
 * Counted from one.
 */
number: number, kind: StepKind, 
/**
 * `?open(code=17)`, `silence`.
 */
text: string, 
/**
 * Without values: `?open`.
 */
label: string, values: Values, 
/**
 * Nanoseconds since the system was ready.
 */
at: number | null, 
/**
 * Nanoseconds since the step before it.
 */
took: number | null, 
/**
 * After the step; for a deviation those in which it was not allowed.
 */
states: Array<StateView>, more_states: number, changes: Array<Change>, 
/**
 * What the system was allowed to do before this step.
 */
allowed: Array<string>, 
/**
 * The switches that can explain the step, internal ones included.
 */
switches: Array<number>, file: string | null, line: number | null, wire: Array<WireView>, };

export type SwitchView = { id: number, from: number, to: number, 
/**
 * `?open(code)`, `τ`.
 */
label: string, 
/**
 * `stimulus`, `response` or `internal`.
 */
kind: "stimulus" | "response" | "internal", guard: string | null, update: string | null, file: string | null, line: number | null, };

export type TestRow = { number: number, seed: Whole, 
/**
 * What it is for, where that is known.
 */
name?: string, 
/**
 * `pass`, `fail`, `inconclusive` or `error`.
 */
verdict: string, steps: number, seconds: number, 
/**
 * The id of the recorded failure.
 */
failure: string | null, };

/**
 * One test of a run with its steps.
 */
export type TestView = { number: number, seed: Whole, 
/**
 * What it is for, where that is known.
 */
name?: string, verdict: string, 
/**
 * Why it is inconclusive, or which error it was.
 */
reason: string | null, failure: string | null, trace: TraceView, };

/**
 * Nanoseconds of a test, by what they ended with.
 */
export type TimeSpent = { 
/**
 * Waiting for responses that came.
 */
responses: number, 
/**
 * Waiting for silence.
 */
silences: number, 
/**
 * Before stimuli: ioco chose them, looked whether something comes, or slowed down.
 */
stimuli: number, };

export type TraceView = { 
/**
 * Stimuli and responses, a deviating response included; silence does not count.
 */
length: number, steps: Array<StepView>, 
/**
 * Where the time of the test went; `None` where the times of its steps are not known.
 */
time: TimeSpent | null, };

/**
 * What was covered after so many steps.
 */
export type TrendPoint = { steps: number, locations: number, switches: number, data: number, };

export type VariableView = { name: string, type: string, initial: string, process: number | null, };

/**
 * A wait with a limit, before the first step of a run.
 */
export type Waiting = { what: string, 
/**
 * Seconds that it has lasted.
 */
since: number, 
/**
 * Seconds after which the run gives up.
 */
limit: number, };

/**
 * Which model to walk. The system is the project's own: a page names no other one.
 */
export type WalkRequest = { model: string, };

export type WalkState = "none" | "going" | "failed" | "over";

/**
 * What to do next on the system.
 */
export type WalkStepRequest = { "action": "give" } & Given | { "action": "listen" } | { "action": "look" } | { "action": "end" };

export type WalkView = { state: WalkState, model: string, 
/**
 * How the system is reached.
 */
system: string, message: string | null, exploration: Exploration | null, };

/**
 * A step of a walk.
 */
export type WalkedStep = { kind: StepKind, label: string, values: Values, };

/**
 * Why a trace fails.
 */
export type Why = { code: string, title: string, observed: string, explanation: string, allowed: Array<string>, because: Array<string>, 
/**
 * The names of the requirements that it touches.
 */
requirements: Array<string>, model_lines: Array<ModelLine>, };

export type WireView = { 
/**
 * `tester`, `system` or `log`.
 */
from: "tester" | "system" | "log", text: string, at: number, };

/**
 * A test under way.
 */
export type WorkerTest = { 
/**
 * 0 where a failure is confirmed or shrunk.
 */
test: number, steps: number, };

/**
 * A worker: what it has done for this run, and what it does now.
 */
export type WorkerView = { worker: string, tests: number, steps: number, failed: number, now: Array<WorkerTest>, };
