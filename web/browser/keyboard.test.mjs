// Everything that matters without a mouse.

import assert from "node:assert/strict";
import { dirname } from "node:path";
import { after, before, describe, it } from "node:test";
import { browser, door, drawn, open, picture, remove, serve } from "./stage.mjs";

describe("the keyboard", () => {
  let chrome, place, server, page, problems;

  before(async () => {
    place = await door();
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
    await drawn(page);
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(dirname(place));
  });

  it("goes to every view", async () => {
    await page.locator("body").press("1");
    for (const [key, name] of [["1", "Model"], ["3", "Failures"], ["4", "Explore"], ["5", "Goals"], ["6", "History"], ["2", "Run"]]) {
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press(key);
      await page.locator('nav a[aria-current="page"]', { hasText: name }).waitFor();
    }
  });

  it("lists its shortcuts", async () => {
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("searches the graph and walks through it", async () => {
    await page.keyboard.press("1");
    await drawn(page);
    await page.keyboard.press("/");
    await page.keyboard.type("opened");
    await page.locator("li[role=option]").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/location=\d+/);
    const first = page.url();
    await page.keyboard.press("ArrowUp");
    await page.waitForURL((url) => url.href !== first);
    await page.locator(".node.selected").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".node.selected").waitFor({ state: "detached" });
  });

  it("runs, opens the failure and walks through its steps", async () => {
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("n");
    await page.locator("button.big").waitFor();
    await page.locator("button.big").focus();
    await page.keyboard.press("Enter");
    const failure = page.locator(".side a.failure").first();
    await failure.waitFor();
    await failure.focus();
    await page.keyboard.press("Enter");
    await page.locator(".step.deviation").waitFor();
    const chosen = page.locator('[role="option"][aria-selected="true"] .number');
    const last = Number(await chosen.innerText());
    await page.keyboard.press("ArrowUp");
    assert.equal(Number(await chosen.innerText()), last - 1);
    await page.keyboard.press("Home");
    assert.equal(await chosen.innerText(), "1");
    await page.keyboard.press("o");
    await page.waitForURL(/original/);
    await page.keyboard.press("r");
    await page.getByText("Still failing").waitFor();
  });

  it("reaches every control in a narrow window too", async () => {
    await page.setViewportSize({ width: 620, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 620, `the page is ${wide} wide`);
    await picture(page, "page-narrow");
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("Tab");
    assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY");
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
