/** What is said between the page and the worker that makes maps. */

export interface ForceQuestion {
  nodes: number;
  initial: number;
  edges: [number, number][];
}

export interface ForceAnswer {
  progress: number;
  /** x and y of every node, when it is done. */
  positions: Float64Array | null;
}
