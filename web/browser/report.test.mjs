// The html report: one file, opened from disk, with the same views and nothing to press.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import { browser, door, drawn, ioco, open, picture, remove } from "./stage.mjs";

describe("an html report", () => {
  let chrome, place, file, page, problems;

  before(async () => {
    place = await door();
    file = join(place, "report.html");
    // The planted bug makes `ioco test` end with 1.
    await assert.rejects(ioco(place, "test"), { code: 1 });
    await ioco(place, "report", "--format", "html", "-o", file);
    chrome = await browser();
    ({ page, problems } = await open(chrome, pathToFileURL(file).href));
  });

  after(async () => {
    await chrome?.close();
    if (place) remove(dirname(place));
  });

  it("is small enough to be attached to a ticket", () => {
    assert.ok(statSync(file).size < 2_000_000, `${statSync(file).size} bytes`);
  });

  it("opens with the run, its graph and its failure", async () => {
    await drawn(page);
    await page.locator(".side .failure").first().waitFor();
    await page.locator(".node.failed").first().waitFor();
  });

  it("explains the failure step by step", async () => {
    await page.locator(".side .failure").first().click();
    await page.locator(".step.deviation").waitFor();
    await page.locator(".line.here").waitFor();
    assert.match(await page.locator(".why").innerText(), /because/);
    await picture(page, "page-report");
  });

  it("offers nothing that it cannot do", async () => {
    for (const name of ["Replay", "Shrink", "Find a test for it"]) {
      assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0);
    }
    assert.equal(await page.locator("nav", { hasText: "Explore" }).count(), 0);
  });

  it("has the other views as well", async () => {
    for (const key of ["1", "5", "6", "2"]) {
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press(key);
      await page.locator('nav a[aria-current="page"]').waitFor();
    }
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
