// What the page says of runs and failures: one verdict, what is going on, what became of a failure.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browser, door, drawn, ioco, look, open, remove, serve } from "./stage.mjs";

describe("runs and failures", () => {
  let chrome, place, server, page, problems, origin;

  before(async () => {
    place = await door();
    // Nothing is said of the number of tests: the page names what an empty field means.
    const file = join(place, "ioco.toml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^tests = 100.*$/m, ""));
    await assert.rejects(ioco(place, "test", "--any"), { code: 1 });
    await assert.rejects(ioco(place, "test", "--sut", "false", "--no-known"), { code: 3 });
    server = await serve(place);
    origin = new URL(server.address).origin;
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(dirname(place));
  });

  it("say what an empty field means", async () => {
    const tests = page.getByLabel("tests");
    await tests.waitFor();
    assert.equal(await tests.getAttribute("placeholder"), "100");
    await page.getByLabel("time").fill("5m");
    assert.equal(await tests.getAttribute("placeholder"), "no limit");
    await page.getByLabel("time").fill("");
  });

  it("have one verdict on every view", async () => {
    const said = async (where) => (await page.locator(where).allInnerTexts()).map((text) => text.replace(/\s/g, ""));
    await page.locator(".last .badge").nth(1).waitFor();
    assert.deepEqual(await said(".last .badge"), ["!error", "✗fail"]);
    await page.goto(origin + "/#/run/1");
    await page.getByRole("heading", { name: "Run 1", exact: true }).waitFor();
    assert.deepEqual(await said(".side .spread .row .badge"), ["✗fail"]);
    await look(page, "run-failed");
    await page.goto(origin + "/#/history");
    await page.locator("tbody tr").nth(1).waitFor();
    assert.deepEqual(await said("tbody .badge"), ["!error", "✗fail"]);
  });

  it("leave a run without a step out of the coverage", async () => {
    const row = page.locator("tbody tr", { hasText: "error" });
    assert.deepEqual((await row.locator("td.right").allInnerTexts()).slice(3, 5), ["–", "–"]);
    await look(page, "history");
  });

  it("ask once for a run that is not there", async () => {
    let asked = 0;
    const count = (request) => {
      if (request.url().endsWith("/api/runs/99")) asked += 1;
    };
    page.on("request", count);
    await page.goto(origin + "/#/run/99");
    await page.getByRole("alert").getByText("there is no run '99'").waitFor();
    await page.goto(origin + "/#/history");
    await page.locator("tbody tr").first().waitFor();
    assert.equal(asked, 1);
    page.off("request", count);
    // The server answered 404, which the browser writes to its console.
    problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes("404")));
  });

  it("show the speed that was chosen, the fastest on the right", async () => {
    await page.goto(origin + "/#/run");
    const slider = page.getByLabel("Speed");
    assert.equal(await slider.inputValue(), await slider.getAttribute("max"));
    await slider.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.getByText("20 ms a step").waitFor();
    await page.getByText("start paused").click();
    await page.locator("button.big").click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.locator(".speed", { hasText: "20 ms a step" }).waitFor();
  });

  it("say that a run is paused, in every tab, and let it be found there", async () => {
    await page.goto(origin + "/#/model");
    await page.locator("header a.button", { hasText: "Paused" }).waitFor();
    const [tab] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("link", { name: "History" }).click({ modifiers: ["ControlOrMeta"] }),
    ]);
    await tab.getByRole("heading", { name: "History" }).waitFor();
    await tab.locator("header a.button", { hasText: "Paused" }).click();
    await tab.getByRole("button", { name: "Resume" }).waitFor();
    await tab.locator(".speed", { hasText: "20 ms a step" }).waitFor();
    await tab.close();
  });

  it("name silence once", async () => {
    await page.locator("header a.button", { hasText: "Paused" }).click();
    const step = page.getByRole("button", { name: "Step", exact: true });
    for (let count = 0; count < 3; count += 1) {
      await step.click();
      await page.waitForTimeout(100);
    }
    await page.locator(".allowed .chips").first().waitFor();
    const chips = await page.locator(".allowed .chips").first().locator(".chip").allInnerTexts();
    assert.deepEqual(chips, [...new Set(chips)]);
    await look(page, "run-paused");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("link", { name: "Run again" }).waitFor();
  });

  it("explain the trace that is looked at, and count its rows", async () => {
    await page.goto(origin + "/#/failures");
    await page.locator(".failure").first().click();
    await page.locator(".step.deviation").first().waitFor();
    const why = async () => page.locator(".why .chip.bad").innerText();
    const rows = async () => Number(await page.locator('[role="option"]').last().locator(".number").innerText());
    const shrunk = { observed: await why(), rows: await rows() };
    await look(page, "failure");
    assert.equal(await page.getByRole("button", { name: /^Shrunk/ }).innerText(), `Shrunk ${shrunk.rows}`);
    await page.getByRole("button", { name: /^Original/ }).click();
    await page.locator('[role="listbox"]').focus();
    await page.keyboard.press("End");
    assert.equal(await page.getByRole("button", { name: /^Original/ }).innerText(), `Original ${await rows()}`);
    // This seed finds a door that refuses the right code, and shrinks it to one that takes a wrong one.
    assert.deepEqual([await why(), shrunk.observed], ["!refused", "!unlocked"]);
    assert.match(await page.getByRole("heading", { level: 1 }).innerText(), /!refused/);
    await look(page, "failure-original");
  });

  it("let a failure be accepted, and opened again", async () => {
    await page.locator("nav .badge", { hasText: "✗ 1" }).waitFor();
    await page.getByRole("button", { name: "Accept …" }).click();
    await page.getByLabel("Why it is accepted").fill("the old lock stays");
    await page.keyboard.press("Enter");
    await page.getByText("accepted: the old lock stays").waitFor();
    await page.locator("nav .badge").waitFor({ state: "detached" });
    // It is tried, and seen, and does not fail the run.
    const { stdout } = await ioco(place, "test", "--tests", "1", "--steps", "2");
    assert.match(stdout, /^ACCEPTED door/m);
    await page.goto(origin + "/#/failures");
    await page.getByRole("heading", { name: "Accepted" }).waitFor();
    await look(page, "failures");
    await page.locator(".failure").first().click();
    await page.getByRole("button", { name: "Reopen" }).click();
    await page.locator("nav .badge", { hasText: "✗ 1" }).waitFor();
  });

  it("say in which run a failure was fixed", async () => {
    const file = join(place, "door.py");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/ +if self\.code is None:\n +self\.code/, "            self.code"));
    const { stderr } = await ioco(place, "test", "--tests", "2");
    const run = /run (\d+)/.exec(stderr)[1];
    await page.goto(origin + "/#/failures");
    await page.reload();
    await page.getByText(`fixed in run ${run}`).waitFor();
    await page.locator("nav .badge").waitFor({ state: "detached" });
    await look(page, "failures-fixed");
    const listed = await ioco(place, "failures", "--all");
    assert.match(listed.stdout, new RegExp(`fixed in run ${run}`));
    assert.equal((await ioco(place, "failures")).stdout, "");
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
