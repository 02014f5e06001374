// axe finds nothing on any view, in both themes, wide and narrow.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { browser, door, drawn, ioco, large, look, open, remove, serve } from "./stage.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The page's rules for scripts forbid evaluated text: axe comes through the browser's own door. */
async function admit(page) {
  await page.context().newCDPSession(page).then((session) => session.send("Page.setBypassCSP", { enabled: true }));
  await page.reload();
}

/** Holds what is shown against axe, in both themes, wide and narrow. */
async function check(page, name) {
  for (const [width, height] of [[1280, 800], [620, 900]]) {
    await page.setViewportSize({ width, height });
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.locator(`html[data-theme="${scheme}"]`).waitFor({ state: "attached" });
      // Colours change with a transition.
      await page.waitForTimeout(250);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const found = violations.map((entry) => `${entry.id}: ${entry.help}\n    ${entry.nodes.map((node) => node.target.join(" ") + "  " + (node.any[0]?.message ?? "")).join("\n    ")}`);
      assert.deepEqual(found, [], `${name}, ${scheme}, ${width} wide:\n${found.join("\n")}`);
    }
    await look(page, `axe-${name}-${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 1280, `the page is ${wide} wide`);
}

describe("accessibility", () => {
  let chrome, place, server, page, problems;

  before(async () => {
    place = await door();
    // A run with a failure, and one more to compare it with; the system has a planted bug, so the exit code is 1.
    for (const seed of ["1", "2"]) await ioco(place, "test", "--seed", seed).catch(() => {});
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
    await admit(page);
    await page.locator("nav a").first().waitFor();
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(dirname(place));
  });

  const view = (name) => page.locator("nav a", { hasText: name }).click();

  it("of the model", async () => {
    await view("Model");
    await drawn(page);
    await check(page, "model");
  });

  it("of a selected switch, and of the list", async () => {
    await page.getByRole("button", { name: "List", exact: true }).click();
    await page.getByRole("button", { name: "?unlock(code)" }).first().click();
    await check(page, "list");
    await page.getByRole("button", { name: "List", exact: true }).click();
  });

  it("of the editor", async () => {
    await page.getByRole("button", { name: "Edit" }).click();
    await page.locator(".cm-content").waitFor();
    await check(page, "editor");
    await page.getByRole("button", { name: "Close", exact: true }).click();
  });

  it("of the form of a run", async () => {
    await page.evaluate(() => (location.hash = "#/run"));
    await page.locator("button.big").waitFor();
    await check(page, "form");
  });

  it("of a run and of a test", async () => {
    await page.evaluate(() => (location.hash = "#/run/1"));
    await page.locator(".numbers").waitFor();
    await check(page, "run");
    await page.evaluate(() => (location.hash = "#/run/1/test/1"));
    await page.getByRole("listbox").first().waitFor();
    await check(page, "test");
  });

  it("of the failures and of one", async () => {
    await view("Failures");
    await page.locator("a.failure").first().waitFor();
    await check(page, "failures");
    await page.locator("a.failure").first().click();
    await page.locator(".step.deviation").waitFor();
    await check(page, "failure");
    await page.getByRole("tab", { name: /^Log/ }).click();
    await page.getByLabel("Search the log").waitFor();
    await check(page, "log");
    await page.getByText("More: what").click();
    await page.getByRole("button", { name: "show", exact: true }).click();
    await page.locator("pre.script").waitFor();
    await check(page, "script");
  });

  it("of the exploration", async () => {
    await view("Explore");
    await drawn(page);
    await check(page, "explore");
  });

  it("of a walk on the system", async () => {
    await page.getByRole("link", { name: "On the system itself" }).click();
    await page.getByRole("button", { name: "Start the system" }).click();
    await page.locator("button.take", { hasText: "?open" }).click();
    await page.locator('[role="option"].response').waitFor();
    await check(page, "walk");
    await page.getByRole("button", { name: /End$/ }).click();
    await page.getByRole("button", { name: "Start the system" }).waitFor();
    await check(page, "walk-ended");
  });

  it("of the goals", async () => {
    await view("Goals");
    await page.locator("main").waitFor();
    await check(page, "goals");
  });

  it("of the history and of a comparison", async () => {
    await view("History");
    await page.locator("table").first().waitFor();
    await check(page, "history");
    await page.evaluate(() => (location.hash = "#/compare/1/2"));
    await page.locator("h1").first().waitFor();
    await check(page, "compare");
  });

  it("of a run that goes on", async () => {
    await page.evaluate(() => (location.hash = "#/run"));
    await page.getByLabel("tests").fill("1000");
    await page.getByText("start paused").click();
    await page.locator("button.big").click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.locator(".recent li").first().waitFor();
    await check(page, "run-live");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("link", { name: "Run again" }).waitFor();
  });

  it("of a report in one file", async () => {
    const file = join(dirname(place), "report.html");
    await ioco(place, "report", "1", "--format", "html", "-o", file);
    const live = page;
    const report = await open(chrome, pathToFileURL(file).href, { bypassCSP: true });
    page = report.page;
    try {
      await page.locator(".numbers").waitFor();
      await check(page, "report");
      await page.locator(".side .failure").first().click();
      await page.locator(".step.deviation").waitFor();
      await check(page, "report-failure");
      assert.deepEqual(report.problems, []);
    } finally {
      page = live;
      await report.close();
    }
  });

  it("of the help", async () => {
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await check(page, "help");
    await page.keyboard.press("Escape");
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});

describe("accessibility of a large model", () => {
  let chrome, place, server, page, problems;

  before(async () => {
    place = large();
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
    await admit(page);
    await page.locator("nav a", { hasText: "Model" }).click();
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(place);
  });

  it("as a map", async () => {
    await drawn(page, "map");
    await check(page, "large-map");
  });

  it("around a location", async () => {
    await page.getByRole("button", { name: "Around" }).click();
    await drawn(page, "layered");
    await check(page, "large-around");
  });

  it("as a list", async () => {
    await page.getByRole("button", { name: "List", exact: true }).click();
    await page.getByLabel("Filter the list").waitFor();
    await check(page, "large-list");
  });

  it("without a run in the history", async () => {
    await page.locator("nav a", { hasText: "History" }).click();
    await page.getByRole("heading", { name: "History" }).waitFor();
    await check(page, "history-empty");
    await page.locator("nav a", { hasText: "Failures" }).click();
    await page.locator("main h1, main h2").first().waitFor();
    await check(page, "failures-empty");
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});

describe("accessibility of what goes wrong", () => {
  let chrome, place, server, page, problems;

  before(async () => {
    place = await door();
    await ioco(place, "test", "--sut", "false").catch(() => {});
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
    await admit(page);
    await page.locator("nav a").first().waitFor();
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(dirname(place));
  });

  it("of a run with an error", async () => {
    await page.evaluate(() => (location.hash = "#/run/1"));
    await page.locator(".side .badge", { hasText: "error" }).first().waitFor();
    await check(page, "run-error");
  });

  it("of a run that is not there", async () => {
    await page.evaluate(() => (location.hash = "#/run/99"));
    await page.getByRole("alert").getByText("there is no run").waitFor();
    await check(page, "run-missing");
    // The server answered 404, which the browser writes to its console.
    problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes("404")));
  });

  it("of a model with errors", async () => {
    await page.locator("nav a", { hasText: "Model" }).click();
    await drawn(page);
    const file = join(place, "door.aml");
    writeFileSync(file, readFileSync(file, "utf8").replace("receive 'lock'", "receive 'lokc'"));
    await page.locator(".message.wrong").waitFor();
    await check(page, "model-errors");
    await page.evaluate(() => (location.hash = "#/run"));
    await page.locator("button.big").waitFor();
    await check(page, "form-errors");
  });

  it("of a page without its token", async () => {
    const bare = await open(chrome, new URL(server.address).origin + "/");
    await admit(bare.page);
    await bare.page.getByRole("button", { name: "Try again" }).waitFor();
    await check(bare.page, "token");
    await bare.close();
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
