/** Runs again when the model or the system changes, if that is wanted: stops a run that goes on, and starts the same
    one anew. A model with errors starts nothing; the message above every view says what is wrong. */

import { app } from "./app.svelte";
import type { Changes, RunRequest } from "./data/contract";
import { ended } from "./data/source";
import { follower } from "./follow.svelte";
import { start } from "./start.svelte";

class Watching {
  #seen: Changes | null = null;
  #busy = false;

  /** Called with every change; the first one only says where things stand. */
  async hear(changes: Changes | null): Promise<void> {
    const before = this.#seen;
    this.#seen = changes;
    // The run that is looked at says what was asked for, in whatever tab it was started.
    const wanted = follower.followed?.detail.request ?? start.last;
    if (!changes || !before || !start.again || !wanted || this.#busy) return;
    if (changes.model === before.model && changes.system === before.system) return;
    if (app.wrong || app.modelError) return;
    this.#busy = true;
    try {
      await this.#again(wanted);
    } finally {
      this.#busy = false;
    }
  }

  async #again(request: RunRequest): Promise<void> {
    const going = follower.run !== null && follower.followed !== null && !ended(follower.followed.detail.state);
    if (going && follower.run !== null) {
      const run = follower.run;
      await app.attempt(() => app.source.control(run, "stop"));
      // The system is free once the run is over.
      for (let tries = 0; tries < 100; tries++) {
        const detail = await app.attempt(() => app.source.run(run));
        if (!detail || ended(detail.state)) break;
        await new Promise((done) => setTimeout(done, 100));
      }
    }
    const run = await app.attempt(() => app.source.start(request));
    if (!run) return;
    if (app.route.view === "run") app.go({ view: "run", run: run.run });
    else void follower.watch(run.run);
    void app.refresh();
  }
}

export const watching = new Watching();
