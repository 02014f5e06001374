// Starts `ioco lsp` for AML files, shows its picture of a model beside the text, runs ioco in a terminal, and lists
// projects and failures in the test explorer.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const explorer = require("./explorer.js");

let client;
let panel;

async function start() {
  const command = vscode.workspace.getConfiguration("ioco").get("path", "ioco");
  const server = { command, args: ["lsp"] };
  const options = { documentSelector: [{ scheme: "file", language: "aml" }] };
  client = new LanguageClient("ioco", "ioco", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const settings = "Open settings";
    const chosen = await vscode.window.showErrorMessage(
      `ioco: '${command} lsp' could not be started. Install ioco, or set ioco.path. (${error})`,
      settings,
    );
    if (chosen === settings) {
      vscode.commands.executeCommand("workbench.action.openSettings", "ioco.path");
    }
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old) await old.stop();
}

async function showGraph() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "aml" || !client) return;
  const argument = {
    textDocument: { uri: client.code2ProtocolConverter.asUri(editor.document.uri) },
    position: client.code2ProtocolConverter.asPosition(editor.selection.active),
  };
  let graph;
  try {
    graph = await client.sendRequest("workspace/executeCommand", {
      command: "ioco.showInGraph",
      arguments: [argument],
    });
  } catch (error) {
    vscode.window.showWarningMessage(`ioco: ${error.message}`);
    return;
  }
  if (!panel) {
    const beside = vscode.ViewColumn.Beside;
    panel = vscode.window.createWebviewPanel("ioco.graph", "ioco", beside, { enableScripts: true });
    panel.onDidDispose(() => (panel = undefined));
  }
  panel.title = graph.model;
  panel.webview.html = page(graph);
  panel.reveal(undefined, true);
}

// The picture, scrolled to the cursor's location, which is outlined.
function page(graph) {
  const nonce = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  return `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>.here { outline: 3px solid var(--vscode-focusBorder); outline-offset: 4px; }</style></head>
<body>${graph.svg}
<script nonce="${nonce}">
const here = document.getElementById(${JSON.stringify(graph.element)});
if (here) { here.classList.add("here"); here.scrollIntoView({ block: "center", inline: "center" }); }
</script></body></html>`;
}

// Types a line into the terminal of ioco, in the folder of a project. The person sees what runs, and can stop it.
function run({ line, folder }) {
  const name = "ioco";
  const terminal =
    vscode.window.terminals.find((one) => one.name === name && "cwd" in one.creationOptions && one.creationOptions.cwd === folder) ??
    vscode.window.createTerminal({ name, cwd: folder });
  terminal.show(true);
  const program = vscode.workspace.getConfiguration("ioco").get("path", "ioco");
  const quoted = /^[\w./-]+$/.test(program) ? program : `'${program.replaceAll("'", "'\\''")}'`;
  terminal.sendText(line.replace(/^ioco\b/, () => quoted));
}

// The folder of the nearest ioco.toml above the open file, or of the workspace.
async function projectFolder() {
  const open = vscode.window.activeTextEditor?.document.uri;
  const files = await vscode.workspace.findFiles("**/ioco.toml", "**/{node_modules,target}/**", 50);
  const folders = files.map((file) => vscode.Uri.joinPath(file, "..").fsPath).sort((a, b) => b.length - a.length);
  return folders.find((folder) => open?.fsPath.startsWith(folder)) ?? folders.at(-1) ?? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

const runHere = (line) => async () => run({ line, folder: await projectFolder() });

async function activate(context) {
  context.subscriptions.push(
    explorer.create(vscode),
    vscode.commands.registerCommand("ioco.showGraph", showGraph),
    vscode.commands.registerCommand("ioco.run", run),
    vscode.commands.registerCommand("ioco.test", runHere("ioco test")),
    vscode.commands.registerCommand("ioco.doctor", runHere("ioco doctor")),
    vscode.commands.registerCommand("ioco.page", runHere("ioco serve --open")),
    vscode.commands.registerCommand("ioco.restart", async () => {
      await stop();
      await start();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
