// Editing the model in the page, and watching: what is typed is checked by the language itself, saved to the file,
// and followed on every view.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browser, door, drawn, look, open, remove, serve } from "./stage.mjs";

describe("editing the model", () => {
  let chrome, place, server, page, problems, text;
  const file = () => join(place, "door.aml");
  const message = () => page.locator(".message.wrong");

  before(async () => {
    place = await door();
    text = readFileSync(file(), "utf8");
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
    await page.locator('nav a', { hasText: "Model" }).click();
    await drawn(page);
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(dirname(place));
  });

  it("names locations by what led there, and writes guards and updates on switches", async () => {
    const names = await page.locator(".node text").allTextContents();
    assert.ok(names.some((name) => /after \?/.test(name)), names.join(" | "));
    assert.ok(!names.some((name) => /^_\d/.test(name)), names.join(" | "));
    const details = await page.locator(".label text.detail").allTextContents();
    assert.ok(details.some((line) => line.includes("secret := code")), details.join(" | "));
    assert.ok(details.some((line) => /^\[.*\]$/.test(line)), details.join(" | "));
    await look(page, "model");
  });

  it("lists what the graph shows, for screen readers", async () => {
    await page.getByRole("button", { name: "List", exact: true }).click();
    const list = page.getByRole("region", { name: /Locations and switches/ });
    await list.getByRole("button", { name: "?unlock(code)" }).first().click();
    await page.waitForURL(/switch=\d+/);
    await look(page, "list");
    await page.getByRole("button", { name: "List", exact: true }).click();
    await drawn(page);
  });

  it("underlines a mistake, suggests the name, and repairs it", async () => {
    await page.getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("textbox", { name: "Text of door.aml" });
    await editor.waitFor();
    await page.evaluate(() => document.querySelector(".cm-content").scrollIntoView());
    await editor.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.type("\n  state 'more'\n  receive 'opne'\n");
    await page.locator(".cm-lintRange-error").first().waitFor();
    await page.locator(".cm-lintRange-error").first().hover();
    const fix = page.getByRole("button", { name: "Write open" });
    await fix.waitFor();
    await look(page, "editor");
    await fix.click();
    await page.locator(".cm-lintRange-error").waitFor({ state: "detached" });
    assert.equal(readFileSync(file(), "utf8"), text, "nothing is written before it is saved");
  });

  it("completes the names of the model", async () => {
    await page.keyboard.press("Control+End");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.type("  receive '");
    await page.keyboard.press("Control+Space");
    await page.locator(".cm-tooltip-autocomplete li", { hasText: "unlock" }).first().waitFor();
    await page.keyboard.press("Escape");
    for (let i = 0; i < "  receive ''".length; i++) await page.keyboard.press(i === 0 ? "Delete" : "Backspace");
  });

  it("saves to the file, and a text with errors keeps the last graph on every view", async () => {
    const editor = page.getByRole("textbox", { name: "Text of door.aml" });
    await editor.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(text.replace("receive 'open'", "receive 'opne'"));
    await page.keyboard.press("Control+s");
    await message().waitFor();
    assert.ok(readFileSync(file(), "utf8").includes("'opne'"));
    assert.match(await message().innerText(), /door\.aml:\d+/);
    assert.match(await message().innerText(), /last version without errors/);
    for (const name of ["Run", "Failures", "Explore", "History"]) {
      await page.locator("nav a", { hasText: name }).click();
      await message().waitFor();
    }
    await page.locator("nav a", { hasText: "Model" }).click();
    await drawn(page);
    await page.locator(".node", { hasText: "closed" }).first().waitFor();
    await look(page, "wrong");
    await message().getByRole("button").click();
    const line = Number(/door\.aml:(\d+)/.exec(await message().innerText())[1]);
    await page.locator(`.line.wrong[data-line="${line}"]`).waitFor();
  });

  it("follows what another program writes", async () => {
    writeFileSync(file(), text);
    await message().waitFor({ state: "detached" });
    await page.locator(".line.wrong").waitFor({ state: "detached" });
  });

  it("runs again when the system changes", async () => {
    await page.locator("body").press("n");
    await page.getByLabel(/run again whenever/).check();
    await page.locator("button.big").click();
    await page.locator(".side a.failure").first().waitFor();
    await page.waitForURL(/run\/1$/);
    await page.locator("a.again").waitFor();
    const system = join(place, "door.py");
    writeFileSync(system, readFileSync(system, "utf8") + "\n# changed\n");
    await page.waitForURL(/run\/2$/);
    await page.locator(".side a.failure").first().waitFor();
    const legend = await page.locator(".legend").boundingBox();
    const frame = await page.locator(".frame[data-placed]").boundingBox();
    assert.ok(legend.y >= frame.y + frame.height - 1, "the legend stands below the graph");
    await look(page, "run-again");
  });

  // Stopping a run that has just ended is refused (409); the page then starts the next one.
  const isRefusedStop = (problem) => /409 \(Conflict\)/.test(problem);

  it("met no problem", () => assert.deepEqual(problems.filter((problem) => !isRefusedStop(problem)), []));
});
