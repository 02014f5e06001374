/** Made by `build/workers.ts`: the workers, as files for the served page, inside it for a report. */
declare module "virtual:layout-workers" {
  export function elkWorker(): Promise<Worker>;
  export function forceWorker(): Worker;
}

declare module "elkjs/lib/elk-api.js" {
  export * from "elkjs/lib/elk-api";
  export { default } from "elkjs/lib/elk-api";
}

/** Made by `build/editor.ts`; a report has none. */
declare module "virtual:editor" {
  export const openEditor:
    | ((place: HTMLElement, options: import("./edit/editor").EditorOptions) => Promise<import("./edit/editor").OpenEditor>)
    | null;
}
