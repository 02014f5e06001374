/** What all views share: the source, the project, the chosen model, the address, messages. */

import type { Changes, FailureSummary, Model, Project, RunSummary } from "./data/contract";
import { openSource } from "./data/opening";
import { formatRoute, parseRoute, type Route } from "./data/route";
import { pageError, type Close, type Source, type PageError } from "./data/source";

class App {
  readonly source: Source = openSource();
  project = $state.raw<Project | null>(null);
  modelPath = $state<string | null>(null);
  model = $state.raw<Model | null>(null);
  modelError = $state.raw<PageError | null>(null);
  /** What keeps the whole page from working. */
  stopped = $state.raw<PageError | null>(null);
  /** What went wrong with the last thing that was asked for. */
  error = $state.raw<PageError | null>(null);
  failures = $state.raw<FailureSummary[]>([]);
  runs = $state.raw<RunSummary[]>([]);
  route = $state.raw<Route>(parseRoute(location.hash));
  help = $state(false);
  /** A text with changes that are not saved. */
  editing = $state(false);
  /** The line of the model text that somebody asked for. */
  place = $state.raw<{ file: string; line: number } | null>(null);
  /** What changed on disk since the page was opened. */
  changes = $state.raw<Changes | null>(null);
  #listening: Close | null = null;
  theme = $state<"auto" | "light" | "dark">(storedTheme());
  /** Grows when colours change: canvases read their colours again. */
  paint = $state(0);

  get live(): boolean {
    return this.source.live;
  }

  get modelName(): string | null {
    return this.model?.name ?? null;
  }

  async open(): Promise<void> {
    window.addEventListener("hashchange", () => (this.route = parseRoute(location.hash)));
    systemIsDark.addEventListener("change", () => this.#wear());
    this.#wear();
    try {
      this.project = await this.source.project();
    } catch (error) {
      this.stopped = pageError(error);
      return;
    }
    document.title = `${this.project.name} · ioco`;
    await this.choose(this.project.model);
  }

  async choose(path: string): Promise<void> {
    this.modelPath = path;
    this.#listening?.();
    this.changes = null;
    this.#listening = this.live ? this.source.changes(path, (changes) => void this.#changed(path, changes)) : null;
    await this.reload();
  }

  async #changed(path: string, changes: Changes): Promise<void> {
    if (path !== this.modelPath) return;
    const before = this.changes;
    if (before === null || before.model !== changes.model) await this.reload();
    this.changes = changes;
  }

  /** The model as it is now. */
  take(model: Model): void {
    this.model = model;
    this.modelError = null;
  }

  /** The first error of the model's text. */
  get wrong() {
    return this.model?.diagnostics.find((entry) => entry.severity === "error") ?? null;
  }

  /** Shows a line of the model text. */
  show(file: string, line: number): void {
    this.place = { file, line };
    this.go({ view: "model", location: null, switch: null });
  }

  /** Reads the model again, for instance after it was edited. */
  async reload(): Promise<void> {
    const path = this.modelPath;
    if (path === null) return;
    try {
      const model = await this.source.model(path);
      if (path !== this.modelPath) return;
      this.take(model);
    } catch (error) {
      if (path !== this.modelPath) return;
      // The last good graph stays, with what is wrong above it.
      if (this.model?.path !== path) this.model = null;
      this.modelError = pageError(error);
    }
    await this.refresh();
  }

  /** The lists of failures and runs, which other programs (the terminal) may have made longer. */
  async refresh(): Promise<void> {
    try {
      const [failures, runs] = await Promise.all([this.source.failures(null), this.source.runs(null)]);
      this.failures = failures;
      this.runs = runs;
    } catch (error) {
      this.error = pageError(error);
    }
  }

  go(route: Route): void {
    const address = formatRoute(route);
    if (location.hash === address) return;
    location.hash = address;
  }

  /** Changes the address without a new entry in the browser's history: a step, a selection. */
  replace(route: Route): void {
    history.replaceState(null, "", formatRoute(route));
    this.route = route;
  }

  /** Runs something that may fail, and shows the message if it does. */
  async attempt<T>(action: () => Promise<T>): Promise<T | null> {
    this.error = null;
    try {
      return await action();
    } catch (error) {
      this.error = pageError(error);
      return null;
    }
  }

  turnTheme(): void {
    const next = this.#worn() === "dark" ? "light" : "dark";
    // Back to what the system says, when that is the same: the page follows it again.
    this.theme = next === systemTheme() ? "auto" : next;
    try {
      localStorage.setItem("ioco-theme", this.theme);
    } catch {
      // The choice lasts until the page is closed.
    }
    this.#wear();
  }

  #worn(): "light" | "dark" {
    return this.theme === "auto" ? systemTheme() : this.theme;
  }

  #wear(): void {
    document.documentElement.dataset.theme = this.#worn();
    this.paint += 1;
  }
}

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function systemTheme(): "light" | "dark" {
  return systemIsDark.matches ? "dark" : "light";
}

function storedTheme(): "auto" | "light" | "dark" {
  try {
    const stored = localStorage.getItem("ioco-theme");
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto";
  }
}

export const app = new App();
