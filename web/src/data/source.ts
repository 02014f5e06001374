/**
 * Where the page gets its data: a server that answers, or the report embedded in the page.
 * Views know only this interface; what a report cannot do is not offered (`live` is false).
 */

import type {
  Changes, Comparison, Draft, Exploration, FailureDetail, FailureSummary, GenerateRequest, Goal, Job, KeptWalk, Live, Model,
  Project, Report, RunDetail, RunRequest, RunSummary, Script, TestDetail, WalkRequestStep, WalkStep, WalkView,
} from "./contract";
import { parseExact, stringifyExact } from "./exact";

/** Something went wrong; `hint` says what to do about it. */
export class PageError extends Error {
  readonly hint: string;
  readonly status: number;
  constructor(message: string, hint: string, status = 0) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

export function pageError(error: unknown): PageError {
  if (error instanceof PageError) return error;
  return new PageError(error instanceof Error ? error.message : String(error), "");
}

export type Close = () => void;

export interface Source {
  readonly live: boolean;
  /** The run that a report is of. */
  readonly home: string | null;
  /** Whether there is more to see of a run, or of one of its tests. */
  holds(run: string, test?: number): boolean;
  project(): Promise<Project>;
  model(path: string): Promise<Model>;
  /** What is wrong with a text that is not saved; with a place, what can be typed there. */
  check(model: string, file: string, text: string, at: number | null): Promise<Draft>;
  /** Writes a file of the model, if it is still as it was. */
  save(model: string, file: string, text: string, before: string): Promise<Model>;
  /** Says when files of the model or of the system change. */
  changes(path: string, heard: (changes: Changes) => void): Close;
  runs(model: string | null): Promise<RunSummary[]>;
  run(id: string): Promise<RunDetail>;
  test(run: string, number: number): Promise<TestDetail>;
  failures(model: string | null): Promise<FailureSummary[]>;
  failure(id: string): Promise<FailureDetail>;
  goals(model: string): Promise<Goal[]>;
  compare(a: string, b: string): Promise<Comparison>;
  start(request: RunRequest): Promise<RunSummary>;
  control(run: string, action: string, delay?: number): Promise<RunSummary>;
  follow(run: string, heard: (live: Live) => void, lost: (error: PageError) => void): Close;
  accept(failure: string, reason: string | null): Promise<FailureDetail>;
  replay(failure: string, times: number, jobs: number): Promise<Job>;
  shrink(failure: string, shrinker: string | null, runs: number | null, jobs: number): Promise<Job>;
  generate(request: GenerateRequest): Promise<Job>;
  runGoals(model: string): Promise<RunSummary>;
  explore(model: string, seed: number, trace: WalkStep[]): Promise<Exploration>;
  /** A failure as a script that needs no ioco. */
  script(failure: string, form: string): Promise<Script>;
  /** The walk by hand on the system, if there is one. */
  walk(): Promise<WalkView>;
  beginWalk(model: string): Promise<WalkView>;
  stepWalk(request: WalkRequestStep): Promise<WalkView>;
  keepWalk(): Promise<KeptWalk>;
  followJob(job: string, heard: (job: Job) => void, lost: (error: PageError) => void): Close;
  stopJob(job: string): Promise<void>;
}

/** Talks to `ioco serve`. */
export class Server implements Source {
  readonly live = true;
  readonly home = null;
  readonly #token: string;
  readonly #base: string;

  constructor(token: string, base = "") {
    this.#token = token;
    this.#base = base;
  }

  async #call<T>(path: string, body?: unknown): Promise<T> {
    const request: RequestInit = { headers: { "X-Ioco-Token": this.#token } };
    if (body !== undefined) {
      request.method = "POST";
      request.headers = { ...request.headers, "Content-Type": "application/json" };
      request.body = stringifyExact(body);
    }
    let response: Response;
    try {
      response = await fetch(this.#base + path, request);
    } catch {
      throw new PageError("the server does not answer", "is `ioco serve` still running in the terminal?");
    }
    const text = await response.text();
    if (!response.ok) throw refusal(response.status, text);
    if (text === "") return undefined as T;
    return parseExact(text) as T;
  }

  #listen<T>(
    path: string,
    heard: (value: T) => boolean,
    check: () => Promise<T>,
    lost: (error: PageError) => void,
  ): Close {
    const separator = path.includes("?") ? "&" : "?";
    let silent = 0;
    const events = new EventSource(`${this.#base}${path}${separator}token=${encodeURIComponent(this.#token)}`);
    events.onmessage = (event: MessageEvent<string>) => {
      silent = 0;
      if (heard(parseExact(event.data) as T)) events.close();
    };
    events.onerror = () => {
      if (events.readyState !== EventSource.CLOSED) {
        // The browser connects again by itself; a server that is gone stays gone.
        silent += 1;
        if (silent < 4) return;
        events.close();
      }
      check().then(heard, (error: unknown) => lost(pageError(error)));
    };
    return () => events.close();
  }

  holds = () => true;
  project = () => this.#call<Project>("/api/project");
  model = (path: string) => this.#call<Model>(`/api/model?path=${encodeURIComponent(path)}`);
  check = (model: string, file: string, text: string, at: number | null) =>
    this.#call<Draft>("/api/model/check", { model, file, text, at });
  save = (model: string, file: string, text: string, before: string) =>
    this.#call<Model>("/api/model/save", { model, file, text, before });
  changes = (path: string, heard: (changes: Changes) => void): Close =>
    this.#listen<Changes>(
      `/api/model/events?path=${encodeURIComponent(path)}`,
      (changes) => {
        heard(changes);
        return false;
      },
      () => Promise.reject(new PageError("", "")),
      // A server that is gone is noticed by the next call.
      () => {},
    );
  runs = (model: string | null) => this.#call<RunSummary[]>("/api/runs" + of(model));
  run = (id: string) => this.#call<RunDetail>(`/api/runs/${encodeURIComponent(id)}`);
  test = (run: string, number: number) =>
    this.#call<TestDetail>(`/api/runs/${encodeURIComponent(run)}/tests/${number}`);
  failures = (model: string | null) => this.#call<FailureSummary[]>("/api/failures" + of(model));
  failure = (id: string) => this.#call<FailureDetail>(`/api/failures/${encodeURIComponent(id)}`);
  goals = (model: string) => this.#call<Goal[]>("/api/goals" + of(model));
  compare = (a: string, b: string) =>
    this.#call<Comparison>(`/api/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
  start = (request: RunRequest) => this.#call<RunSummary>("/api/runs", request);
  control = (run: string, action: string, delay?: number) =>
    this.#call<RunSummary>(`/api/runs/${encodeURIComponent(run)}/control`, {
      action,
      ...(delay === undefined ? {} : { delay_ms: delay }),
    });
  accept = (failure: string, reason: string | null) =>
    this.#call<FailureDetail>(`/api/failures/${encodeURIComponent(failure)}/accept`, { reason });
  replay = (failure: string, times: number, jobs: number) =>
    this.#call<Job>(`/api/failures/${encodeURIComponent(failure)}/replay`, { times, jobs });
  shrink = (failure: string, shrinker: string | null, runs: number | null, jobs: number) =>
    this.#call<Job>(`/api/failures/${encodeURIComponent(failure)}/shrink`, {
      jobs,
      ...(shrinker === null ? {} : { shrinker }),
      ...(runs === null ? {} : { runs }),
    });
  generate = (request: GenerateRequest) => this.#call<Job>("/api/generate", request);
  runGoals = (model: string) => this.#call<RunSummary>("/api/goals/run", { model });
  explore = (model: string, seed: number, trace: WalkStep[]) =>
    this.#call<Exploration>("/api/explore", { model, seed, trace });
  script = (failure: string, form: string) =>
    this.#call<Script>(`/api/failures/${encodeURIComponent(failure)}/script?as=${encodeURIComponent(form)}`);
  walk = () => this.#call<WalkView>("/api/walk");
  beginWalk = (model: string) => this.#call<WalkView>("/api/walk", { model });
  stepWalk = (request: WalkRequestStep) => this.#call<WalkView>("/api/walk/step", request);
  keepWalk = () => this.#call<KeptWalk>("/api/walk/keep", {});
  stopJob = async (job: string) => {
    await this.#call<unknown>(`/api/jobs/${encodeURIComponent(job)}/stop`, {});
  };

  follow(run: string, heard: (live: Live) => void, lost: (error: PageError) => void): Close {
    const path = `/api/runs/${encodeURIComponent(run)}/events`;
    return this.#listen<Live>(
      path,
      (live) => {
        heard(live);
        return ended(live.state);
      },
      () => Promise.reject(new PageError("the run cannot be followed: the server does not answer", "is `ioco serve` still running in the terminal?")),
      lost,
    );
  }

  followJob(job: string, heard: (job: Job) => void, lost: (error: PageError) => void): Close {
    const path = `/api/jobs/${encodeURIComponent(job)}`;
    return this.#listen<Job>(
      `${path}/events`,
      (value) => {
        heard(value);
        return value.state !== "running";
      },
      () => this.#call<Job>(path),
      lost,
    );
  }
}

export function ended(state: string): boolean {
  return state === "finished" || state === "stopped" || state === "error";
}

function of(model: string | null): string {
  return model === null ? "" : `?model=${encodeURIComponent(model)}`;
}

/** The message of a refused call; a body that is not ours still gives a readable one. */
export function refusal(status: number, text: string): PageError {
  try {
    const body = JSON.parse(text) as { error?: unknown; hint?: unknown };
    if (typeof body.error === "string") {
      return new PageError(body.error, typeof body.hint === "string" ? body.hint : "", status);
    }
  } catch {
    // Not JSON: fall through to the status.
  }
  if (status === 401) {
    return new PageError(
      "this page has no valid token",
      "open the address that `ioco serve` printed in the terminal; it ends in ?token=…",
      401,
    );
  }
  return new PageError(`the server answered ${status}`, text.slice(0, 200), status);
}

/** Reads the data that `ioco report --format html` put into the page. */
export class Embedded implements Source {
  readonly live = false;
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  get home(): string {
    return this.#report.run.run;
  }

  holds = (run: string, test?: number) =>
    run === this.home && (test === undefined || this.#report.tests.some((other) => other.number === test));

  project = async () => this.#report.project;
  model = async (_path: string) => this.#report.model;
  runs = async (_model: string | null) => {
    const { run, runs } = this.#report;
    return runs.some((other) => other.run === run.run) ? runs : [run, ...runs];
  };
  run = async (id: string) => {
    if (id !== this.#report.run.run) throw missing(`run ${id}`);
    return this.#report.run;
  };
  test = async (run: string, number: number) => {
    const test = this.#report.tests.find((test) => run === this.home && test.number === number);
    if (!test) throw missing(`test ${number} of run ${run}`);
    return test;
  };
  failures = async (_model: string | null) => this.#report.failures;
  failure = async (id: string) => {
    const failure = this.#report.failures.find((failure) => failure.id === id);
    if (!failure) throw missing(`failure ${id}`);
    return failure;
  };
  goals = async (_model: string) => this.#report.goals;
  check = async () => Promise.reject(this.#refuse());
  save = async () => Promise.reject(this.#refuse());
  changes = () => () => {};
  compare = async () => Promise.reject(this.#refuse());
  start = async () => Promise.reject(this.#refuse());
  control = async () => Promise.reject(this.#refuse());
  accept = async () => Promise.reject(this.#refuse());
  replay = async () => Promise.reject(this.#refuse());
  shrink = async () => Promise.reject(this.#refuse());
  generate = async () => Promise.reject(this.#refuse());
  runGoals = async () => Promise.reject(this.#refuse());
  explore = async () => Promise.reject(this.#refuse());
  script = async () => Promise.reject(this.#refuse());
  walk = async () => Promise.reject(this.#refuse());
  beginWalk = async () => Promise.reject(this.#refuse());
  stepWalk = async () => Promise.reject(this.#refuse());
  keepWalk = async () => Promise.reject(this.#refuse());
  stopJob = async () => Promise.reject(this.#refuse());
  follow = () => () => {};
  followJob = () => () => {};

  #refuse(): PageError {
    return new PageError("a report cannot start or change anything", "start `ioco serve` in the project to do this");
  }
}

function missing(what: string): PageError {
  return new PageError(`${what} is not in this report`, "a report holds one run, its failures and some of its tests");
}
