/**
 * The force-directed map of a large model (ForceAtlas2), off the main thread.
 *
 * Nodes start on rings by their distance from the initial location, in the order in which a walk
 * meets them. So the result is the same every time, and the forces have little left to untangle.
 */

import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import type { ForceAnswer, ForceQuestion } from "./force";

const ROUNDS = 24;
/** The side of the square that a location has to itself, on average, in the finished map. */
const SPACING = 40;
/** From this many neighbours on, a location pulls weakly: a hub would draw everything into a heap. */
const HUB = 8;

self.onmessage = ({ data }: MessageEvent<ForceQuestion>) => {
  const graph = new Graph({ type: "undirected", multi: false });
  const { order, depth } = walk(data);
  const rings = Math.max(...depth, 1);
  for (let node = 0; node < data.nodes; node += 1) {
    const angle = ((order[node] ?? 0) / data.nodes) * 2 * Math.PI;
    const radius = (100 * (depth[node] ?? 0)) / rings + 1;
    graph.addNode(String(node), { x: radius * Math.cos(angle), y: radius * Math.sin(angle), size: 1 });
  }
  for (const [from, to] of data.edges) {
    if (!graph.hasEdge(String(from), String(to))) graph.addEdge(String(from), String(to));
  }
  graph.forEachEdge((edge, _attributes, from, to) => {
    const degree = Math.max(graph.degree(from), graph.degree(to));
    graph.setEdgeAttribute(edge, "weight", Math.min(1, (HUB / degree) ** 2));
  });
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    barnesHutOptimize: data.nodes > 500,
    barnesHutTheta: 0.8,
    linLogMode: false,
    edgeWeightInfluence: 1,
    outboundAttractionDistribution: false,
    gravity: 0.02,
    scalingRatio: 2,
    slowDown: 2 + Math.log(data.nodes),
  };
  const iterations = data.nodes > 5000 ? 12 : 25;
  for (let round = 0; round < ROUNDS; round += 1) {
    forceAtlas2.assign(graph, { iterations, settings });
    answer({ progress: (round + 1) / ROUNDS, positions: null });
  }
  const positions = new Float64Array(2 * data.nodes);
  graph.forEachNode((key, { x, y }) => {
    positions[2 * Number(key)] = x as number;
    positions[2 * Number(key) + 1] = y as number;
  });
  scale(positions);
  answer({ progress: 1, positions });
};

function answer(message: ForceAnswer): void {
  self.postMessage(message);
}

/** Distances from the initial node, and the order of a depth-first walk. */
function walk({ nodes, initial, edges }: ForceQuestion): { order: number[]; depth: number[] } {
  const next: number[][] = Array.from({ length: nodes }, () => []);
  for (const [from, to] of edges) {
    next[from]?.push(to);
    next[to]?.push(from);
  }
  const depth = new Array<number>(nodes).fill(-1);
  const order = new Array<number>(nodes).fill(-1);
  let count = 0;
  const starts = [Math.max(initial, 0), ...Array.from({ length: nodes }, (_, node) => node)];
  for (const start of starts) {
    if (depth[start] !== -1) continue;
    depth[start] = 0;
    const queue = [start];
    for (const node of queue) {
      for (const other of next[node] ?? []) {
        if (depth[other] !== -1) continue;
        depth[other] = (depth[node] ?? 0) + 1;
        queue.push(other);
      }
    }
    const stack = [start];
    while (stack.length > 0) {
      const node = stack.pop() as number;
      if (order[node] !== -1) continue;
      order[node] = count;
      count += 1;
      stack.push(...(next[node] ?? []).filter((other) => order[other] === -1).reverse());
    }
  }
  return { order, depth };
}

/** Scales so that every location has room, whatever the forces made of it. */
function scale(positions: Float64Array): void {
  const nodes = positions.length / 2;
  const extent = (offset: number) => {
    const values = Array.from({ length: nodes }, (_, node) => positions[2 * node + offset] ?? 0).sort((a, b) => a - b);
    // Without the outermost: a few that drifted off should not make the rest small.
    const at = (share: number) => values[Math.floor(share * (nodes - 1))] ?? 0;
    return Math.max(1e-6, at(0.98) - at(0.02));
  };
  const factor = (SPACING * Math.sqrt(nodes)) / Math.sqrt(extent(0) * extent(1));
  for (let index = 0; index < positions.length; index += 1) positions[index] = (positions[index] ?? 0) * factor;
}
