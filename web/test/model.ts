/** A small model for tests: a door with two processes' worth of locations. */

import type { Live, Model, RunDetail, StepView, TraceView } from "../src/data/contract";

export function model(switches: [number, number, string][], names: string[], processes = [0]): Model {
  return {
    name: "door", path: "door.aml", hash: "1", sources: [{ file: "door.aml", text: "" }],
    processes: [...new Set(processes)].map((process) => `p${process}`),
    locations: names.map((name, id) => ({ id, name, process: processes[id] ?? 0, initial: id === 0, named: true, file: "door.aml", line: id + 1 })),
    switches: switches.map(([from, to, label], id) => ({
      id, from, to, label, kind: label.startsWith("?") ? "stimulus" : "response", guard: null, update: null, file: null, line: null,
    })),
    labels: [], variables: [], diagnostics: [],
  };
}

export function step(number: number, kind: StepView["kind"], text: string, locations: number[], switches: number[] = []): StepView {
  return {
    number, kind, text, label: text, values: {}, at: null, took: null, more_states: 0, changes: [], allowed: [], switches,
    states: locations.length === 0 ? [] : [{ locations, text: "" }], file: null, line: null, wire: [],
  };
}

export const trace = (steps: StepView[]): TraceView => ({ length: steps.length, steps, time: null });

export function detail(): RunDetail {
  return {
    run: "r", model: "door", model_hash: "1", started: "2026-01-01T00:00:00Z", state: "running", verdict: "stopped", silence: null, delay_ms: 0, seed: 1, strategy: "random",
    tests: 0, steps: 0, failures: 0, seconds: 0, message: null,
    coverage: { locations: [0, 2], switches: [0, 2], data: [0, 0] },
    switch_counts: [], location_counts: [], trend: [], failure_ids: [], tests_listed: [], requirements: [],
  };
}

export function batch(changes: Partial<Live>): Live {
  return {
    run: "r", state: "running", tests: 1, steps: 1, steps_per_second: 1, seconds: 1, silences: 0, limits: { tests: null, seconds: null }, test: 1, step: 1, switch_counts: [], location_counts: [],
    waiting: null, workers: [], current: null, coverage: { locations: [1, 2], switches: [1, 2], data: [0, 0] }, trend: [], recent: [], failures: [], message: null,
    ...changes,
  };
}
