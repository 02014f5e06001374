/**
 * Where everything goes. Layouts are computed in workers and remembered, so that the picture of a
 * model stays put: during a run, between views, and when the person comes back.
 *
 * Up to some hundred nodes: ELK's layered layout with labels placed on the edges. Above that no
 * layered drawing is readable, and a force-directed map is made.
 */

import { tooLarge, type Drawing, type Edge, type Node } from "./drawing";
import { bounds, shelves, type Box, type Placed, type Point } from "./geometry";
import { elkWorker, forceWorker } from "virtual:layout-workers";
import ELK, { type ELK as Elk, type ElkNode } from "elkjs/lib/elk-api.js";
import type { ForceAnswer, ForceQuestion } from "./force";

/** Widths of the fixed-width font, in units of the drawing. */
const NODE_CHARACTER = 7.3;
const LINE_CHARACTER = 6.7;
export const LINE = 15;
const GAP = 56;

const known = new Map<string, Promise<Placed>>();

/** The layout of a drawing; `progress` hears how far a long one is (0 to 1). */
export function place(drawing: Drawing, progress: (part: number) => void): Promise<Placed> {
  let placed = known.get(drawing.key);
  if (!placed) {
    placed = compute(drawing, progress);
    known.set(drawing.key, placed);
    placed.catch(() => known.delete(drawing.key));
    if (known.size > 24) {
      const oldest = known.keys().next().value;
      if (oldest !== undefined) known.delete(oldest);
    }
  }
  return placed;
}

async function compute(drawing: Drawing, progress: (part: number) => void): Promise<Placed> {
  const parts = byProcess(drawing);
  const processes = parts.map((part) => part.process);
  if (!tooLarge(drawing.nodes.length, drawing.edges.length)) {
    try {
      const placed: Placed[] = [];
      for (const part of parts) placed.push(await inTime(layered(part.nodes, part.edges)));
      return together(placed, processes, false);
    } catch (error) {
      if (error !== LATE) throw error;
    }
  }
  const placed: Placed[] = [];
  for (const [index, part] of parts.entries()) {
    placed.push(await force(part.nodes, part.edges, (value) => progress((index + value) / parts.length)));
  }
  return together(placed, processes, true);
}

const LATE = new Error("the layered layout takes too long");
const PATIENCE = 40_000;

/** Some graphs that are not large tie ELK up all the same: they become maps. */
async function inTime(work: Promise<Placed>): Promise<Placed> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const stuck = elk;
      elk = null;
      void stuck?.then((engine) => engine.terminateWorker());
      reject(LATE);
    }, PATIENCE);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function byProcess(drawing: Drawing): { process: number; nodes: Node[]; edges: Edge[] }[] {
  const parts = new Map<number, { process: number; nodes: Node[]; edges: Edge[] }>();
  const of = new Map<string, number>();
  for (const node of drawing.nodes) {
    of.set(node.key, node.process);
    const part = parts.get(node.process);
    if (part) part.nodes.push(node);
    else parts.set(node.process, { process: node.process, nodes: [node], edges: [] });
  }
  for (const edge of drawing.edges) parts.get(of.get(edge.from) ?? -1)?.edges.push(edge);
  return [...parts.values()].sort((a, b) => a.process - b.process);
}

/** Puts the processes beside each other, each in a box of its own when there are several. */
function together(parts: Placed[], processes: number[], map: boolean): Placed {
  const several = parts.length > 1;
  const margin = several ? 24 : 0;
  const head = several ? 26 : 0;
  const sizes = parts.map(({ bounds }) => ({
    width: bounds.width + 2 * margin,
    height: bounds.height + 2 * margin + head,
  }));
  const corners = shelves(sizes, GAP);
  const result: Placed = { nodes: new Map(), edges: new Map(), clusters: [], bounds: bounds([]), map };
  for (const [index, part] of parts.entries()) {
    const corner = corners[index] as Point;
    const size = sizes[index] as { width: number; height: number };
    const dx = corner.x + margin - part.bounds.x;
    const dy = corner.y + margin + head - part.bounds.y;
    const move = <T extends Point>(item: T): T => ({ ...item, x: item.x + dx, y: item.y + dy });
    for (const [key, box] of part.nodes) result.nodes.set(key, move(box));
    for (const [key, edge] of part.edges) {
      result.edges.set(key, { points: edge.points.map(move), label: edge.label && move(edge.label) });
    }
    if (several) result.clusters.push({ process: processes[index] ?? 0, box: { ...corner, ...size } });
  }
  result.bounds = bounds([...result.nodes.values(), ...result.clusters.map((cluster) => cluster.box), ...labels(result)]);
  return result;
}

function* labels(placed: Placed): Generator<Box> {
  for (const edge of placed.edges.values()) {
    if (edge.label) yield edge.label;
    for (const point of edge.points) yield { ...point, width: 0, height: 0 };
  }
}

let elk: Promise<Elk> | null = null;

function engine(): Promise<Elk> {
  elk ??= elkWorker().then((worker) => new ELK({ workerFactory: () => worker }));
  return elk;
}

export function nodeSize(node: Node): { width: number; height: number } {
  const mark = (node.initial ? 2 : 0) + (node.collapsed ? 2 : 0);
  return { width: Math.max(30, (node.text.length + mark) * NODE_CHARACTER + 18), height: 26 };
}

export function labelSize(edge: Edge): { width: number; height: number } {
  const longest = Math.max(...edge.lines.map((line) => line.text.length));
  return { width: longest * LINE_CHARACTER + 10, height: edge.lines.length * LINE + 2 };
}

async function layered(nodes: Node[], edges: Edge[]): Promise<Placed> {
  const graph: ElkNode = {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "DOWN",
      "elk.edgeRouting": "ORTHOGONAL",
      "elk.edgeLabels.placement": "CENTER",
      "elk.spacing.nodeNode": "28",
      "elk.spacing.edgeNode": "18",
      "elk.spacing.edgeEdge": "12",
      "elk.spacing.edgeLabel": "4",
      "elk.spacing.nodeSelfLoop": "20",
      "elk.layered.spacing.nodeNodeBetweenLayers": "22",
      "elk.layered.spacing.edgeNodeBetweenLayers": "14",
      "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
      // The better placement takes too long for many nodes.
      "elk.layered.nodePlacement.strategy": nodes.length > 60 ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
    },
    children: nodes.map((node) => ({
      id: node.key,
      ...nodeSize(node),
      ...(node.initial && { layoutOptions: { "elk.layered.layering.layerConstraint": "FIRST" } }),
    })),
    edges: edges.map((edge) => ({
      id: edge.key,
      sources: [edge.from],
      targets: [edge.to],
      labels: [{ text: edge.lines.map((line) => line.text).join("\n"), ...labelSize(edge), layoutOptions: { "elk.edgeLabels.inline": "true" } }],
    })),
  };
  const done = await (await engine()).layout(graph);
  const placed: Placed = { nodes: new Map(), edges: new Map(), clusters: [], bounds: bounds([]), map: false };
  for (const child of done.children ?? []) {
    placed.nodes.set(child.id, {
      x: child.x ?? 0,
      y: child.y ?? 0,
      width: child.width ?? 0,
      height: child.height ?? 0,
    });
  }
  for (const edge of done.edges ?? []) {
    const section = edge.sections?.[0];
    const label = edge.labels?.[0];
    placed.edges.set(edge.id, {
      points: section ? [section.startPoint, ...(section.bendPoints ?? []), section.endPoint] : [],
      label: label
        ? { x: label.x ?? 0, y: label.y ?? 0, width: label.width ?? 0, height: label.height ?? 0 }
        : null,
    });
  }
  placed.bounds = bounds([...placed.nodes.values(), ...labels(placed)]);
  return placed;
}

function force(nodes: Node[], edges: Edge[], progress: (part: number) => void): Promise<Placed> {
  const index = new Map(nodes.map((node, position) => [node.key, position]));
  const question: ForceQuestion = {
    nodes: nodes.length,
    initial: nodes.findIndex((node) => node.initial),
    edges: edges.flatMap(({ from, to }) => {
      const [a, b] = [index.get(from), index.get(to)];
      return a === undefined || b === undefined || a === b ? [] : [[a, b] as [number, number]];
    }),
  };
  return new Promise((resolve, reject) => {
    const worker = forceWorker();
    worker.onerror = (event) => {
      worker.terminate();
      reject(new Error(event.message || "the layout could not be computed"));
    };
    worker.onmessage = ({ data }: MessageEvent<ForceAnswer>) => {
      if (data.positions === null) {
        progress(data.progress);
        return;
      }
      worker.terminate();
      const placed: Placed = { nodes: new Map(), edges: new Map(), clusters: [], bounds: bounds([]), map: true };
      for (const [position, node] of nodes.entries()) {
        const x = data.positions[2 * position] ?? 0;
        const y = data.positions[2 * position + 1] ?? 0;
        placed.nodes.set(node.key, { x: x - MAP_RADIUS, y: y - MAP_RADIUS, width: 2 * MAP_RADIUS, height: 2 * MAP_RADIUS });
      }
      placed.bounds = bounds(placed.nodes.values());
      resolve(placed);
    };
    worker.postMessage(question);
  });
}

/** Radius of a location on a map. */
export const MAP_RADIUS = 5;
