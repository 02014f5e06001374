/**
 * The JSON that the server sends and the html report embeds.
 *
 * Integers beyond 2^53 arrive as `Exact` strings (see `exact.ts`), so that seeds and 64-bit values
 * are shown and sent back unchanged.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Whole = number | string;
export type Values = Record<string, Json>;

export interface Connection {
  kind: string;
  text: string;
}

export interface Settings {
  seed: Whole | null;
  tests: number | null;
  steps: number | null;
  time: string | null;
  coverage: number | null;
  failures: number | null;
  timeout: string | null;
}

export interface Project {
  name: string;
  version: string;
  models: { path: string; name: string }[];
  model: string;
  connection: Connection | null;
  strategies: string[];
  strategy: string;
  shrinkers: string[];
  settings: Settings;
  /** What an empty field means. */
  defaults: { tests: number; steps: number; failures: number };
}

export type SwitchKind = "stimulus" | "response" | "internal";

export interface Location {
  id: number;
  name: string;
  process: number;
  initial: boolean;
  file: string | null;
  line: number | null;
}

export interface Switch {
  id: number;
  from: number;
  to: number;
  label: string;
  kind: SwitchKind;
  guard: string | null;
  update: string | null;
  file: string | null;
  line: number | null;
}

export interface Diagnostic {
  severity: string;
  code: string;
  message: string;
  hint?: string | null;
  file: string | null;
  line: number | null;
  column: number | null;
}

export interface Variable {
  name: string;
  type: string;
  initial: Json;
  process: number | null;
}

export interface Model {
  name: string;
  path: string;
  hash: string;
  sources: { file: string; text: string }[];
  processes: string[];
  locations: Location[];
  switches: Switch[];
  labels: { name: string; kind: string; parameters: { name: string; type: string }[] }[];
  variables: Variable[];
  diagnostics: Diagnostic[];
}

export interface StateView {
  locations: number[];
  text: string;
}

export type StepKind = "stimulus" | "response" | "silence" | "deviation";

export interface StepView {
  number: number;
  kind: StepKind;
  text: string;
  label: string;
  values: Values;
  at: number | null;
  states: StateView[];
  more_states: number;
  changes: { variable: string; from: Json; to: Json }[];
  allowed: string[];
  switches: number[];
  file: string | null;
  line: number | null;
  wire: { from: "tester" | "system"; text: string; at: number | null }[];
}

export interface TraceView {
  length: number;
  steps: StepView[];
}

export interface FailureSummary {
  id: string;
  model: string;
  code: string;
  title: string;
  observed: string;
  from: number;
  to: number;
  runs: number;
  confirmed: [number, number] | null;
  flaky: boolean;
  status: FailureStatus;
  fixed_in: string | null;
  accepted: string | null;
  aliases: string[];
  first_seen: string | null;
  last_seen: string | null;
  run: string | null;
  test: number;
  last_run: string | null;
  seen_in: number;
  tests: number;
}

export type FailureStatus = "new" | "confirmed" | "flaky" | "accepted" | "fixed";

export interface ModelLine {
  file: string;
  line: number;
  text: string;
}

/** Why a trace fails. */
export interface Why {
  code: string;
  title: string;
  observed: string;
  explanation: string;
  allowed: string[];
  because: string[];
  model_lines: ModelLine[];
}

export interface RacePoint {
  run: number;
  length: number;
}

export interface FailureDetail extends FailureSummary {
  explanation: string;
  allowed: string[];
  because: string[];
  model_lines: ModelLine[];
  connection: string;
  shrunk: TraceView | null;
  original: TraceView;
  /** Where there is a shrunk trace, which may deviate elsewhere. */
  original_why: Why | null;
  race: RacePoint[];
  code_text: string;
}

export interface Coverage {
  locations: [number, number];
  switches: [number, number];
  data: [number, number];
}

export interface TrendPoint {
  steps: number;
  locations: number;
  switches: number;
  data: number;
}

export type RunState = "running" | "paused" | "finished" | "stopped" | "error";

export type RunVerdict = "fail" | "flaky" | "error" | "stopped" | "accepted" | "inconclusive" | "pass";

export interface RunSummary {
  run: string;
  model: string;
  model_hash: string;
  started: string;
  state: RunState;
  verdict: RunVerdict;
  seed: Whole;
  strategy: string;
  tests: number;
  steps: number;
  failures: number;
  coverage: Coverage;
  seconds: number;
  message: string | null;
  /** Milliseconds before each step, while the run goes on. */
  delay_ms: number;
}

export interface TestRow {
  number: number;
  seed: Whole;
  /** What it is for: a goal, or an earlier failure. */
  name?: string;
  verdict: string;
  steps: number;
  seconds: number;
  failure: string | null;
}

export type Counts = [number, number][];

export interface RunDetail extends RunSummary {
  switch_counts: Counts;
  location_counts: Counts;
  trend: TrendPoint[];
  failure_ids: string[];
  tests_listed: TestRow[];
}

export interface RecentStep {
  number: number;
  kind: StepKind;
  text: string;
}

export interface Live {
  run: string;
  state: RunState;
  tests: number;
  steps: number;
  steps_per_second: number;
  test: number;
  step: number;
  switch_counts: Counts;
  location_counts: Counts;
  current: {
    states: StateView[];
    allowed: string[];
    stimuli: string[];
    quiescent: boolean;
  } | null;
  coverage: Coverage;
  trend: TrendPoint[];
  recent: RecentStep[];
  failures: FailureSummary[];
  message: string | null;
}

export interface ReplayResult {
  verdict: "fixed" | "still-failing" | "different" | "flaky";
  failed: number;
  runs: number;
  text: string;
  trace: TraceView | null;
}

export interface ShrinkResult {
  failure: string;
  from: number;
  to: number;
  runs: number;
  text: string;
}

export interface GenerateResult {
  goals: Goal[];
}

export interface Job {
  job: string;
  kind: "replay" | "shrink" | "generate";
  state: "running" | "finished" | "error" | "stopped";
  race: RacePoint[];
  done: number;
  total: number | null;
  message: string | null;
  result: ReplayResult | ShrinkResult | GenerateResult | null;
}

export interface Goal {
  goal: string;
  kind: string;
  id: number | null;
  verdict: "covered" | "unreachable" | "unknown";
  reason: string | null;
  solver_calls: number;
  seconds: number;
  test: TraceView | null;
}

export interface TestDetail {
  number: number;
  seed: Whole;
  name?: string;
  verdict: string;
  failure: string | null;
  trace: TraceView;
}

export interface Comparison {
  a: RunSummary;
  b: RunSummary;
  gained: string[];
  lost: string[];
  new_failures: FailureSummary[];
  fixed_failures: FailureSummary[];
  same_failures: FailureSummary[];
}

export interface WalkStep {
  kind: string;
  label: string;
  values: Values;
}

export interface MenuEntry {
  kind: "stimulus" | "response" | "silence";
  label: string;
  text: string;
  /** Suggestions of the same position belong together; null leaves the parameter unset. */
  parameters: { name: string; type: string; suggestions: Json[] }[];
}

export interface Exploration {
  trace: TraceView;
  states: StateView[];
  more_states?: number;
  menu: MenuEntry[];
  problem: string | null;
}

/** What a person chose for a run. Only `model` has to be there. */
export interface RunRequest {
  model: string;
  connection?: Connection | null;
  strategy?: string;
  seed?: Whole | null;
  tests?: number | null;
  steps?: number | null;
  time?: string | null;
  coverage?: number | null;
  failures?: number | null;
  timeout?: string | null;
  delay_ms?: number;
  paused?: boolean;
  prefix?: { label: string; values: Values }[];
}

export interface GenerateRequest {
  model: string;
  cover: string;
  only: { kind: "switch" | "location"; id: number } | null;
  seconds: number;
}

/** What an html report carries. */
export interface Report {
  project: Project;
  model: Model;
  run: RunDetail;
  failures: FailureDetail[];
  tests: TestDetail[];
  runs: RunSummary[];
  goals: Goal[];
}
