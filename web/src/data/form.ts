/** The form of a run: what was typed, checked, and turned into a request. */

import type { Project, RunRequest, WalkStep } from "./contract";
import { showWhole, whole } from "./exact";

export interface Form {
  /** "" is the project's own connection. */
  connection: string;
  address: string;
  strategy: string;
  seed: string;
  tests: string;
  steps: string;
  time: string;
  coverage: string;
  failures: string;
  timeout: string;
  /** Systems that are tested side by side. */
  jobs: string;
  delay: number;
  paused: boolean;
}

export function emptyForm(project: Project): Form {
  const { settings } = project;
  const text = (value: number | string | null) => showWhole(value);
  return {
    connection: project.connection ? "" : "simulated",
    address: "",
    strategy: project.strategy,
    seed: text(settings.seed),
    tests: text(settings.tests),
    steps: text(settings.steps),
    time: settings.time ?? "",
    coverage: text(settings.coverage),
    failures: text(settings.failures),
    timeout: settings.timeout ?? "",
    jobs: "",
    delay: 0,
    paused: false,
  };
}

export type Mistakes = Partial<Record<keyof Form, string>>;

/** What is wrong with the form, field by field. */
export function mistakes(form: Form): Mistakes {
  const found: Mistakes = {};
  const wholeNumber = (field: "seed" | "tests" | "steps" | "failures", least: number) => {
    const typed = form[field].trim();
    if (typed === "") return;
    if (!/^\d+$/.test(typed) || Number(typed) < least) found[field] = `a whole number from ${least}`;
  };
  wholeNumber("seed", 0);
  wholeNumber("tests", 1);
  wholeNumber("steps", 1);
  wholeNumber("failures", 0);
  if (form.jobs.trim() !== "" && jobsOf(form.jobs) === null) found.jobs = JOBS_HINT;
  const share = form.coverage.trim();
  if (share !== "" && !(Number(share) > 0 && Number(share) <= 100)) found.coverage = "a percentage up to 100";
  for (const field of ["time", "timeout"] as const) {
    if (form[field].trim() !== "" && !/^\d+(\.\d+)?\s*(ms|s|m|h)$/.test(form[field].trim())) found[field] = "such as 500ms, 30s, 5m";
  }
  if ((form.connection === "process" || form.connection === "tcp") && form.address.trim() === "") {
    found.address = form.connection === "tcp" ? "host:port" : "the command that starts the system";
  }
  return found;
}

const MAX_JOBS = 256;
export const JOBS_HINT = `a whole number from 1 to ${MAX_JOBS}`;

/** A number of jobs; nothing typed is one, and `null` is none. */
export function jobsOf(text: string): number | null {
  const typed = text.trim();
  if (typed === "") return 1;
  return /^\d+$/.test(typed) && Number(typed) >= 1 && Number(typed) <= MAX_JOBS ? Number(typed) : null;
}

/** Empty fields are left to the server, which knows the project's settings. */
export function request(form: Form, model: string, prefix: WalkStep[]): RunRequest {
  const number = (text: string) => (text.trim() === "" ? undefined : Number(text));
  const text = (text: string) => (text.trim() === "" ? undefined : text.trim());
  const made: RunRequest = {
    model,
    strategy: form.strategy,
    seed: form.seed.trim() === "" ? undefined : whole(form.seed),
    tests: number(form.tests),
    steps: number(form.steps),
    time: text(form.time),
    coverage: number(form.coverage),
    failures: number(form.failures),
    timeout: text(form.timeout),
  };
  if (form.connection !== "") made.connection = { kind: form.connection, text: form.address.trim() };
  const jobs = jobsOf(form.jobs) ?? 1;
  // With several jobs there is no next step to wait for.
  if (jobs > 1) made.jobs = jobs;
  else {
    if (form.delay > 0) made.delay_ms = form.delay;
    if (form.paused) made.paused = true;
  }
  const stimuli = prefix.filter((step) => step.kind === "stimulus");
  if (stimuli.length > 0) made.prefix = stimuli.map(({ label, values }) => ({ label, values }));
  return made;
}

/** The delays that the slider goes through, in milliseconds: the fastest is on the right. */
export const DELAYS = [2000, 1000, 500, 250, 100, 50, 20, 5, 0];

/** The place on the slider of a delay, which another program may have chosen. */
export function delayPlace(delay: number): number {
  const place = DELAYS.findIndex((known) => known <= delay);
  return place < 0 ? DELAYS.length - 1 : place;
}

/** What an empty field means, for its placeholder. */
export function placeholders(form: Form, project: Project): Record<"tests" | "steps" | "time" | "coverage" | "failures" | "timeout", string> {
  const { tests, steps, failures } = project.defaults;
  // A limit on time or coverage takes the place of the usual number of tests.
  const limited = form.time.trim() !== "" || form.coverage.trim() !== "";
  return {
    tests: limited ? "no limit" : String(tests),
    steps: String(steps),
    time: "no limit",
    coverage: "no limit",
    failures: String(failures),
    timeout: "as the model",
  };
}

export function delayText(delay: number): string {
  return delay === 0 ? "full speed" : delay < 1000 ? `${delay} ms a step` : `${delay / 1000} s a step`;
}
