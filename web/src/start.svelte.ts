/** What the next run begins with: stimuli set by "test from here", the speed chosen last, and whether changes start it. */

import type { RunRequest, WalkStep } from "./data/contract";

class Start {
  prefix = $state.raw<WalkStep[]>([]);
  delay = $state(0);
  /** Run again whenever the model or the system changes. */
  again = $state(false);
  /** What was asked for last. */
  last = $state.raw<RunRequest | null>(null);
}

export const start = new Start();
