// The rendered book in a browser, chapter by chapter: every link leads somewhere, every picture is there, nothing is
// wider than the window. `cargo xtask book` runs it; `IOCO_LOOK` names a folder for pictures to look at.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { browser } from "./stage.mjs";

const folder = process.argv[2];
const pictures = process.env.IOCO_LOOK;
const chapters = readdirSync(folder).filter((name) => name.endsWith(".html") && !["404.html", "toc.html", "print.html", "index.html"].includes(name));
const wrong = [];

const chrome = await browser();
const page = await (await chrome.newContext()).newPage();
page.on("pageerror", (error) => wrong.push(`${page.url()}: ${error.message}`));

/** The anchors of each chapter, for links from the others. */
const anchors = new Map();
for (const name of chapters) {
  await page.goto(pathToFileURL(join(folder, name)).href);
  anchors.set(name, new Set(await page.locator("main [id]").evaluateAll((all) => all.map((one) => one.id))));
}

for (const name of chapters) {
  const address = pathToFileURL(join(folder, name)).href;
  for (const theme of ["light", "navy"]) {
    for (const width of [1280, 420]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(address);
      await page.evaluate((theme) => {
        localStorage.setItem("mdbook-theme", theme);
        localStorage.setItem("mdbook-sidebar", "visible");
      }, theme);
      await page.reload();
      const found = await page.evaluate(() => ({
        links: [...document.querySelectorAll("main a[href]")].map((link) => link.href),
        pictures: [...document.querySelectorAll("main img")].filter((image) => image.naturalWidth === 0).map((image) => image.src),
        wide: document.documentElement.scrollWidth - window.innerWidth,
        theme: document.documentElement.className,
      }));
      if (!found.theme.includes(theme)) wrong.push(`${name}: the theme is '${found.theme}', not ${theme}`);
      for (const picture of found.pictures) wrong.push(`${name}: no picture ${picture}`);
      if (found.wide > 0) wrong.push(`${name}: ${found.wide} pixels wider than a window of ${width}`);
      for (const link of found.links.filter((link) => link.startsWith("file:"))) {
        const target = new URL(link);
        const anchor = decodeURIComponent(target.hash.slice(1));
        target.hash = "";
        const path = fileURLToPath(target);
        const other = chapters.find((chapter) => join(folder, chapter) === path);
        if (!existsSync(path)) wrong.push(`${name}: ${link} leads nowhere`);
        else if (anchor && other && !anchors.get(other).has(anchor)) wrong.push(`${name}: ${other} has no part '${anchor}'`);
      }
      if (pictures) {
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: join(pictures, `${name.replace(".html", "")}-${width}-${theme}.png`), fullPage: true });
      }
    }
  }
}
await chrome.close();
for (const line of new Set(wrong)) console.error(line);
console.error(`${chapters.length} chapters, ${new Set(wrong).size} mistakes`);
process.exit(wrong.length === 0 ? 0 : 1);
