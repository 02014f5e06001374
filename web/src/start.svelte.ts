/** What every test of the next run begins with: set by "test from here". */

import type { WalkStep } from "./data/contract";

class Start {
  prefix = $state.raw<WalkStep[]>([]);
}

export const start = new Start();
