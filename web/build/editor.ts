/**
 * The editor of model text. The served page loads it when somebody edits; a report, where nothing can be edited, does
 * not carry it.
 */

import type { Plugin } from "vite";

const NAME = "virtual:editor";

const SERVED = `
export const openEditor = async (place, options) => (await import("/src/edit/editor.ts")).openEditor(place, options);
`;
const NONE = "export const openEditor = null;";

export function editor(inReport: boolean): Plugin {
  return {
    name: "editor",
    resolveId: (id) => (id === NAME ? "\0" + NAME : null),
    load: (id) => (id !== "\0" + NAME ? null : inReport ? NONE : SERVED),
  };
}
