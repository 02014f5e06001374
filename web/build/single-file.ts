/**
 * Puts script and style of a built page into its html, and a mark where the data of a report
 * belongs: one file, which needs nothing else.
 */

import type { Plugin } from "vite";

/** `ioco report` puts the data in the place of the mark. */
const DATA = '<script type="application/json" id="ioco-report">__IOCO_REPORT__</script>\n    ';

export function singleFile(): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    transformIndexHtml: (html) => replaceOnce(html, /(?=<noscript>)/, DATA),
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const page = Object.values(bundle).find((item) => item.fileName.endsWith(".html"));
        if (page?.type !== "asset") throw new Error("no html in the bundle");
        let html = String(page.source);
        for (const item of Object.values(bundle)) {
          if (item === page) continue;
          const name = item.fileName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
          if (item.type === "chunk") {
            // The page's text must not end the script element early.
            const code = item.code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
            html = replaceOnce(html, new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`), "");
            html = replaceOnce(html, /<\/body>/, `<script type="module">${code}</script>\n</body>`);
          } else if (item.fileName.endsWith(".css")) {
            const link = new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`);
            html = replaceOnce(html, link, `<style>${String(item.source)}</style>`);
          } else {
            throw new Error(`${item.fileName} would be missing in the single file`);
          }
          delete bundle[item.fileName];
        }
        page.source = html;
        page.fileName = "report.html";
      },
    },
  };
}

function replaceOnce(text: string, what: RegExp, by: string): string {
  if (!what.test(text)) throw new Error(`${what} is not in the page`);
  return text.replace(what, () => by);
}
