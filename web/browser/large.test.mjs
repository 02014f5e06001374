// A model of 400 locations: its list, its filter, and names that appear where one looks closer.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { browser, drawn, large, look, open, remove, serve } from "./stage.mjs";

describe("a large model", () => {
  let chrome, place, server, page, problems;

  before(async () => {
    place = large();
    server = await serve(place);
    chrome = await browser();
    ({ page, problems } = await open(chrome, server.address));
    await page.locator("nav a", { hasText: "Model" }).click();
    await drawn(page, "map");
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(place);
  });

  it("shows more names the closer one looks", async () => {
    const canvas = page.locator("canvas");
    const labels = async () => Number(await canvas.getAttribute("data-labels"));
    await page.locator("canvas[data-labels]").waitFor();
    const far = await labels();
    const frame = await canvas.boundingBox();
    await page.mouse.move(frame.x + frame.width / 2, frame.y + frame.height / 2);
    const counts = [far];
    for (let turn = 0; turn < 6; turn += 1) {
      await page.mouse.wheel(0, -240);
      await page.waitForTimeout(200);
      counts.push(await labels());
    }
    await look(page, "large-near");
    assert.ok(Math.max(...counts) > far, `${counts}`);
  });

  it("is listed whole, and the list is filtered", async () => {
    await page.getByRole("button", { name: "List", exact: true }).click();
    const list = page.getByRole("region", { name: /Locations and switches/ });
    await list.getByText("400 locations").waitFor();
    const more = list.getByRole("button", { name: /more locations/ });
    while (await more.count()) await more.click();
    assert.equal(await list.locator(":scope > ul > li").count(), 400);
    await list.getByLabel("Filter the list").fill("!at123");
    await list.getByText("1 of 400 locations").waitFor();
    await list.getByRole("button", { name: "!at123" }).waitFor();
    assert.equal(await list.locator(":scope > ul > li").count(), 1);
    await list.getByLabel("Filter the list").fill("nothing is called so");
    await list.getByText("0 of 400 locations").waitFor();
    await list.getByLabel("Filter the list").fill("");
    await list.getByText("400 locations").waitFor();
    await look(page, "large-list");
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
