// A model of 1970 locations: laid out off the main thread, searched, and run.

import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { atm, browser, drawn, folder, hasAtm, open, picture, remove, serve } from "./stage.mjs";

describe("the ATM", { skip: hasAtm ? false : "the benchmark models are not here" }, () => {
  let chrome, place, server, page, problems;

  before(async () => {
    place = folder();
    cpSync(dirname(atm), place, { recursive: true });
    writeFileSync(join(place, "ioco.toml"), 'model = "model.aml"\n');
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(place);
  });

  it("can be used while its map is made", async () => {
    await page.locator("button.big").waitFor();
    // The main thread is free: it answers at once, whatever the worker does.
    assert.equal(await page.evaluate(() => 1 + 1), 2);
    await drawn(page, "map");
  });

  it("shows where a run has been", async () => {
    await page.getByRole("combobox", { name: "System" }).selectOption("simulated");
    // The map is what is looked at: strategies that plan take their time on a busy machine.
    await page.getByRole("combobox", { name: "Strategy" }).selectOption("random");
    await page.getByLabel("tests").fill("400");
    await page.getByLabel("steps per test").fill("200");
    await page.locator("button.big").click();
    await page.waitForURL(/#\/run\/.+/);
    await page.getByRole("link", { name: "Run again" }).waitFor();
    await page.locator(".numbers").waitFor();
    // The simulated system was silent in virtual time, which nobody waited for.
    assert.equal(await page.getByText("for silence").count(), 0);
    await picture(page, "page-atm");
    assert.deepEqual(problems, []);
  });

  it("is searched by name, and drawn readably around what was found", async () => {
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("1");
    await drawn(page, "map");
    await page.keyboard.press("/");
    await page.keyboard.type("pin_70");
    await page.locator('[role="option"]').first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("leaves with").waitFor();
    await page.getByRole("button", { name: "Around" }).click();
    await drawn(page, "layered");
    await page.locator(".node.selected", { hasText: "PIN_70" }).waitFor();
    assert.ok((await page.locator(".node[data-locations]").count()) < 80);
    await picture(page, "page-atm-around");
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
