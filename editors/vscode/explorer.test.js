// The test explorer, with a stand-in for the editor and the real program: a project with a bug is listed, tested,
// explained, mended and replayed.
"use strict";

const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { create } = require("./explorer.js");

const program = process.env.IOCO ?? path.join(__dirname, "../../target/debug/ioco");

// What the editor keeps of tests, and what it is told of a run.
function editor(folder) {
  const told = [];
  const collection = () => {
    const items = new Map();
    return {
      get: (id) => items.get(id),
      replace: (list) => {
        items.clear();
        for (const item of list) items.set(item.id, item);
      },
      forEach: (each) => items.forEach(each),
      list: () => [...items.values()],
    };
  };
  const nothing = { dispose() {} };
  const file = (name) => ({ fsPath: name, toString: () => `file://${name}` });
  const state = (name) => (item, messages) => told.push({ name, item: item.id, messages: [messages].flat() });
  const run = { enqueued() {}, started: state("started"), passed: state("passed"), failed: state("failed"), errored: state("errored"), skipped: state("skipped"), appendOutput() {}, end: () => told.push({ name: "end" }) };
  const controller = {
    items: collection(),
    createTestItem: (id, label, uri) => ({ id, label, uri, children: collection() }),
    createTestRun: () => run,
    createRunProfile: () => nothing,
    dispose() {},
  };
  const vscode = {
    tests: { createTestController: () => controller },
    workspace: {
      getConfiguration: () => ({ get: () => program }),
      findFiles: async () => [file(path.join(folder, "ioco.toml"))],
      createFileSystemWatcher: () => ({ onDidCreate() {}, onDidDelete() {}, ...nothing }),
    },
    Uri: { file },
    Position: class { constructor(line, character) { Object.assign(this, { line, character }); } },
    Location: class { constructor(uri, position) { Object.assign(this, { uri, position }); } },
    TestMessage: class { constructor(message) { this.message = message; } },
    TestRunProfileKind: { Run: 1 },
  };
  return { vscode, controller, told };
}

test("a project is a test, and its failures are tests below it", async () => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), "ioco-explorer-"));
  process.env.XDG_STATE_HOME = path.join(place, "state");
  execFileSync(program, ["new", "door"], { cwd: place });
  const folder = path.join(place, "door");
  const { vscode, controller, told } = editor(folder);
  const explorer = create(vscode);
  const never = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

  await explorer.discover();
  const [project] = controller.items.list();
  assert.equal(project.label, "door");
  assert.deepEqual(project.children.list(), []);

  await explorer.go({}, never);
  const failed = told.find((entry) => entry.name === "failed");
  assert.equal(failed.item, project.id);
  assert.match(failed.messages[0].message, /^D001 unexpected response/);
  assert.match(failed.messages[0].message, /expected: !/);
  assert.match(failed.messages[0].location.uri.fsPath, /door\.aml$/);
  assert.ok(failed.messages[0].location.position.line > 0);
  assert.equal(told.at(-1).name, "end");
  const [failure] = project.children.list();
  assert.match(failure.label, /^D001/);

  told.length = 0;
  await explorer.go({ include: [failure] }, never);
  assert.equal(told.find((entry) => entry.name === "failed")?.item, failure.id);

  const system = path.join(folder, "door.py");
  const text = fs.readFileSync(system, "utf8");
  const mended = text.replace(/ +if self\.code is None:\n +self\.code/, "            self.code");
  assert.notEqual(mended, text);
  fs.writeFileSync(system, mended);
  told.length = 0;
  await explorer.go({ include: [failure, project] }, never);
  assert.deepEqual(told.filter((entry) => entry.name === "passed").map((entry) => entry.item), [failure.id, project.id]);
  assert.match(project.children.list()[0].description, /^fixed/);

  // What ioco cannot do is an error, with its words.
  fs.writeFileSync(path.join(folder, "door.aml"), "nonsense");
  told.length = 0;
  await explorer.go({}, never);
  assert.match(told.find((entry) => entry.name === "errored").messages[0].message, /door\.aml/);
  explorer.dispose();
  fs.rmSync(place, { recursive: true, force: true });
});
