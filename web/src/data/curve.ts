/** Points of a line chart: from numbers to a path in a box. */

export interface Sample {
  x: number;
  y: number;
}

export interface Range {
  from: number;
  to: number;
}

export function span(values: number[], least = 0): Range {
  let [from, to] = [least, least];
  for (const value of values) {
    if (value < from) from = value;
    if (value > to) to = value;
  }
  return from === to ? { from, to: from + 1 } : { from, to };
}

export function position(value: number, range: Range, size: number): number {
  return ((value - range.from) / (range.to - range.from)) * size;
}

/** A line that holds its value until the next point: as shrinking progress and coverage do. */
export function staircase(samples: Sample[], x: Range, y: Range, width: number, height: number): string {
  let path = "";
  for (const [index, sample] of samples.entries()) {
    const px = position(sample.x, x, width).toFixed(1);
    const py = (height - position(sample.y, y, height)).toFixed(1);
    path += index === 0 ? `M${px} ${py}` : `H${px}V${py}`;
  }
  return path;
}

/** Numbers for an axis: few, round, within the range. */
export function ticks(range: Range, about: number): number[] {
  const width = range.to - range.from;
  if (!(width > 0)) return [range.from];
  const rough = width / Math.max(1, about);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * unit >= rough) ?? 10) * unit;
  const whole = step < 1 && Number.isInteger(range.to) ? 1 : step;
  const list: number[] = [];
  for (let value = Math.ceil(range.from / whole) * whole; value <= range.to + whole * 1e-6; value += whole) {
    list.push(Math.round(value * 1e6) / 1e6);
  }
  return list;
}
