// Reports of an old run, among three runs, and of what they do not hold.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import { browser, door, drawn, ioco, look, open, remove } from "./stage.mjs";

describe("the report of an old run", () => {
  let chrome, place, file, page, problems;

  before(async () => {
    place = await door();
    file = join(place, "report.html");
    await assert.rejects(ioco(place, "test", "--failures", "0"), { code: 1 });
    await assert.rejects(ioco(place, "test", "--sut", "false"), { code: 3 });
    await assert.rejects(ioco(place, "test"), { code: 1 });
    await ioco(place, "report", "1", "--format", "html", "-o", file);
    chrome = await browser();
    ({ page, problems } = await open(chrome, pathToFileURL(file).href));
  });

  after(async () => {
    await chrome?.close();
    if (place) remove(dirname(place));
  });

  it("opens with its own run, not with the newest", async () => {
    await drawn(page);
    await page.getByRole("heading", { name: "Run 1", exact: true }).waitFor();
    await page.locator(".side .badge.bad", { hasText: "fail" }).first().waitFor();
    await look(page, "report-old-run");
  });

  it("counts the failures that it lists, and gives each test to its own", async () => {
    const listed = await page.locator(".side .failure").count();
    const counted = await page.locator(".numbers .failing b").innerText();
    assert.equal(counted, `✗ ${listed}`);
    const blamed = await page.locator(".tests td a.mono").allInnerTexts();
    assert.equal(new Set(blamed).size, listed);
  });

  it("draws its curve over the steps that it took", async () => {
    const steps = Number((await page.locator(".numbers div", { hasText: "steps" }).locator("b").innerText()).replace(/\D/g, ""));
    const ticks = await page.locator('figure:has(svg[aria-label^="Coverage over"]) text.foot').allTextContents();
    assert.ok(ticks.length > 1);
    assert.ok(Math.max(...ticks.map(Number)) <= steps, `${ticks} of ${steps}`);
  });

  it("links to no test that it does not hold", async () => {
    const numbers = await page.locator(".tests td:first-child a").allInnerTexts();
    assert.ok(numbers.length > 0);
    await page.locator(".tests td:first-child a").last().click();
    await page.locator('[role="listbox"] [role="option"]').first().waitFor();
  });

  it("lists three runs, and links to the one that it holds", async () => {
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("6");
    await page.locator("tbody tr").nth(2).waitFor();
    assert.deepEqual(await page.locator("tbody a").allInnerTexts(), ["1"]);
    await look(page, "report-history");
    await page.locator("tbody a").click();
    await page.getByRole("heading", { name: "Run 1", exact: true }).waitFor();
  });

  it("says of a run that it does not hold that it does not, and goes on", async () => {
    await page.evaluate(() => (location.hash = "#/run/3"));
    await page.getByRole("alert").getByText("run 3 is not in this report").waitFor();
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { name: "Run 1", exact: true }).waitFor();
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});

describe("a report without a run", () => {
  it("is refused in words", async () => {
    const place = await door();
    await assert.rejects(ioco(place, "report", "--format", "html"), (error) => {
      assert.equal(error.code, 2);
      assert.match(error.stderr, /no run has been recorded here/);
      return true;
    });
    remove(dirname(place));
  });
});
