import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { COMMAND, folder, mistakes } from "../browser/pictures.mjs";

it("the pictures of the book show the page as it is", () => {
  const found = mistakes();
  expect(found, `make the pictures again: ${COMMAND}\n${found.join("\n")}`).toEqual([]);
});

it("every picture of the page stands in a chapter, and none is missing", () => {
  const chapters = readdirSync(`${folder}/..`).filter((name) => name.endsWith(".md"));
  const text = chapters.map((name) => readFileSync(`${folder}/../${name}`, "utf8")).join("\n");
  const used = new Set([...text.matchAll(/images\/(page-[\w-]+\.png)/g)].map((match) => match[1]));
  expect([...used].sort()).toEqual(readdirSync(folder).filter((name) => /^page-.*\.png$/.test(name)).sort());
});
