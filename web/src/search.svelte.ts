/** Having a test generated: one search at a time, its end shown in the goals or in Explore. */

import { app } from "./app.svelte";
import type { GenerateResult, Goal, Job } from "./data/contract";
import type { Close } from "./data/source";
import type { Selection } from "./graph/marks";

class Search {
  job = $state.raw<Job | null>(null);
  /** The goal that was asked for alone, when it is decided. */
  answer = $state.raw<Goal | null>(null);
  goals = $state.raw<Goal[] | null>(null);
  #close: Close | null = null;

  get busy(): boolean {
    return this.job?.state === "running";
  }

  /** Searches a test that reaches one switch or location, and shows it. */
  async find(selection: Selection): Promise<void> {
    this.answer = null;
    const found = await this.#run(selection.kind === "switch" ? "switches" : "locations", selection, 20);
    const goal = found?.find((goal) => goal.id === selection.id) ?? found?.[0];
    if (!goal) return;
    this.answer = goal;
    app.go({ view: "goals", goal: goal.goal, step: null });
  }

  async all(cover: string, seconds: number): Promise<void> {
    this.answer = null;
    await this.#run(cover, null, seconds);
  }

  async #run(cover: string, only: Selection | null, seconds: number): Promise<Goal[] | null> {
    const model = app.modelPath;
    if (model === null) return null;
    const job = await app.attempt(() => app.source.generate({ model, cover, only, seconds }));
    if (!job) return null;
    this.job = job;
    return new Promise((resolve) => {
      const hear = (job: Job) => {
        this.job = job;
        if (job.state === "running") return;
        this.#close?.();
        const goals = (job.result as GenerateResult | null)?.goals ?? null;
        if (goals) this.goals = goals;
        resolve(goals);
      };
      this.#close?.();
      this.#close = app.source.followJob(job.job, hear, (error) => {
        app.error = error;
        this.job = null;
        resolve(null);
      });
    });
  }

  async stop(): Promise<void> {
    const job = this.job;
    if (job) await app.attempt(() => app.source.stopJob(job.job));
  }
}

export const search = new Search();
