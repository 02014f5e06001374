// The story of a first hour: run, see it fail, shrink, read why, mend the system, replay.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browser, door, drawn, open, picture, remove, serve } from "./stage.mjs";

describe("the page of a door with a bug", () => {
  let chrome, place, server, page, problems;

  before(async () => {
    place = await door();
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(dirname(place));
  });

  const places = () =>
    page.locator(".node[data-locations]").evaluateAll((nodes) =>
      Object.fromEntries(nodes.map((node) => [node.dataset.locations, node.getAttribute("transform")])),
    );
  let before_run;

  it("keeps the token out of the visible address", async () => {
    await page.getByRole("button", { name: "Run", exact: false }).first().waitFor();
    assert.equal(new URL(page.url()).search, "");
  });

  it("shows the graph and one obvious thing to do", async () => {
    await drawn(page);
    assert.equal(await page.locator(".node[data-locations]").count(), 10);
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "▶ Run");
    before_run = await places();
    await picture(page, "page-start");
  });

  it("finds the planted bug when Run is pressed, and draws it on the graph", async () => {
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/run\/.+/);
    await page.locator(".side .failure").first().waitFor();
    await page.locator(".node.failed").first().waitFor();
    await page.locator(".edge.counted:not(.heat-0)").first().waitFor();
    await page.getByRole("link", { name: "Run again" }).waitFor();
    await picture(page, "page-run");
  });

  it("leaves the layout where it was", async () => {
    assert.deepEqual(await places(), before_run);
  });

  it("lists the tests of the run, each with its steps", async () => {
    const run = page.url();
    await page.locator(".tests a").first().click();
    await page.locator('[role="listbox"] [role="option"]').first().waitFor();
    assert.match(page.url(), /#\/run\/.+\/test\/\d+/);
    await page.goto(run);
    await page.locator(".side .failure").first().waitFor();
  });

  it("opens the failure at the step that deviates", async () => {
    await page.locator(".side .failure").first().click();
    await page.waitForURL(/#\/failure\/\w+/);
    await page.locator(".step.deviation").first().waitFor();
    assert.equal(await page.locator('[role="option"][aria-selected="true"].deviation').count(), 1);
  });

  it("shrinks it and draws the shrinking progress", async () => {
    await page.getByRole("button", { name: "Shrink" , exact: true }).click();
    await page.locator('.job[data-state="finished"]').waitFor();
    await page.getByRole("button", { name: /Shrunk \d+/ }).waitFor();
    await page.locator(".progress svg path").first().waitFor();
  });

  it("says why in words, and shows the line of the model", async () => {
    const why = await page.locator(".why").innerText();
    assert.match(why, /expected\s+!\w+/);
    assert.match(why, /because/);
    await page.locator(".line.here").waitFor();
    assert.match(await page.locator(".line.here").innerText(), /receive 'unlock'/);
    await picture(page, "page-failure");
  });

  it("names run, trace and step in the address", async () => {
    await page.locator('[role="listbox"]').focus();
    await page.keyboard.press("Home");
    assert.match(page.url(), /#\/failure\/\w+\/shrunk\/step\/1$/);
    await page.getByText(/secret:/).first().waitFor();
    // The bytes of the shrunk trace too: it was run once more.
    await page.getByText('"stimulus":').first().waitFor();
    const address = page.url();
    const other = await open(chrome, server.address);
    await other.page.goto(address.replace("/#", `/${new URL(server.address).search}#`));
    await other.page.locator('[role="option"][aria-selected="true"]').waitFor();
    assert.equal(await other.page.locator('[role="option"][aria-selected="true"] .number').innerText(), "1");
    await other.close();
  });

  it("shows the original trace as well", async () => {
    await page.getByRole("button", { name: /Original/ }).click();
    assert.match(page.url(), /original/);
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.locator(".node.failed, .node.current").first().waitFor();
    await page.getByRole("button", { name: /Shrunk/ }).click();
    await picture(page, "page-failure-graph");
  });

  it("replays it: still failing", async () => {
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Still failing").waitFor();
  });

  it("says that it is fixed when the system is mended", async () => {
    const file = join(place, "door.py");
    const text = readFileSync(file, "utf8");
    const mended = text.replace(/ +if self\.code is None:\n +self\.code/, "            self.code");
    assert.notEqual(mended, text);
    writeFileSync(file, mended);
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Fixed: the system now does what the model says").waitFor();
    await picture(page, "page-fixed");
  });

  it("passes a new run, step by step and at full speed", async () => {
    await page.goto(new URL(server.address).origin + "/#/run");
    await page.getByLabel("tests").fill("40");
    await page.getByText("start paused").click();
    await page.locator("button.big").click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const step = page.getByRole("button", { name: "Step", exact: true });
    for (let count = 0; count < 4; count += 1) {
      await step.click();
      await page.waitForTimeout(150);
    }
    await page.locator(".node.current").first().waitFor();
    await page.locator(".recent li").first().waitFor();
    await picture(page, "page-run-live");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("The model allows everything").waitFor();
  });

  it("compares the two runs", async () => {
    await page.keyboard.press("6");
    await page.waitForURL(/#\/history/);
    const boxes = page.locator('tbody input[type="checkbox"]');
    await boxes.nth(1).waitFor();
    await picture(page, "page-history");
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await page.getByRole("button", { name: "Compare two runs" }).click();
    await page.waitForURL(/#\/compare\//);
    await page.getByText("Failures that are gone").waitFor();
  });

  it("walks the model by hand and tests from there", async () => {
    await page.goto(new URL(server.address).origin + "/#/explore");
    await page.locator("button.take", { hasText: "?lock" }).waitFor();
    await page.locator(".entry", { hasText: "?lock" }).locator("input").fill("77");
    await page.locator("button.take", { hasText: "?lock" }).click();
    await page.locator("button.take", { hasText: "!locked" }).click();
    await page.getByText("locked {secret: 77}").first().waitFor();
    await picture(page, "page-explore");
    await page.getByRole("button", { name: "Test from here" }).click();
    await page.getByText("Every test begins with").waitFor();
    await page.getByLabel("tests").fill("3");
    await page.locator("button.big").click();
    await page.waitForURL(/#\/run\/.+/);
    // The failure that was found before is tried first.
    await page.locator(".tests", { hasText: "known failure" }).waitFor();
    await page.locator(".tests td:first-child a").last().click();
    await page.locator('[role="listbox"]').focus();
    await page.keyboard.press("Home");
    await page.locator('[role="option"]', { hasText: "?lock(code=77)" }).first().waitFor();
  });

  it("finds a test for a switch that is clicked on", async () => {
    await page.goto(new URL(server.address).origin + "/#/explore");
    await drawn(page);
    await page.locator(".label", { hasText: "!unlocked" }).first().click();
    await page.getByRole("button", { name: "Find a test for it" }).click();
    await page.waitForURL(/#\/goals\?goal=/);
    await page.locator('[role="option"]', { hasText: "!unlocked" }).first().waitFor();
  });

  it("decides every goal and runs the tests behind them", async () => {
    await page.goto(new URL(server.address).origin + "/#/goals");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("button", { name: /✓ covered 14/ }).waitFor();
    await picture(page, "page-goals");
    await page.getByRole("button", { name: /Run these/ }).click();
    await page.waitForURL(/#\/run\/.+/);
    await page.getByText("The model allows everything").waitFor();
  });

  it("shows the model with its text", async () => {
    await page.keyboard.press("1");
    await drawn(page);
    await page.locator(".node", { hasText: "locked" }).first().click();
    await page.getByText("leaves with").waitFor();
    assert.match(await page.locator(".line.here").innerText(), /state 'locked'/);
    await picture(page, "page-model");
  });

  it("is readable in the dark", async () => {
    const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator('html[data-theme="dark"]').waitFor({ state: "attached" });
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.notEqual(light, dark);
    await picture(page, "page-dark");
    await page.keyboard.press("t");
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), light);
    await page.keyboard.press("t");
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("asked for nothing from elsewhere, and no script failed", () => {
    assert.deepEqual(problems, []);
  });
});

describe("the server's refusals", () => {
  it("are explained: a page without a token says where to get one", async () => {
    const place = await door();
    const server = await serve(place);
    const chrome = await browser();
    const { page } = await open(chrome, new URL(server.address).origin + "/");
    await page.getByText("token").first().waitFor();
    assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 1);
    await chrome.close();
    await server.stop();
    remove(dirname(place));
  });
});
