// What the browser tests stand on: a real project, a real `ioco serve`, a real Chromium.

import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { folder as folderOfPictures, taken } from "./pictures.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../..");
const program = process.env.IOCO ?? join(root, "target/debug/ioco");
const run = promisify(execFile);

/** Where the pictures of the book go; only when they are asked for. */
const pictures = process.env.IOCO_PICTURES ? folderOfPictures : null;

/** A patience that a busy machine does not exhaust. */
export const PATIENT = Number(process.env.IOCO_PATIENCE ?? 120_000);

/** What the user of this machine has typed and trusted is not for tests. */
const env = { ...process.env, XDG_STATE_HOME: mkdtempSync(join(tmpdir(), "ioco-state-")) };

export const ioco = (folder, ...args) => run(program, args, { cwd: folder, env });

/** The 1970 locations of the ATM, where the benchmark models are. */
export const atm = resolve(root, "../shared/bench/aml/atm/model.aml");
export const hasAtm = existsSync(atm);

export function folder() {
  return mkdtempSync(join(tmpdir(), "ioco-page-"));
}

/** A project made by `ioco new door`. */
export async function door() {
  const place = folder();
  await ioco(place, "new", "door");
  return join(place, "door");
}

/** A project with a model of 400 locations, too many to be drawn one by one. */
export function large(locations = 400) {
  const place = folder();
  const switches = [];
  for (let from = 0; from < locations; from += 1) {
    const next = (from + 1) % locations;
    if (from % 2 === 1) switches.push(`(${from},"!at${from}",${next})`);
    else switches.push(`(${from},"?go${from % 5}",${next})`, `(${from},"?back",${(((from * 7) % locations) & ~1) + 1})`);
  }
  writeFileSync(join(place, "large.aut"), `des (0,${switches.length},${locations})\n${switches.join("\n")}\n`);
  writeFileSync(join(place, "ioco.toml"), 'model = "large.aut"\n');
  return place;
}

/** Starts `ioco serve` and waits for the address that it prints. */
export async function serve(place, ...args) {
  const child = spawn(program, ["serve", "--port", "0", ...args], { cwd: place, env });
  let said = "";
  const address = await new Promise((found, failed) => {
    const listen = (data) => {
      said += data;
      const match = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/.exec(said);
      if (match) found(match[0]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("error", failed);
    child.on("exit", (code) => failed(new Error(`ioco serve ended with ${code}: ${said}`)));
  });
  return {
    address,
    async stop() {
      child.removeAllListeners("exit");
      const ended = new Promise((done) => child.once("exit", done));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

export async function browser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
}

/**
 * A page that fails the test when a script fails, and when anything is asked for from elsewhere.
 * `problems` is looked at in the end.
 */
export async function open(chrome, address, options = {}) {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENT);
  const problems = [];
  const origin = new URL(address).origin;
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!/^(data|blob|file):/.test(url) && new URL(url).origin !== origin) problems.push(`asked for ${url}`);
  });
  await page.goto(address);
  return { page, problems, close: () => context.close() };
}

/** The graph is laid out and drawn. */
export async function drawn(page, kind = "layered") {
  await page.locator(`.frame[data-placed="${kind}"]`).first().waitFor();
}

/** Pictures to look at, light and dark, in the folder that `IOCO_LOOK` names. */
export async function look(page, name) {
  const folder = process.env.IOCO_LOOK;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  for (const scheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator(`html[data-theme="${scheme}"]`).waitFor({ state: "attached" });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(folder, `${name}-${scheme}.png`) });
  }
}

/** A picture for the book, light and dark, when pictures are asked for. */
export async function picture(page, name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.mouse.move(640, 5);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
  taken(name);
}

export function remove(place) {
  rmSync(place, { recursive: true, force: true });
}
