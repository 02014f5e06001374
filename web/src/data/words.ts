/** Numbers, times and verdicts as a person reads them. */

import type { StepView } from "./contract";

export function count(number: number, one: string, many = one + "s"): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** A thin space between thousands. */
export function grouped(number: number): string {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
}

export function percent(covered: number, total: number): string {
  if (total === 0) return "–";
  const part = (100 * covered) / total;
  // Nothing is called complete that is not.
  if (covered < total && part > 99.5) return "99 %";
  return `${Math.round(part)} %`;
}

export function seconds(value: number): string {
  if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(value % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A moment of a trace, given in nanoseconds. */
export function moment(nanoseconds: number): string {
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(0)} µs`;
  if (nanoseconds < 1e9) return `${(nanoseconds / 1e6).toFixed(nanoseconds < 1e7 ? 2 : 1)} ms`;
  return `${(nanoseconds / 1e9).toFixed(3)} s`;
}

/** Date and time in the person's own zone. */
export function when(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const two = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export interface Sign {
  sign: string;
  tone: "good" | "bad" | "warn" | "plain";
}

/** A run in one word: what it says, or that it goes on. */
export function verdictOf(run: { state: string; verdict: string }): string {
  return run.state === "running" || run.state === "paused" ? run.state : run.verdict;
}

export function isOpen(failure: { status: string }): boolean {
  return failure.status !== "accepted" && failure.status !== "fixed" && failure.status !== "allowed";
}

/** What became of a failure. */
export function statusText(failure: { status: string; fixed_in: string | null; allowed_in: string | null }): string {
  if (failure.fixed_in !== null) return `fixed in run ${failure.fixed_in}`;
  if (failure.allowed_in !== null) return `allowed by the model since run ${failure.allowed_in}`;
  return failure.status;
}

/** What a trace consists of: its rows in the chart, and how they are counted elsewhere. */
export function lengthText(trace: { length: number; steps: StepView[] }): string {
  const silences = trace.steps.filter((step) => step.kind === "silence").length;
  const heard = count(trace.length, "stimulus or response", "stimuli and responses");
  return silences === 0 ? heard : `${heard}, ${count(silences, "silence")}`;
}

/** The steps of a test as its run counts them: the deviation comes after the last step that the model allows. */
export function stepsText(steps: StepView[]): string {
  const allowed = steps.filter((step) => step.kind !== "deviation").length;
  const text = count(allowed, "step");
  return allowed === steps.length ? text : `${text} and the deviation`;
}

/** Every verdict and state has a sign of its own: colour only repeats it. */
export function signOf(word: string): Sign {
  switch (word) {
    case "pass": case "passed": case "covered": case "fixed": case "allowed":
      return { sign: "✓", tone: "good" };
    case "finished":
      return { sign: "✓", tone: "plain" };
    case "fail": case "failed": case "still-failing": case "new": case "confirmed":
      return { sign: "✗", tone: "bad" };
    case "error":
      return { sign: "!", tone: "bad" };
    case "accepted":
      return { sign: "○", tone: "warn" };
    case "unreachable":
      return { sign: "⊘", tone: "plain" };
    case "unknown": case "inconclusive": case "different": case "flaky":
      return { sign: "?", tone: "warn" };
    case "running":
      return { sign: "●", tone: "plain" };
    case "paused":
      return { sign: "❚❚", tone: "warn" };
    case "stopped":
      return { sign: "■", tone: "plain" };
    default:
      return { sign: "·", tone: "plain" };
  }
}

/** Who acts in a step: what the chart draws an arrow from. */
export function actor(step: StepView): "tester" | "system" | "nobody" {
  if (step.kind === "stimulus") return "tester";
  if (step.kind === "silence") return "nobody";
  if (step.kind === "deviation" && !step.text.startsWith("!")) return "nobody";
  return "system";
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}
