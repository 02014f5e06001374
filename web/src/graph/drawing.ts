/**
 * What is drawn of a model: nodes and edges, after parallel switches are merged, processes are
 * collapsed, or only the surroundings of some locations are kept. Pure; the layout comes later.
 */

import type { Model, Switch } from "../data/contract";

export interface Node {
  key: string;
  text: string;
  process: number;
  /** The locations it stands for: one, or all of a collapsed process. */
  locations: number[];
  initial: boolean;
  /** The model text has no name for it: it is called by what led there. */
  unnamed: boolean;
  collapsed: boolean;
  /** How many neighbours are not drawn (in a drawing of surroundings). */
  hidden: number;
}

/** A line of text on an edge: a label, or the guard or update of the label above it. */
export interface Line {
  text: string;
  kind: "label" | "detail";
  /** The switch that it belongs to; none for "and 2 more". */
  switch: number | null;
}

export interface Edge {
  key: string;
  from: string;
  to: string;
  switches: number[];
  lines: Line[];
}

export interface Drawing {
  /** Two drawings with the same key have the same layout. */
  key: string;
  nodes: Node[];
  edges: Edge[];
  processes: string[];
}

export interface Choices {
  merge: boolean;
  collapsed: ReadonlySet<number>;
  /** Draw only these locations and what is around them. */
  around: { locations: number[]; limit: number } | null;
}

/**
 * What a layered drawing can hold: above this it can neither be read nor be computed in seconds.
 * Many labelled edges cost more than many locations.
 */
const MAX_NODES = 300;
const MAX_EDGES = 450;

export function tooLarge(nodes: number, edges: number): boolean {
  return nodes > MAX_NODES || edges > MAX_EDGES;
}

/** Whether the whole model has to be drawn as a map. */
export function isLarge(model: Model): boolean {
  const pairs = new Set(model.switches.map((entry) => `${entry.from}>${entry.to}`));
  return tooLarge(model.locations.length, pairs.size);
}

/** Switches that are written on one edge; the rest is counted. */
const LINES = 3;
const LONGEST = 34;

/** The title of a location without a name, short: its guard stands on the switch that leads there. */
function withoutGuard(title: string): string {
  return title.replace(/ \[.*\]$/, "");
}

export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length - 1) + "…";
}

/** The label, and below it the guard in brackets and the update, each cut to one line; the pointer shows all of it. */
export function linesOf(entry: Switch): Line[] {
  const line = (text: string, kind: Line["kind"]): Line => ({ text: cut(text, LONGEST), kind, switch: entry.id });
  const lines = [line(entry.label || "τ", "label")];
  if (entry.guard) lines.push(line(`[${cut(entry.guard, LONGEST - 2)}]`, "detail"));
  if (entry.update) lines.push(line(entry.update, "detail"));
  return lines;
}

export function draw(model: Model, choices: Choices): Drawing {
  const kept = choices.around
    ? surroundings(model, choices.around.locations, choices.around.limit)
    : null;
  const nodes: Node[] = [];
  const nodeOf = new Map<number, string>();
  for (const [process, name] of model.processes.entries()) {
    if (!choices.collapsed.has(process) || kept) continue;
    const locations = model.locations.filter((location) => location.process === process);
    if (locations.length === 0) continue;
    nodes.push({
      key: `p${process}`,
      text: `${name} (${locations.length})`,
      process,
      locations: locations.map((location) => location.id),
      initial: false,
      unnamed: false,
      collapsed: true,
      hidden: 0,
    });
    for (const location of locations) nodeOf.set(location.id, `p${process}`);
  }
  for (const location of model.locations) {
    if (nodeOf.has(location.id) || (kept && !kept.has(location.id))) continue;
    nodeOf.set(location.id, `l${location.id}`);
    nodes.push({
      key: `l${location.id}`,
      text: cut(location.named ? location.name : withoutGuard(location.name), LONGEST),
      process: location.process,
      locations: [location.id],
      initial: location.initial,
      unnamed: !location.named,
      collapsed: false,
      hidden: 0,
    });
  }
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const edges = new Map<string, Edge>();
  for (const entry of model.switches) {
    const from = nodeOf.get(entry.from);
    const to = nodeOf.get(entry.to);
    if (kept && (from === undefined) !== (to === undefined)) {
      const seen = byKey.get(from ?? to ?? "");
      if (seen) seen.hidden += 1;
    }
    if (from === undefined || to === undefined) continue;
    if (from === to && byKey.get(from)?.collapsed) continue;
    const key = choices.merge ? `${from}>${to}` : `s${entry.id}`;
    const edge = edges.get(key);
    if (edge) {
      edge.switches.push(entry.id);
      if (edge.switches.length <= LINES) edge.lines.push(...linesOf(entry));
    } else {
      edges.set(key, { key, from, to, switches: [entry.id], lines: linesOf(entry) });
    }
  }
  for (const edge of edges.values()) {
    const more = edge.switches.length - LINES;
    if (more > 0) edge.lines.push({ text: `and ${more} more`, kind: "detail", switch: null });
  }
  const around = kept ? `@${[...kept].sort((a, b) => a - b).join(",")}` : "";
  const collapsed = [...choices.collapsed].sort((a, b) => a - b).join(",");
  return {
    key: `${model.hash}/${model.path}/${choices.merge ? "m" : "s"}/${collapsed}${around}`,
    nodes,
    edges: [...edges.values()],
    processes: model.processes,
  };
}

/** More neighbours than this, and a location is a hub. */
const HUB = 12;

/**
 * The given locations and those near them, nearest first, at most `limit`. A location with very
 * many neighbours (a hub) is drawn, but the walk does not go on from it: everything is near a hub.
 */
export function surroundings(model: Model, locations: number[], limit: number): Set<number> {
  const next = new Map<number, number[]>();
  const link = (a: number, b: number) => {
    const list = next.get(a);
    if (list) list.push(b);
    else next.set(a, [b]);
  };
  for (const entry of model.switches) {
    link(entry.from, entry.to);
    link(entry.to, entry.from);
  }
  const kept = new Set(locations);
  let front = [...kept];
  while (front.length > 0 && kept.size < limit) {
    const reached: number[] = [];
    for (const location of front) {
      const neighbours = next.get(location) ?? [];
      if (neighbours.length > HUB && !locations.includes(location)) continue;
      for (const neighbour of neighbours) {
        if (kept.size >= limit) break;
        if (kept.has(neighbour)) continue;
        kept.add(neighbour);
        reached.push(neighbour);
      }
    }
    front = reached;
  }
  return kept;
}

/** Locations and switches whose text contains every typed word, best first. */
export function search(model: Model, typed: string, limit: number) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found: { kind: "location" | "switch"; id: number; text: string; more: string; rank: number }[] = [];
  const rank = (text: string) => {
    const lower = text.toLowerCase();
    if (!words.every((word) => lower.includes(word))) return -1;
    const first = words[0] ?? "";
    if (lower === first) return 0;
    return lower.startsWith(first) ? 1 : 2;
  };
  const names = new Map(model.locations.map((location) => [location.id, location.name]));
  for (const location of model.locations) {
    const position = rank(location.name);
    if (position >= 0) {
      const more = model.processes.length > 1 ? (model.processes[location.process] ?? "") : "location";
      found.push({ kind: "location", id: location.id, text: location.name, more, rank: position });
    }
  }
  for (const entry of model.switches) {
    const position = rank(entry.label.replace(/^[?!]/, ""));
    const whole = position >= 0 ? position : rank(entry.label);
    if (whole >= 0) {
      const more = `${names.get(entry.from)} → ${names.get(entry.to)}`;
      found.push({ kind: "switch", id: entry.id, text: entry.label, more, rank: whole + 0.5 });
    }
  }
  return found.sort((a, b) => a.rank - b.rank || a.text.length - b.text.length).slice(0, limit);
}
