// Drawings for Mermaid, opened with Mermaid itself: a model, and the chart of a failure in a Markdown report.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browser, door, ioco, remove } from "./stage.mjs";

const script = process.env.IOCO_MERMAID;

describe("drawings for Mermaid", { skip: script ? false : "IOCO_MERMAID names no script" }, () => {
  let chrome, place, page;

  before(async () => {
    place = await door();
    chrome = await browser();
    page = await chrome.newPage();
    await page.setContent("<!doctype html><div id=here></div>");
    await page.addScriptTag({ path: script });
    await page.evaluate(() => globalThis.mermaid.initialize({ startOnLoad: false }));
  });

  after(async () => {
    await chrome?.close();
    if (place) remove(dirname(place));
  });

  const drawn = (text) =>
    page.evaluate(async (text) => {
      const { svg } = await globalThis.mermaid.render("drawing", text, document.getElementById("here"));
      const holder = document.createElement("div");
      holder.innerHTML = svg;
      return { text: holder.textContent, states: holder.querySelectorAll(".node").length };
    }, text);

  it("show every location and label of the model", async () => {
    await ioco(place, "convert", "door.aml", "-o", "door.mmd");
    const { stdout } = await ioco(place, "check", "--format", "json");
    const found = await drawn(readFileSync(join(place, "door.mmd"), "utf8"));
    // One more: the mark of the initial location.
    assert.equal(found.states, JSON.parse(stdout).locations + 1);
    for (const label of ["?lock", "!unlocked", "locked"]) assert.ok(found.text.includes(label), label);
  });

  it("show the steps of a failure", async () => {
    await ioco(place, "test", "--seed", "1").catch(() => {});
    const { stdout } = await ioco(place, "report", "--format", "markdown");
    const charts = [...stdout.matchAll(/```mermaid\n([\s\S]*?)```/g)].map((match) => match[1]);
    assert.ok(charts.length > 0);
    for (const chart of charts) {
      const found = await drawn(chart);
      assert.match(found.text, /\?lock\(code=\d+\)/);
      assert.match(found.text, /tester/);
    }
  });

  it("are refused when they are wrong: the check can fail", async () => {
    await assert.rejects(drawn("stateDiagram-v2\n  state \"open"));
  });
});
