// The test explorer: every project is a test that runs `ioco test`, and every recorded failure below it is one that
// runs `ioco replay`. ioco judges; this shows what it says. `vscode` is handed in, so that tests can stand in for it.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");

const SKIPPED = "**/{node_modules,target,.git}/**";

/** @param {typeof import("vscode")} vscode */
function create(vscode) {
  const controller = vscode.tests.createTestController("ioco", "ioco");
  const program = () => vscode.workspace.getConfiguration("ioco").get("path", "ioco");
  const folderOf = (item) => item.uri && path.dirname(item.uri.fsPath);

  // Runs ioco, and hands over its lines of JSON. Resolves with the exit code and what it wrote to standard error.
  function ioco(folder, args, heard, token) {
    return new Promise((done) => {
      const child = spawn(program(), [...args, "--format", "json"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
      const ended = token?.onCancellationRequested(() => child.kill("SIGINT"));
      let [rest, said] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("{")) heard(JSON.parse(line));
      });
      child.stderr.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-4000)));
      child.on("error", (error) => done({ code: -1, said: `'${program()}' could not be started: ${error.message}` }));
      child.on("close", (code) => {
        ended?.dispose();
        done({ code, said });
      });
    });
  }

  // The recorded failures of a project as tests below it.
  async function list(item) {
    const found = [];
    await ioco(folderOf(item), ["failures", "--all"], (failure) => found.push(failure));
    item.children.replace(
      found.map((failure) => {
        const child = controller.createTestItem(`${item.id}#${failure.id}`, `${failure.code} ${failure.title}`, item.uri);
        child.description = `${failure.status} ${failure.id}`;
        return child;
      }),
    );
  }

  async function discover() {
    const files = await vscode.workspace.findFiles("**/ioco.toml", SKIPPED, 50);
    const items = files.map((file) => {
      const known = controller.items.get(file.toString());
      const name = path.basename(path.dirname(file.fsPath));
      return known ?? controller.createTestItem(file.toString(), name, file);
    });
    controller.items.replace(items);
    await Promise.all(items.map(list));
  }

  // What ioco says about a failure, at the line of the model that matters.
  function messageOf(explanation, folder, notes = []) {
    const rows = explanation.rows.map((row) => `${String(row.number).padStart(4)}  ${row.text}${row.deviates ? "   ✗" : ""}`);
    const lines = [
      `${explanation.code} ${explanation.title}`, "", ...rows, "",
      `expected: ${explanation.allowed.join(", ") || "nothing but silence"}`, ...explanation.because, ...notes,
    ];
    const message = new vscode.TestMessage(lines.join("\n"));
    const place = /^(.*):(\d+)$/.exec(explanation.places[0]?.place ?? "");
    if (place) {
      const file = vscode.Uri.file(path.resolve(folder, place[1]));
      message.location = new vscode.Location(file, new vscode.Position(Number(place[2]) - 1, 0));
    }
    return message;
  }

  async function testProject(item, run, token) {
    const folder = folderOf(item);
    /** @type {any} What ioco says in the end. */
    let report = null;
    const begun = Date.now();
    const { code, said } = await ioco(folder, ["test"], (event) => {
      if (event.event === "run-reported") report = event;
      if (event.event === "test-finished") run.appendOutput(`test ${event.test}: ${event.verdict}, ${event.steps} steps\r\n`, undefined, item);
    }, token);
    const time = Date.now() - begun;
    if (token.isCancellationRequested) run.skipped(item);
    else if (code === 0) run.passed(item, time);
    else if (report && (code === 1 || code === 5)) {
      run.failed(item, report.failures.map((failure) => messageOf(failure.explanation, folder, failure.notes)), time);
    } else run.errored(item, new vscode.TestMessage(said.trim() || `ioco ended with ${code}`), time);
    await list(item);
  }

  async function replay(item, run, token) {
    const folder = folderOf(item);
    const id = item.id.split("#").at(-1);
    /** @type {any} What ioco says in the end. */
    let report = null;
    const { code, said } = await ioco(folder, ["replay", id], (answer) => (report = answer), token);
    if (token.isCancellationRequested) run.skipped(item);
    else if (code === 0) run.passed(item);
    else if (report?.explanation) run.failed(item, messageOf(report.explanation, folder));
    else run.errored(item, new vscode.TestMessage(said.trim() || `ioco ended with ${code}`));
  }

  // One after the other: runs of one project share a system.
  async function go(request, token) {
    const run = controller.createTestRun(request);
    const all = [];
    controller.items.forEach((item) => all.push(item));
    const wanted = (request.include ?? all).filter((item) => !(request.exclude ?? []).includes(item));
    for (const item of wanted) run.enqueued(item);
    for (const item of wanted) {
      if (token.isCancellationRequested) break;
      run.started(item);
      await (item.id.includes("#") ? replay : testProject)(item, run, token);
    }
    run.end();
  }

  controller.resolveHandler = (item) => (item ? list(item) : discover());
  controller.refreshHandler = discover;
  const profile = controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, go, true);
  const watcher = vscode.workspace.createFileSystemWatcher("**/ioco.toml");
  watcher.onDidCreate(discover);
  watcher.onDidDelete(discover);
  return { discover, go, dispose: () => [profile, watcher, controller].forEach((one) => one.dispose()) };
}

module.exports = { create };
