/**
 * The layout workers. The served page loads them as files. A report is one file opened from disk,
 * where a worker can only be made of text that the page carries; ELK's 1.6 MB are carried
 * compressed, and unpacked by the browser. The compressor is a pinned library rather than Node's,
 * whose output may change with its version: the bundle has to be the same on every machine.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "fflate";
import type { Plugin } from "vite";

const NAME = "virtual:layout-workers";
const FORCE = "/src/graph/force.worker.ts";

const SERVED = `
import elk from "elkjs/lib/elk-worker.min.js?url";
import ForceWorker from "${FORCE}?worker";
export const elkWorker = async () => new Worker(elk);
export const forceWorker = () => new ForceWorker();
`;

const carried = (packed: string) => `
import ForceWorker from "${FORCE}?worker&inline";
const packed = "${packed}";
export async function elkWorker() {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const text = await new Response(plain).text();
  return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}
export const forceWorker = () => new ForceWorker();
`;

export function layoutWorkers(inReport: boolean): Plugin {
  return {
    name: "layout-workers",
    resolveId: (id) => (id === NAME ? "\0" + NAME : null),
    load(id) {
      if (id !== "\0" + NAME) return null;
      if (!inReport) return SERVED;
      const file = createRequire(import.meta.url).resolve("elkjs/lib/elk-worker.min.js");
      const packed = gzipSync(readFileSync(file), { level: 9, mtime: 0 });
      return carried(Buffer.from(packed).toString("base64"));
    },
  };
}
