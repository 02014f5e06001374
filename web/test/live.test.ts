import { describe, expect, it } from "vitest";
import { advance, begin, merge, recent, thin } from "../src/data/live";
import type { FailureSummary, Live, RecentStep } from "../src/data/contract";
import { batch, detail } from "./model";

const failure = (id: string, to: number) => ({ id, to }) as FailureSummary;
const steps = (...numbers: number[]): RecentStep[] => numbers.map((number) => ({ number, kind: "stimulus", text: `?${number}` }));

/** A fixed sequence of numbers that looks random. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state;
  }
}

describe("batches", () => {
  it("give the same run whether they are drawn one by one or merged", () => {
    const random = numbers(7);
    for (let round = 0; round < 50; round += 1) {
      const batches: Live[] = [];
      let total = 0;
      for (let index = 0; index < 8; index += 1) {
        total += 1 + (random.next().value % 5);
        batches.push(
          batch({
            steps: total,
            switch_counts: [[random.next().value % 4, total]],
            location_counts: [[random.next().value % 3, total]],
            trend: [{ steps: total, locations: index, switches: index, data: 0 }],
            failures: random.next().value % 3 === 0 ? [failure(`f${random.next().value % 2}`, total)] : [],
            state: index === 7 ? "finished" : "running",
          }),
        );
      }
      const single = batches.reduce(advance, begin(detail()));
      let waiting: Live | null = null;
      let merged = begin(detail());
      for (const [index, next] of batches.entries()) {
        waiting = merge(waiting, next);
        if (random.next().value % 3 === 0 || index === 7) {
          merged = advance(merged, waiting);
          waiting = null;
        }
      }
      expect(merged.detail).toEqual(single.detail);
      expect([...merged.switches].sort()).toEqual([...single.switches].sort());
      expect([...merged.locations].sort()).toEqual([...single.locations].sort());
      expect(merged.failures).toEqual(single.failures);
    }
  });

  it("that are sent again after a new connection do not draw the trend twice", () => {
    const first = batch({ trend: [{ steps: 5, locations: 1, switches: 1, data: 0 }, { steps: 9, locations: 2, switches: 2, data: 0 }] });
    const followed = advance(advance(begin(detail()), first), first);
    expect(followed.detail.trend.map((point) => point.steps)).toEqual([5, 9]);
  });

  it("draw a point for every step that covers something, and one for the end", () => {
    const point = (steps: number, switches: number) => ({ steps, locations: 1, switches, data: 0 });
    const batches = [[point(0, 0), point(2, 1)], [point(2, 2), point(5, 2)], [point(9, 2)], [point(30, 2), point(31, 3)]];
    const followed = batches.map((trend) => batch({ trend })).reduce(advance, begin(detail()));
    expect(followed.detail.trend.map(({ steps, switches }) => [steps, switches])).toEqual([[0, 0], [2, 2], [30, 2], [31, 3]]);
  });

  it("take back a message that no longer holds", () => {
    const followed = advance(advance(begin(detail()), batch({ message: "waiting for an adapter" })), batch({}));
    expect(followed.detail.message).toBeNull();
  });

  it("keep the last steps in order, of one test only", () => {
    expect(recent(steps(1, 2), steps(3)).map((step) => step.number)).toEqual([1, 2, 3]);
    expect(recent(steps(1, 2, 3), steps(2, 3, 4)).map((step) => step.number)).toEqual([1, 2, 3, 4]);
    expect(recent(steps(7, 8), steps(1)).map((step) => step.number)).toEqual([1]);
    expect(recent(steps(1, 2), steps(9)).map((step) => step.number)).toEqual([9]);
    expect(recent(steps(1), []).length).toBe(1);
  });

  it("leave a long trend drawable, with its last point", () => {
    const long = Array.from({ length: 2000 }, (_, index) => ({ steps: index, locations: 0, switches: 0, data: 0 }));
    const short = thin(long);
    expect(short.length).toBeLessThanOrEqual(1001);
    expect(short.at(-1)?.steps).toBe(1999);
  });
});
