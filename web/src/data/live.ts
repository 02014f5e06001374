/**
 * A run as it goes on. Batches may come faster than the screen is drawn: they are merged, and the
 * page takes what there is once a frame.
 */

import type { Counts, FailureSummary, Live, RecentStep, RunDetail, TrendPoint } from "./contract";

/** Merges a later batch into an earlier one that was not drawn yet. */
export function merge(earlier: Live | null, later: Live): Live {
  if (earlier === null) return later;
  return {
    ...later,
    switch_counts: latest(earlier.switch_counts, later.switch_counts),
    location_counts: latest(earlier.location_counts, later.location_counts),
    trend: extended(earlier.trend, later.trend),
    recent: recent(earlier.recent, later.recent),
    failures: distinct(earlier.failures, later.failures),
  };
}

function latest(earlier: Counts, later: Counts): Counts {
  return [...new Map([...earlier, ...later])];
}

/** Failures by their number, the newest account of each. */
export function distinct(earlier: FailureSummary[], later: FailureSummary[]): FailureSummary[] {
  return [...new Map([...earlier, ...later].map((failure) => [failure.id, failure])).values()];
}

const RECENT = 20;

/** The last steps, oldest first. A batch that starts again at a lower number is another test. */
export function recent(earlier: RecentStep[], later: RecentStep[]): RecentStep[] {
  if (later.length === 0) return earlier;
  const first = later[0]?.number ?? 0;
  const before = earlier.filter((step) => step.number < first);
  const unbroken = before.length > 0 && before.at(-1)?.number === first - 1;
  return [...(unbroken ? before : []), ...later].slice(-RECENT);
}

const TREND = 1000;

/** Keeps a trend drawable: when it is too long, every other point goes, never the last. */
export function thin(trend: TrendPoint[]): TrendPoint[] {
  if (trend.length <= TREND) return trend;
  const last = trend.length - 1;
  return trend.filter((_, index) => index % 2 === 0 || index === last);
}

/** The run after a batch. The maps of counts are changed in place: they may be large. */
export interface Followed {
  detail: RunDetail;
  switches: Map<number, number>;
  locations: Map<number, number>;
  live: Live | null;
  recent: RecentStep[];
  failures: FailureSummary[];
}

export function begin(detail: RunDetail): Followed {
  return {
    detail,
    switches: new Map(detail.switch_counts),
    locations: new Map(detail.location_counts),
    live: null,
    recent: [],
    failures: [],
  };
}

export function advance(followed: Followed, batch: Live): Followed {
  for (const [id, count] of batch.switch_counts) followed.switches.set(id, count);
  for (const [id, count] of batch.location_counts) followed.locations.set(id, count);
  const failures = distinct(followed.failures, batch.failures);
  return {
    ...followed,
    live: batch,
    recent: recent(followed.recent, batch.recent),
    failures,
    detail: {
      ...followed.detail,
      state: batch.state,
      tests: batch.tests,
      steps: batch.steps,
      failures: Math.max(followed.detail.failures, failures.length),
      coverage: batch.coverage,
      trend: thin(extended(followed.detail.trend, batch.trend)),
      message: batch.message,
    },
  };
}

const same = (one: TrendPoint, other: TrendPoint) =>
  one.locations === other.locations && one.switches === other.switches && one.data === other.data;

/**
 * A trend with later points. One of the same step takes the place of the earlier one, points that were sent already
 * (after a new connection) are not drawn twice, and the end moves along while nothing new is covered.
 */
function extended(known: TrendPoint[], more: TrendPoint[]): TrendPoint[] {
  const trend = [...known];
  for (const point of more) {
    const last = trend.at(-1);
    const before = trend.at(-2);
    if (last && point.steps < last.steps) continue;
    if (last && (point.steps === last.steps || (before && same(before, last) && same(last, point)))) trend.pop();
    trend.push(point);
  }
  return trend;
}
