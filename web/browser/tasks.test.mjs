// Ten tasks of a new user, one after the other, from an empty folder: a first bug, an own system, a run rejoined, why it
// fails, what is accepted, a run that follows changes, a report for a colleague, a slow run, a build, an edited model.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { browser, drawn, folder, ioco, look, open, picture, remove, serve } from "./stage.mjs";

/** A counter that somebody wrote before they heard of ioco: it logs, is slow with a large step, and forgets at 5. */
const COUNTER = `import json, sys, time

count = 0
for line in sys.stdin:
    message = json.loads(line)
    if message.get("reset"):
        count = 0
        print(json.dumps({"ready": True}), flush=True)
        continue
    step = message["values"].get("by", 1)
    if step > 1:
        time.sleep(0.05)
    count = 0 if count + step >= LIMIT else count + step
    print(f"count is now {count}", file=sys.stderr, flush=True)
    print(json.dumps({"response": "count", "values": {"n": count}}), flush=True)
`;

const MODEL = `timeout 0.3
external 'counter'
process('counter') {
  channel('counter') {
    stimulus 'add', {'by' => integer(1..3)}
    response 'count', {'n' => :integer}
  }
  var 'sum', integer(0..8), 0
  state 'counting'
  repeat {
    o { receive 'add', constraint: 'sum + by < 8', update: 'sum = sum + by'; send 'count', constraint: 'n == sum' }
    o { receive 'add', constraint: 'sum + by >= 8', update: 'sum = 0'; send 'count', constraint: 'n == sum' }
  }
}
`;

const SETTINGS = `model = "counter.aml"
[sut]
command = ["python3", "counter.py"]
[test]
strategy = "random"
tests = 20
steps = 20
seed = 3
[profile.ci.test]
tests = 30
failures = 0
`;

describe("ten tasks from an empty folder", () => {
  let chrome, place, server, page, problems, origin;

  before(async () => {
    place = folder();
    chrome = await browser();
  });

  after(async () => {
    await chrome?.close();
    await server?.stop();
    if (place) remove(place);
  });

  const visit = (hash) => page.goto(`${origin}/${hash}`);
  async function page_of(project) {
    await server?.stop();
    server = await serve(project);
    origin = new URL(server.address).origin;
    ({ page, problems } = await open(chrome, server.address));
  }
  const counter = () => join(place, "counter");

  it("1: the first bug", async () => {
    const { stderr } = await ioco(place, "new", "door");
    assert.match(stderr, /cd door/);
    await page_of(join(place, "door"));
    await page.locator("button.big").click();
    await page.locator(".side .failure").first().waitFor();
    await page.getByRole("link", { name: "Run again" }).waitFor();
    assert.match(await page.locator(".side .failure").first().innerText(), /!\w+/);
    await page.context().close();
  });

  it("2: an own system", async () => {
    mkdirSync(counter());
    writeFileSync(join(counter(), "counter.py"), COUNTER.replace("LIMIT", "6"));
    writeFileSync(join(counter(), "counter.aml"), MODEL);
    writeFileSync(join(counter(), "ioco.toml"), SETTINGS);
    await ioco(counter(), "check");
    await page_of(counter());
    await drawn(page);
    await page.getByRole("link", { name: "Explore" }).click();
    await page.getByRole("link", { name: "On the system itself" }).click();
    await page.getByRole("button", { name: "Start the system" }).click();
    await page.locator("button.take", { hasText: "?add" }).waitFor();
    await page.locator(".entry input").fill("2");
    await page.locator("button.take", { hasText: "?add" }).click();
    // Both sides, and what the system writes to its log.
    await page.locator(".step.response .system", { hasText: "!count(n=2)" }).waitFor();
    await page.locator(".line.log", { hasText: "count is now 2" }).waitFor();
    await page.getByRole("button", { name: "Listen" }).click();
    await page.locator(".step.silence").waitFor();
    await look(page, "walk");
    await picture(page, "page-walk");
    await page.getByRole("button", { name: "Keep as a test" }).click();
    await page.getByText("counter-walks.jsonl").first().waitFor();
    const { stdout } = await ioco(counter(), "test", "--suite", "counter-walks.jsonl");
    assert.match(stdout, /^PASS counter/m);
    // Far enough, it does what the model forbids.
    await page.locator(".entry input").fill("3");
    await page.locator("button.take", { hasText: "?add" }).click();
    await page.locator(".step.response .system", { hasText: "!count(n=5)" }).waitFor();
    await page.locator(".entry input").fill("1");
    await page.locator("button.take", { hasText: "?add" }).click();
    await page.locator(".step.deviation").waitFor();
    await page.getByRole("alert").getByText("D003").waitFor();
    await look(page, "walk-failed");
  });

  it("3: a run that is rejoined", async () => {
    // A run takes the system from the walk.
    await visit("#/run");
    await page.getByLabel("tests").fill("2000");
    await page.getByText("start paused").click();
    await page.locator("button.big").click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const { page: other, close } = await open(chrome, server.address);
    await other.locator("header a.button", { hasText: "Paused" }).click();
    await other.getByRole("button", { name: "Resume" }).click();
    await page.locator(".side .failure").first().waitFor();
    await page.getByRole("link", { name: "Run again" }).waitFor();
    await close();
  });

  it("4: why it fails, with the system's own words", async () => {
    await page.locator(".side .failure").first().click();
    await page.locator(".step.deviation").waitFor();
    assert.match(await page.locator(".why").innerText(), /expected/);
    await page.getByRole("slider", { name: "Timeline of the test" }).waitFor();
    await page.getByRole("tab", { name: /^Log/ }).click();
    const lines = page.locator(".rows .line");
    const all = await lines.count();
    await page.getByLabel("Who").selectOption("log");
    await page.locator(".rows .line.log").first().waitFor();
    assert.ok((await lines.count()) < all);
    await page.getByLabel("Search the log").fill("NOW 0");
    await page.getByRole("status").getByText(/^1 of/).waitFor();
    await look(page, "failure-log");
    await picture(page, "page-failure-log");
    // A line leads to its step.
    await lines.first().click();
    await page.locator('[role="option"][aria-selected="true"]').waitFor();
    assert.match(page.url(), /step\/\d+$/);
    await page.getByLabel("Search the log").fill("no such words");
    await page.getByText("No line matches").waitFor();
  });

  it("5: accepted", async () => {
    await page.getByRole("button", { name: "Accept …" }).click();
    await page.getByLabel("Why it is accepted").fill("version 2 counts farther");
    await page.keyboard.press("Enter");
    await page.getByText("accepted: version 2 counts farther").waitFor();
    const { stdout } = await ioco(counter(), "failures", "--all");
    assert.match(stdout, /version 2 counts farther/);
    await page.getByRole("button", { name: "Reopen" }).click();
    await page.locator("nav .badge", { hasText: "✗ 1" }).waitFor();
  });

  it("6: watched", async () => {
    await visit("#/run");
    await page.getByLabel("tests").fill("5");
    await page.locator("button.big").click();
    await page.waitForURL(/#\/run\/\d+/);
    await page.getByText("run again on every change").click();
    const before = page.url();
    writeFileSync(join(counter(), "counter.py"), COUNTER.replace("LIMIT", "8"));
    await page.waitForURL((url) => url.href !== before && /#\/run\/\d+/.test(url.href));
    await page.getByText("The model allows everything").waitFor();
    await visit("#/failures");
    await page.getByText(/fixed in run \d+/).waitFor();
  });

  it("7: a report for a colleague", async () => {
    const file = join(place, "report.html");
    await ioco(counter(), "report", "2", "--format", "html", "-o", file);
    const shared = await open(chrome, pathToFileURL(file).href);
    await shared.page.locator(".side .failure").first().click();
    await shared.page.locator(".step.deviation").waitFor();
    await shared.page.getByRole("tab", { name: /^Log/ }).click();
    await shared.page.locator(".rows .line.log", { hasText: "count is now" }).first().waitFor();
    await shared.page.getByRole("slider", { name: "Timeline of the test" }).waitFor();
    await look(shared.page, "report-log");
    assert.deepEqual(shared.problems, []);
    await shared.close();
  });

  it("8: a slow run", async () => {
    await visit("#/history");
    await page.locator("tbody tr").first().waitFor();
    const runs = await page.locator("tbody tr").count();
    await visit(`#/run/${runs}`);
    await page.locator(".silence", { hasText: /waited .* for silence/ }).waitFor();
    await page.getByLabel("slowest first").check();
    await look(page, "run-slow");
    await page.locator(".tests a").first().click();
    const timeline = page.getByRole("slider", { name: "Timeline of the test" });
    await timeline.waitFor();
    await page.locator(".legend", { hasText: /silence/ }).waitFor();
    await timeline.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    assert.match(page.url(), /step\/2$/);
    await look(page, "test-slow");
    await picture(page, "page-test");
    const number = /test\/(\d+)/.exec(page.url())[1];
    const { stdout } = await ioco(counter(), "runs", "show", String(runs), "--test", number);
    assert.match(stdout, /took ms/);
    assert.match(stdout, /┄ silence/);
  });

  it("9: in a build", async () => {
    writeFileSync(join(counter(), "counter.py"), COUNTER.replace("LIMIT", "6"));
    const junit = join(place, "junit.xml");
    await assert.rejects(ioco(counter(), "test", "--profile", "ci", "--junit", junit), { code: 1 });
    const text = readFileSync(junit, "utf8");
    assert.match(text, /<failure/);
    assert.match(text, /<system-err>[^<]*count is now/);
    const { stdout } = await ioco(counter(), "report", "--format", "sarif");
    assert.equal(JSON.parse(stdout).version, "2.1.0");
  });

  it("10: edited and run again", async () => {
    await visit("#/model");
    await page.reload();
    await drawn(page);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Text of counter.aml" }).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(MODEL.replaceAll("8", "6"));
    await page.keyboard.press("Control+s");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    assert.match(readFileSync(join(counter(), "counter.aml"), "utf8"), /sum \+ by < 6/);
    await page.locator("body").press("n");
    await page.locator("button.big").click();
    await page.getByText("The model allows everything").waitFor();
  });

  it("met no problem", () => assert.deepEqual(problems, []));
});
