/** The run that the page follows: batches are drawn once a frame. */

import { app } from "./app.svelte";
import type { Live } from "./data/contract";
import { advance, begin, merge, type Followed } from "./data/live";
import { ended, pageError, type Close } from "./data/source";

class Follower {
  run = $state<string | null>(null);
  followed = $state.raw<Followed | null>(null);
  lost = $state<string | null>(null);
  #waiting: Live | null = null;
  #frame = 0;
  #close: Close | null = null;

  /** Follows a run; a second call for the same run changes nothing. */
  async watch(run: string): Promise<void> {
    if (this.run === run && this.lost === null) return;
    this.leave();
    this.run = run;
    try {
      const detail = await app.source.run(run);
      if (this.run !== run) return;
      this.followed = begin(detail);
      if (!ended(detail.state) && app.live) {
        this.#close = app.source.follow(run, (live) => this.#hear(run, live), (error) => (this.lost = error.message));
      }
    } catch (error) {
      if (this.run !== run) return;
      this.lost = pageError(error).message;
    }
  }

  /** Follows the run that goes on, from any tab or terminal, unless another is looked at. */
  join(): void {
    if (!app.live || (this.followed && !ended(this.followed.detail.state))) return;
    const going = app.runs.find((run) => !ended(run.state));
    if (going && app.route.view !== "run" && app.route.view !== "test") void this.watch(going.run);
    else if (going && app.route.view === "run" && app.route.run === null) void this.watch(going.run);
  }

  leave(): void {
    this.#close?.();
    this.#close = null;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#waiting = null;
    this.run = null;
    this.followed = null;
    this.lost = null;
  }

  #hear(run: string, live: Live): void {
    if (this.run !== run) return;
    this.#waiting = merge(this.#waiting, live);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw(run));
  }

  #draw(run: string): void {
    this.#frame = 0;
    const batch = this.#waiting;
    this.#waiting = null;
    if (!batch || !this.followed || this.run !== run) return;
    this.followed = advance(this.followed, batch);
    if (batch.failures.length > 0) void app.refresh();
    if (ended(batch.state)) {
      this.#close?.();
      this.#close = null;
      void this.#finish(run);
    }
  }

  /** The finished run has a list of its tests, which batches do not carry. */
  async #finish(run: string): Promise<void> {
    await app.refresh();
    try {
      const detail = await app.source.run(run);
      if (this.run === run && this.followed) this.followed = { ...begin(detail), live: this.followed.live, recent: this.followed.recent, failures: this.followed.failures };
    } catch (thrown) {
      app.error = pageError(thrown);
    }
  }
}

export const follower = new Follower();
