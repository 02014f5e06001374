import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { editor } from "./build/editor.ts";
import { layoutWorkers } from "./build/workers.ts";
import { singleFile } from "./build/single-file.ts";

/** `vite build` makes the served page; `vite build --mode report` the single file of reports. */
export default defineConfig(({ mode }) => {
  const report = mode === "report";
  return {
    base: "./",
    publicDir: report ? false : "public",
    plugins: [layoutWorkers(report), editor(report), svelte(), ...(report ? [singleFile()] : [])],
    build: {
      target: "es2022",
      emptyOutDir: !report,
      modulePreload: false,
      chunkSizeWarningLimit: 2000,
      reportCompressedSize: false,
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: "index.html",
        output: {
          // Fixed names: the bundle is checked in, and a change should be seen as one.
          entryFileNames: "assets/page.js",
          chunkFileNames: "assets/[name].js",
          assetFileNames: "assets/[name][extname]",
        },
      },
    },
    worker: {
      // Classic workers also start in a page that was opened from disk.
      format: "iife" as const,
      rolldownOptions: { output: { entryFileNames: "assets/[name].js" } },
    },
    test: { include: ["test/**/*.test.ts"], environment: "node" },
  };
});
