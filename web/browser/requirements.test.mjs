// Requirements that a model cites: in the run, and in the failure that touches them.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import { browser, door, ioco, open, remove } from "./stage.mjs";

describe("requirements", () => {
  let chrome, place, page, problems;

  before(async () => {
    place = await door();
    const model = join(place, "door.aml");
    const cited = readFileSync(model, "utf8")
      .replace("process('door') {", "requirement 'R-2', 'Nobody asks for it.'\nprocess('door') {")
      .replace("  state 'closed'\n  repeat {", "  state 'closed'\n  requirement 'R-1', 'A closed door opens.'\n  repeat {")
      .replace("  state 'locked'\n  repeat {", "  state 'locked'\n  requirement 'R-3', 'A wrong code is refused.'\n  repeat {");
    writeFileSync(model, cited);
    const file = join(place, "report.html");
    // The planted bug makes `ioco test` end with 1.
    await assert.rejects(ioco(place, "test", "--seed", "1", "--tests", "200"), { code: 1 });
    await ioco(place, "report", "--format", "html", "-o", file);
    chrome = await browser();
    ({ page, problems } = await open(chrome, pathToFileURL(file).href));
  });

  after(async () => {
    await chrome?.close();
    if (place) remove(dirname(place));
  });

  it("are listed with the steps that showed them and the failures that touch them", async () => {
    const table = page.getByRole("table", { name: "Requirements" });
    await table.waitFor();
    const row = (id) => table.getByRole("row").filter({ hasText: id }).innerText();
    assert.match(await row("R-1"), /A closed door opens\.[^]*\d+ steps?/);
    assert.match(await row("R-2"), /Nobody asks for it\.[^]*not shown/);
    await table.getByText("touched by").first().waitFor();
  });

  it("are named by the failure", async () => {
    await page.locator(".side .failure").first().click();
    assert.match(await page.locator(".why").innerText(), /requirements\s+R-[13]/i);
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
