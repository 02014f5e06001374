/** What the next run begins with: stimuli set by "test from here", and the speed chosen last. */

import type { WalkStep } from "./data/contract";

class Start {
  prefix = $state.raw<WalkStep[]>([]);
  delay = $state(0);
}

export const start = new Start();
