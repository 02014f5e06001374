/** Colours for model text, line by line. A guide for the eye, not a parser. */

export interface Piece {
  text: string;
  kind: "plain" | "comment" | "string" | "word" | "numeral" | "name";
}

const WORDS = new Set(
  ("process external internal timeout include channel stimulus stimuli response responses receive send state goto repeat o " +
    "behavior behaviour call return exit var struct enum function constraint update if else then or and not true false void " +
    "integer decimal boolean string note when delay sequence").split(" "),
);
const TOKEN = /(#.*$|\/\/.*$)|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(:?[A-Za-z_][A-Za-z0-9_]*)|(\d[\d._]*)/g;

/** The first piece of a text, for an editor that asks piece by piece. */
export function pieceAt(text: string): Piece {
  return highlight(text)[0] ?? { text, kind: "plain" };
}

export function highlight(line: string): Piece[] {
  const pieces: Piece[] = [];
  let last = 0;
  for (const match of line.matchAll(TOKEN)) {
    if (match.index > last) pieces.push({ text: line.slice(last, match.index), kind: "plain" });
    const [text, comment, quoted, word] = match;
    const bare = word?.replace(/^:/, "");
    const kind = comment !== undefined ? "comment" : quoted !== undefined ? "string"
      : word === undefined ? "numeral" : WORDS.has(bare ?? "") ? "word" : "name";
    pieces.push({ text, kind });
    last = match.index + text.length;
  }
  if (last < line.length) pieces.push({ text: line.slice(last), kind: "plain" });
  return pieces;
}
