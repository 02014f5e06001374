/**
 * The JSON that the server sends and the html report embeds, under the page's own names. The types
 * are written from those of Rust.
 *
 * Integers beyond 2^53 arrive as `Exact` strings (see `exact.ts`), so that seeds and 64-bit values
 * are shown and sent back unchanged.
 */

import type { RunDetail, RunSummary, SwitchView, WalkedStep } from "./generated";

export type {
  Changes,
  Comparison,
  ConnectionView as Connection,
  CoverageView as Coverage,
  DiagnosticView as Diagnostic,
  Draft,
  DraftDiagnostic,
  Document as Report,
  Exploration,
  FailureDetail,
  FailureStatus,
  FailureSummary,
  GenerateRequest,
  GenerateResult,
  GoalView as Goal,
  JobView as Job,
  Json,
  KeptWalk,
  Live,
  LocationView as Location,
  MenuEntry,
  ModelLine,
  ModelView as Model,
  ProjectView as Project,
  ProgressPoint,
  RecentStep,
  ReplayResult,
  RequirementView as Requirement,
  RunDetail,
  ScriptView as Script,
  RunRequest,
  RunState,
  RunSummary,
  SettingsView as Settings,
  ShrinkResult,
  StateView,
  StepKind,
  StepView,
  SwitchView as Switch,
  TestRow,
  TestView as TestDetail,
  TraceView,
  TrendPoint,
  Values,
  WalkStepRequest as WalkRequestStep,
  WalkView,
  WireView,
  VariableView as Variable,
  Whole,
  Why,
} from "./generated";

export type SwitchKind = SwitchView["kind"];
export type RunVerdict = RunSummary["verdict"];
export type Counts = RunDetail["switch_counts"];
/** A step of a walk as it stands in an address; the server refuses kinds that there are not. */
export type WalkStep = Omit<WalkedStep, "kind"> & { kind: string };
