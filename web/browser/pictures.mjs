// The pictures of the book, and which page each of them shows: a hash of web/dist stands beside them, so that a
// picture of an older page is noticed.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const folder = join(root, "book/src/images");
const list = join(folder, "pages.txt");

/** What makes the pictures, where `../shared/bench` is. */
export const COMMAND = "cd web && IOCO_PICTURES=1 IOCO=../target/debug/ioco npm run browser";

/** The page as one number: the names and contents of the files of its bundle. */
export function pageHash() {
  const dist = join(root, "web/dist");
  const hash = createHash("sha256");
  const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const path of files.map((entry) => relative(dist, join(entry.parentPath, entry.name))).sort()) {
    hash.update(path).update("\0").update(readFileSync(join(dist, path))).update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

/** The hash of the page that each picture shows. */
function shown() {
  if (!existsSync(list)) return new Map();
  const lines = readFileSync(list, "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => line.split(/ +/)));
}

/** Writes down that a picture shows the page of now. */
export function taken(name) {
  const all = shown().set(name, pageHash());
  const lines = [...all].sort().map(([name, hash]) => `${name.padEnd(24)} ${hash}\n`);
  writeFileSync(list, `# The page that each picture shows: a hash of web/dist.\n# ${COMMAND}\n${lines.join("")}`);
}

/** What is wrong with the pictures. */
export function mistakes() {
  const now = pageHash();
  const known = shown();
  const there = readdirSync(folder).filter((name) => /^page-.*\.png$/.test(name)).map((name) => name.replace(".png", ""));
  return [
    ...there.filter((name) => known.get(name) !== now).map((name) => `${name}.png shows an older page`),
    ...[...known.keys()].filter((name) => !there.includes(name)).map((name) => `${name}.png is missing`),
  ];
}
