/** What is shown on top of a drawing: counts, the current states, a trace, a failure. */

import type { Edge, Node } from "./drawing";
import type { TraceView } from "../data/contract";

export interface Selection {
  kind: "location" | "switch";
  id: number;
}

export interface Marks {
  /** How often switches and locations were taken; null where nothing was run. */
  switches: Map<number, number> | null;
  locations: Map<number, number> | null;
  /** Locations of the current state set: ringed. */
  current: ReadonlySet<number>;
  /** Switches of a trace, and of the step that is looked at. */
  path: ReadonlySet<number>;
  step: ReadonlySet<number>;
  /** Locations in which the system failed. */
  failed: ReadonlySet<number>;
}

const none: ReadonlySet<number> = new Set();

export const unmarked: Marks = {
  switches: null,
  locations: null,
  current: none,
  path: none,
  step: none,
  failed: none,
};

/** How hot a count is, from 0 (never) to 5: logarithmic, as counts are very uneven. */
export function heat(count: number, most: number): number {
  if (count <= 0) return 0;
  if (most <= 1) return 5;
  return 1 + Math.round((4 * Math.log(count)) / Math.log(most));
}

export function most(counts: Map<number, number> | null): number {
  let largest = 1;
  for (const count of counts?.values() ?? []) if (count > largest) largest = count;
  return largest;
}

export interface EdgeMark {
  count: number | null;
  heat: number | null;
  /** Only some of the merged switches were taken. */
  partly: boolean;
  path: boolean;
  step: boolean;
  selected: boolean;
}

export function edgeMark(edge: Edge, marks: Marks, largest: number, selected: Selection | null): EdgeMark {
  let count: number | null = null;
  let never = 0;
  if (marks.switches) {
    count = 0;
    for (const id of edge.switches) {
      const taken = marks.switches.get(id) ?? 0;
      count += taken;
      if (taken === 0) never += 1;
    }
  }
  return {
    count,
    heat: count === null ? null : heat(count, largest),
    partly: count !== null && count > 0 && never > 0,
    path: edge.switches.some((id) => marks.path.has(id)),
    step: edge.switches.some((id) => marks.step.has(id)),
    selected: selected?.kind === "switch" && edge.switches.includes(selected.id),
  };
}

export interface NodeMark {
  count: number | null;
  heat: number | null;
  current: boolean;
  failed: boolean;
  selected: boolean;
}

export function nodeMark(node: Node, marks: Marks, largest: number, selected: Selection | null): NodeMark {
  let count: number | null = null;
  if (marks.locations) {
    count = 0;
    for (const id of node.locations) count += marks.locations.get(id) ?? 0;
  }
  return {
    count,
    heat: count === null ? null : heat(count, largest),
    current: marks.current.size > 0 && node.locations.some((id) => marks.current.has(id)),
    failed: marks.failed.size > 0 && node.locations.some((id) => marks.failed.has(id)),
    selected: selected?.kind === "location" && node.locations.includes(selected.id),
  };
}

/** Marks of a trace with one step looked at. `step` is an index; -1 is before the first. */
export function traceMarks(trace: TraceView | null, step: number): Marks {
  if (!trace) return unmarked;
  const at = trace.steps[step];
  const before = trace.steps[step - 1];
  const deviating = at?.kind === "deviation";
  // A deviation leads nowhere: the states in which it happened are those before it.
  const states = deviating ? (before?.states ?? at.states) : (at?.states ?? []);
  const locations = new Set(states.flatMap((state) => state.locations));
  return {
    ...unmarked,
    path: new Set(trace.steps.flatMap((entry) => entry.switches)),
    step: new Set(at?.switches ?? []),
    current: deviating ? none : locations,
    failed: deviating ? locations : none,
  };
}

/** The locations that a trace passes, for a drawing of its surroundings. */
export function traceLocations(trace: TraceView): number[] {
  const seen = new Set<number>();
  for (const step of trace.steps) for (const state of step.states) for (const id of state.locations) seen.add(id);
  return [...seen];
}
