/** A trace over time: how long each step was waited for, and what was said between. */

import type { StepView, TraceView, WireView } from "./contract";

export type Spent = "stimuli" | "responses" | "silences";

/** A part of the time line, in shares of the whole. */
export interface Part {
  from: number;
  to: number;
  spent: Spent;
  /** Index of the step that ends it; of the last one, where several are drawn as one. */
  step: number;
  deviates: boolean;
}

export interface Timeline {
  /** Nanoseconds. */
  total: number;
  parts: Part[];
  /** Where lines of the system's log stand, in shares of the whole. */
  log: number[];
}

/** What the time before a step was spent on. */
export function spentOn(step: StepView): Spent {
  if (step.kind === "stimulus") return "stimuli";
  if (step.kind === "silence") return "silences";
  if (step.kind === "deviation" && !step.text.startsWith("!")) return "silences";
  return "responses";
}

/** More parts than this cannot be told apart on a screen. */
const FINEST = 500;

/** Null where the times are not known, or no time passed. */
export function timeline(trace: TraceView): Timeline | null {
  if (!trace.time) return null;
  const said = trace.steps.flatMap((step) => step.wire);
  const total = Math.max(0, ...trace.steps.map((step) => step.at ?? 0), ...said.map((line) => line.at));
  if (total === 0) return null;
  const parts: Part[] = [];
  let reached = 0;
  trace.steps.forEach((step, index) => {
    const [from, to] = [reached, reached + (step.took ?? 0) / total];
    reached = to;
    const part: Part = { from, to, spent: spentOn(step), step: index, deviates: step.kind === "deviation" };
    const last = parts.at(-1);
    // Neighbours too small to be seen are one; it looks like the longer of them.
    if (last && !part.deviates && to - last.from < 1 / FINEST) {
      const longer = to - from > last.to - last.from ? part.spent : last.spent;
      parts[parts.length - 1] = { ...part, from: last.from, spent: longer };
    } else parts.push(part);
  });
  const places = said.filter((line) => line.from === "log").map((line) => line.at / total);
  return { total, parts, log: thinned(places) };
}

function thinned(places: number[]): number[] {
  const kept: number[] = [];
  for (const place of places.sort((one, other) => one - other)) {
    const last = kept.at(-1);
    if (last === undefined || place - last >= 1 / FINEST) kept.push(place);
  }
  return kept;
}

/** A line that crossed the border or stands in the log, and the step that it stands at. */
export interface Line extends WireView {
  /** Index of the step. */
  step: number;
}

/** Everything that was said in a test, in the order of time. */
export function lines(trace: TraceView): Line[] {
  const all = trace.steps.flatMap((step, index) => step.wire.map((line) => ({ ...line, step: index })));
  return all.sort((one, other) => one.at - other.at);
}

/** Who is listened to: everybody, or one side. */
export type Who = "all" | Line["from"];

/** The lines of one side that contain a text; upper and lower case are alike. */
export function search(all: Line[], who: Who, text: string): Line[] {
  const wanted = text.trim().toLowerCase();
  return all.filter((line) => (who === "all" || line.from === who) && line.text.toLowerCase().includes(wanted));
}
