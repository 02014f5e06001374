// Runs as they are followed: the curve, what is waited for, several jobs, and watching from another tab.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browser, door, drawn, look, open, picture, remove, serve } from "./stage.mjs";

const waiting = "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.02)\n";

describe("a run that is followed", () => {
  let chrome, place, server, page, problems, origin;
  const file = (name) => join(place, name);
  const change = (name, how) => {
    const before = readFileSync(file(name), "utf8");
    const after = how(before);
    assert.notEqual(after, before);
    writeFileSync(file(name), after);
  };

  before(async () => {
    place = await door();
    change("door.py", (text) => text.replace(/ +if self\.code is None:\n +self\.code/, "            self.code"));
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

  /** What the server says. */
  async function ask(path) {
    const token = new URL(server.address).searchParams.get("token");
    const answer = await fetch(origin + path, { headers: { "x-ioco-token": token } });
    assert.equal(answer.status, 200, path);
    return answer.json();
  }

  /** The switches that the curve of the page shows after each step. */
  async function curve(steps, total) {
    const figure = page.locator('figure:has(svg[aria-label^="Coverage over"])');
    // The second line is that of the switches.
    const path = await figure.locator("g > path").nth(1).getAttribute("d");
    const places = [...path.matchAll(/[MH]([\d.]+)[ V]([\d.]+)/g)].map((match) => [Number(match[1]), Number(match[2])]);
    const width = places.at(-1)[0];
    const points = places.map(([x, y]) => [Math.round((x / width) * steps), Math.round(((70 - y) / 70) * total)]);
    return Array.from({ length: steps + 1 }, (_, step) => points.findLast(([at]) => at <= step)?.[1] ?? 0);
  }

  it("has a curve that is exact at every step", async () => {
    await page.goto(origin + "/#/run");
    await page.getByLabel("Seed").fill("5");
    await page.getByLabel("tests").fill("1");
    await page.getByLabel("steps per test").fill("12");
    await page.getByText("start paused").click();
    await page.locator("button.big").click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const id = /run\/(\d+)/.exec(page.url())[1];
    const step = page.getByRole("button", { name: "Step", exact: true });
    const seen = [];
    for (let count = 1; count <= 10; count += 1) {
      await step.click();
      await page.getByText(`test 1, step ${count}`, { exact: true }).waitFor();
      const { coverage } = await ask(`/api/runs/${id}`);
      seen.push([count, await curve(count, coverage.switches[1])]);
    }
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("link", { name: "Run again" }).waitFor();
    const detail = await ask(`/api/runs/${id}`);
    const { trace } = await ask(`/api/runs/${id}/tests/1`);
    const taken = new Set();
    const expected = [0];
    for (const one of trace.steps) {
      for (const id of one.switches) taken.add(id);
      expected.push(taken.size);
    }
    for (const [count, shown] of seen) assert.deepEqual(shown, expected.slice(0, count + 1), `after ${count} steps`);
    assert.deepEqual(await curve(detail.steps, detail.coverage.switches[1]), expected);
    assert.ok(new Set(expected).size > 4, String(expected));
  });

  it("says how long it waits until the system is ready", async () => {
    change("door.py", (text) => text.replace("door = Door()\nfor", `${waiting}door = Door()\nfor`));
    change("ioco.toml", (text) => text.replace("[sut]\n", '[sut]\nready_within = "59s"\n'));
    // The server reads the settings when it starts.
    await server.stop();
    server = await serve(place);
    origin = new URL(server.address).origin;
    ({ page, problems } = await open(chrome, server.address));
    await page.getByLabel("tests").fill("3");
    await page.locator("button.big").click();
    await page.getByText(/waiting for the system to be ready, [1-9]\d* of 59 s/).waitFor();
    await look(page, "run-waiting");
    // Another tab hears of it as well, from its beginning.
    const other = await open(chrome, server.address);
    await other.page.goto(page.url());
    await other.page.getByText(/waiting for the system to be ready, [1-9]\d* of 59 s/).waitFor();
    await other.close();
    writeFileSync(file("go"), "");
    await page.getByText("The model allows everything").waitFor();
    assert.equal(await page.getByText("waiting for").count(), 0);
  });

  it("is carried out by several jobs, each with its row", async () => {
    await page.goto(origin + "/#/run");
    await page.getByLabel("Jobs").fill("0");
    await page.getByText("a whole number from 1 to 256").waitFor();
    await page.getByLabel("Jobs").fill("3");
    // What cannot be done with several is not offered.
    assert.equal(await page.getByText("start paused").count(), 0);
    assert.equal(await page.getByLabel("Speed").count(), 0);
    await page.getByLabel("tests").fill("1000000");
    await page.locator("button.big").click();
    const rows = page.locator("table.workers tbody tr");
    await rows.nth(2).waitFor();
    await page.locator("table.workers tbody tr", { hasText: /job 3/ }).getByText(/test \d+/).waitFor();
    assert.deepEqual(await rows.locator("td:first-child").allInnerTexts(), ["job 1", "job 2", "job 3"]);
    for (const name of ["Pause", "Step"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);
    assert.equal(await page.locator(".speed").count(), 0);
    await look(page, "run-jobs");
    await picture(page, "page-jobs");
    await page.keyboard.press("x");
    await page.getByRole("link", { name: "Run again" }).waitFor();
    await page.getByText("stopped").first().waitFor();
  });

  it("is watched from a tab that did not start it", async () => {
    await page.goto(origin + "/#/run");
    await page.getByLabel("Jobs").fill("");
    await page.getByLabel("tests").fill("4");
    await page.getByLabel("Seed").fill("9");
    await page.locator("button.big").click();
    await page.getByText("The model allows everything").waitFor();
    const other = await open(chrome, server.address);
    await other.page.goto(page.url());
    await other.page.getByText("run again on every change").click();
    const before = other.page.url();
    change("door.py", (text) => text + "\n# changed\n");
    await other.page.waitForURL((url) => url.href !== before && /#\/run\/\d+/.test(url.href));
    await other.page.getByText("The model allows everything").waitFor();
    const again = await ask(`/api/runs/${/run\/(\d+)/.exec(other.page.url())[1]}`);
    assert.deepEqual([again.tests, again.seed], [4, 9]);
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  it("names the adapter that has to connect", async () => {
    const listener = createServer();
    await new Promise((done) => listener.listen(0, "127.0.0.1", done));
    const { port } = listener.address();
    await new Promise((done) => listener.close(done));
    change("ioco.toml", (text) => text.replace(/^command = .*$/m, `tcp_listen = "127.0.0.1:${port}"`));
    await server.stop();
    server = await serve(place);
    ({ page, problems } = await open(chrome, server.address));
    await page.locator("button.big").click();
    await page.getByText(`waiting for the system to connect to 127.0.0.1:${port}`).waitFor();
    await look(page, "run-adapter");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("link", { name: "Run again" }).waitFor();
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});

describe("a failure and several jobs", () => {
  it("is replayed and shrunk by them", async () => {
    const place = await door();
    const server = await serve(place);
    const chrome = await browser();
    try {
      const { page, problems } = await open(chrome, server.address);
      await drawn(page);
      await page.locator("button.big").click();
      await page.locator(".side .failure").first().waitFor();
      await page.getByRole("link", { name: "Run again" }).waitFor();
      await page.locator(".side .failure").first().click();
      await page.locator(".step.deviation").first().waitFor();
      await page.getByLabel("jobs").fill("3");
      const asked = [];
      page.on("request", (request) => {
        if (/\/(replay|shrink)$/.test(request.url())) asked.push(JSON.parse(request.postData()).jobs);
      });
      await page.getByRole("button", { name: "Replay" }).click();
      await page.getByText("Still failing").waitFor();
      await page.getByRole("button", { name: "Shrink", exact: true }).click();
      await page.locator('.job[data-state="finished"]').waitFor();
      assert.deepEqual(asked, [3, 3]);
      assert.deepEqual(problems, []);
    } finally {
      await chrome.close();
      await server.stop();
      remove(dirname(place));
    }
  });
});
