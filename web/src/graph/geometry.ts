/** Points, boxes, and the paths that edges are drawn with. */

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

export interface Placed {
  nodes: Map<string, Box>;
  edges: Map<string, { points: Point[]; label: Box | null }>;
  /** One box for each process, when there are several. */
  clusters: { process: number; box: Box }[];
  bounds: Box;
  /** Edges are straight and unlabelled: drawn on a canvas. */
  map: boolean;
}

export interface View {
  x: number;
  y: number;
  scale: number;
}

export function bounds(boxes: Iterable<Box>): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const box of boxes) {
    left = Math.min(left, box.x);
    top = Math.min(top, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  if (left > right) return { x: 0, y: 0, width: 0, height: 0 };
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** The view that shows a box in a window, not magnified beyond `most`. */
export function fit(box: Box, width: number, height: number, most = 1.15, margin = 28): View {
  const scale = Math.min(
    most,
    (width - 2 * margin) / Math.max(box.width, 1),
    (height - 2 * margin) / Math.max(box.height, 1),
  );
  const safe = Math.max(scale, 0.001);
  return {
    scale: safe,
    x: width / 2 - (box.x + box.width / 2) * safe,
    y: height / 2 - (box.y + box.height / 2) * safe,
  };
}

/** Zooms about a point of the window, which stays where it is. */
export function zoom(view: View, factor: number, about: Point, least = 0.01, most = 4): View {
  const scale = Math.min(most, Math.max(least, view.scale * factor));
  const real = scale / view.scale;
  return {
    scale,
    x: about.x - (about.x - view.x) * real,
    y: about.y - (about.y - view.y) * real,
  };
}

/** A line through points, with rounded corners. */
export function rounded(points: Point[], radius: number): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${round(first.x)} ${round(first.y)}`;
  for (const [index, corner] of rest.entries()) {
    const before = points[index] as Point;
    const after = rest[index + 1];
    if (!after) {
      path += `L${round(corner.x)} ${round(corner.y)}`;
      break;
    }
    const into = Math.hypot(corner.x - before.x, corner.y - before.y);
    const out = Math.hypot(after.x - corner.x, after.y - corner.y);
    const bend = Math.min(radius, into / 2, out / 2);
    if (bend < 0.5) {
      path += `L${round(corner.x)} ${round(corner.y)}`;
      continue;
    }
    const enter = towards(corner, before, bend);
    const leave = towards(corner, after, bend);
    path += `L${round(enter.x)} ${round(enter.y)}Q${round(corner.x)} ${round(corner.y)} ${round(leave.x)} ${round(leave.y)}`;
  }
  return path;
}

/** The head of an arrow that ends in the last of the points. */
export function arrow(points: Point[], length: number, width: number): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (!tip || !before) return "";
  const base = towards(tip, before, length);
  const x = (tip.y - base.y) / length;
  const y = (base.x - tip.x) / length;
  const left = { x: base.x + (x * width) / 2, y: base.y + (y * width) / 2 };
  const right = { x: base.x - (x * width) / 2, y: base.y - (y * width) / 2 };
  return `M${round(tip.x)} ${round(tip.y)}L${round(left.x)} ${round(left.y)}L${round(right.x)} ${round(right.y)}Z`;
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) / length) * distance, y: from.y + ((to.y - from.y) / length) * distance };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The nearest centre in a direction, for walking with the arrow keys. */
export function neighbour(boxes: Map<string, Box>, from: string, direction: Point): string | null {
  const start = boxes.get(from);
  if (!start) return null;
  const centre = (box: Box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
  const origin = centre(start);
  let best: string | null = null;
  let least = Infinity;
  for (const [key, box] of boxes) {
    if (key === from) continue;
    const at = centre(box);
    const along = (at.x - origin.x) * direction.x + (at.y - origin.y) * direction.y;
    const aside = Math.abs((at.x - origin.x) * direction.y) + Math.abs((at.y - origin.y) * direction.x);
    if (along <= 1) continue;
    const cost = along + 2 * aside;
    if (cost < least) {
      least = cost;
      best = key;
    }
  }
  return best;
}

/** Places boxes of independent parts in rows, in order, about as wide as high. */
export function shelves(sizes: { width: number; height: number }[], gap: number): Point[] {
  const area = sizes.reduce((sum, size) => sum + (size.width + gap) * (size.height + gap), 0);
  const widest = Math.max(0, ...sizes.map((size) => size.width));
  const limit = Math.max(widest, Math.sqrt(area) * 1.4);
  const places: Point[] = [];
  let [x, y, row] = [0, 0, 0];
  for (const size of sizes) {
    if (x > 0 && x + size.width > limit) {
      x = 0;
      y += row + gap;
      row = 0;
    }
    places.push({ x, y });
    x += size.width + gap;
    row = Math.max(row, size.height);
  }
  return places;
}
