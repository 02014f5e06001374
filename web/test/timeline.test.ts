import { describe, expect, it } from "vitest";
import type { StepView, TraceView, WireView } from "../src/data/contract";
import { lines, search, timeline } from "../src/data/timeline";

const step = (number: number, kind: StepView["kind"], text: string, at: number, took: number, wire: WireView[] = []): StepView => ({
  number, kind, text, label: text, values: {}, at, took, states: [], more_states: 0, changes: [], allowed: [], switches: [], file: null, line: null, wire,
});

const log = (at: number, text: string): WireView => ({ from: "log", text, at });

const TRACE: TraceView = {
  length: 3,
  time: { responses: 30, silences: 60, stimuli: 10 },
  steps: [
    step(1, "stimulus", "?open", 10, 10, [{ from: "tester", text: '{"stimulus": "open"}', at: 10 }]),
    step(2, "response", "!opened", 40, 30, [{ from: "system", text: '{"response": "opened"}', at: 40 }, log(50, "door: OPEN now")]),
    step(3, "silence", "silence", 90, 50),
    step(4, "deviation", "silence for 10 ns", 100, 10),
  ],
};

describe("the time line", () => {
  it("has a part for every step, as long as the step took", () => {
    const drawn = timeline(TRACE);
    expect(drawn?.total).toBe(100);
    expect(drawn?.parts.map((part) => [part.spent, Math.round(100 * part.from), Math.round(100 * part.to), part.deviates])).toEqual([
      ["stimuli", 0, 10, false], ["responses", 10, 40, false], ["silences", 40, 90, false], ["silences", 90, 100, true],
    ]);
    expect(drawn?.log).toEqual([0.5]);
  });

  it("draws what is too small to be seen as one part, and keeps the deviation", () => {
    const steps = Array.from({ length: 5000 }, (_, index) => step(index + 1, index % 2 ? "response" : "stimulus", "!x", index + 1, 1));
    const last = step(5001, "deviation", "!y", 5001, 1);
    const drawn = timeline({ length: 5001, steps: [...steps, last], time: TRACE.time });
    expect(drawn!.parts.length).toBeLessThan(600);
    expect(drawn!.parts.at(-1)).toMatchObject({ deviates: true, step: 5000 });
    expect(drawn!.parts.at(-1)!.to).toBeCloseTo(1);
  });

  it("is not drawn where the times are not known", () => {
    expect(timeline({ ...TRACE, time: null })).toBeNull();
    expect(timeline({ length: 0, steps: [], time: TRACE.time })).toBeNull();
  });
});

describe("the log", () => {
  it("has every line in the order of time, with its step", () => {
    expect(lines(TRACE).map((line) => [line.from, line.step])).toEqual([["tester", 0], ["system", 1], ["log", 1]]);
  });

  it("is searched without regard to case, and filtered by who said it", () => {
    const all = lines(TRACE);
    expect(search(all, "all", " open ").length).toBe(3);
    expect(search(all, "log", "OPEN").map((line) => line.text)).toEqual(["door: OPEN now"]);
    expect(search(all, "tester", "opened")).toEqual([]);
  });
});
