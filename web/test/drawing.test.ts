import { describe, expect, it } from "vitest";
import { draw, isLarge, search, surroundings, tooLarge } from "../src/graph/drawing";
import { edgeMark, heat, nodeMark, traceLocations, traceMarks, unmarked } from "../src/graph/marks";
import { model, step, trace } from "./model";

const door = model(
  [[0, 1, "?open"], [1, 0, "!closed"], [0, 1, "?push"], [1, 1, "!beep"], [2, 2, "?ring"], [0, 1, "?kick"], [0, 1, "?knock"]],
  ["closed", "opened", "bell"],
  [0, 0, 1],
);
const whole = { merge: true, collapsed: new Set<number>(), around: null };

describe("a drawing", () => {
  it("merges parallel switches into one edge and loses none", () => {
    const merged = draw(door, whole);
    expect(merged.edges.map((edge) => edge.switches)).toEqual([[0, 2, 5, 6], [1], [3], [4]]);
    expect(merged.edges[0]?.lines.map((line) => line.text)).toEqual(["?open", "?push", "?kick", "and 1 more"]);
    const single = draw(door, { ...whole, merge: false });
    expect(single.edges.flatMap((edge) => edge.switches)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("writes guards and updates below the label, shortened", () => {
    const guarded = model([[0, 1, "?unlock(code)"]], ["locked", "open"]);
    Object.assign(guarded.switches[0] ?? {}, { guard: `code == ${"9".repeat(60)}`, update: "tries := 0" });
    const lines = draw(guarded, whole).edges[0]?.lines ?? [];
    expect(lines.map((line) => line.kind)).toEqual(["label", "detail", "detail"]);
    expect(lines[1]?.text).toMatch(/^\[code == 9+…\]$/);
    expect(lines[1]?.text.length).toBeLessThanOrEqual(34);
    expect(lines[2]?.text).toBe("tries := 0");
  });

  it("leaves the guard in the title of a location to the switch that leads there", () => {
    const titled = model([[0, 1, "?unlock(code)"]], ["locked [twice]", "locked, after ?unlock [code == secret]"]);
    Object.assign(titled.locations[1] ?? {}, { named: false });
    expect(draw(titled, whole).nodes.map((node) => node.text)).toEqual(["locked [twice]", "locked, after ?unlock"]);
  });

  it("shows a collapsed process as one node with all its locations", () => {
    const drawing = draw(door, { ...whole, collapsed: new Set([0]) });
    expect(drawing.nodes.map((node) => [node.text, node.locations])).toEqual([["p0 (2)", [0, 1]], ["bell", [2]]]);
    expect(drawing.edges.flatMap((edge) => edge.switches)).toEqual([4]);
  });

  it("is a map where a layered drawing cannot be read, or has too many edges", () => {
    expect(isLarge(door)).toBe(false);
    expect([tooLarge(300, 450), tooLarge(301, 10), tooLarge(10, 451)]).toEqual([false, true, true]);
  });

  it("has another key when something else is drawn, and the same when not", () => {
    const keys = [
      draw(door, whole), draw(door, { ...whole, merge: false }), draw(door, { ...whole, collapsed: new Set([1]) }),
      draw(door, { ...whole, around: { locations: [2], limit: 1 } }),
    ].map((drawing) => drawing.key);
    expect(new Set(keys).size).toBe(4);
    expect(draw(door, whole).key).toBe(keys[0]);
  });
});

describe("surroundings", () => {
  const names = Array.from({ length: 60 }, (_, index) => `l${index}`);
  const hub = model(
    [...Array.from({ length: 40 }, (_, index): [number, number, string] => [0, index + 1, "?x"]), [1, 50, "!y"], [50, 51, "!z"]],
    names,
  );

  it("hold the nearest locations and never more than there is room for", () => {
    expect(surroundings(hub, [51], 3)).toEqual(new Set([51, 50, 1]));
    expect(surroundings(hub, [0], 10).size).toBe(10);
  });

  it("show a hub but do not spread through it", () => {
    expect(surroundings(hub, [51], 60)).toEqual(new Set([51, 50, 1, 0]));
  });

  it("count what is not drawn", () => {
    const drawing = draw(hub, { ...whole, around: { locations: [51], limit: 60 } });
    expect(drawing.nodes.find((node) => node.text === "l0")?.hidden).toBe(39);
  });
});

describe("search", () => {
  it("finds locations and labels, exact names first", () => {
    expect(search(door, "open", 5).map((entry) => entry.text)).toEqual(["?open", "opened"]);
    expect(search(door, "closed", 5).map((entry) => entry.text)).toEqual(["closed", "!closed"]);
    expect(search(door, "?kn", 5).map((entry) => entry.id)).toEqual([6]);
    expect(search(door, "nothing like this", 5)).toEqual([]);
    expect(search(door, "   ", 5)).toEqual([]);
  });
});

describe("marks", () => {
  it("heat grows with the count, from never to most often", () => {
    expect(heat(0, 100)).toBe(0);
    const levels = [1, 3, 10, 30, 100].map((count) => heat(count, 100));
    expect(levels).toEqual([1, 2, 3, 4, 5]);
    expect(heat(1, 1)).toBe(5);
  });

  it("a merged edge says when only some of its switches were taken", () => {
    const edge = draw(door, whole).edges[0]!;
    const mark = edgeMark(edge, { ...unmarked, switches: new Map([[0, 3], [2, 1]]) }, 3, { kind: "switch", id: 6 });
    expect(mark).toMatchObject({ count: 4, partly: true, selected: true });
    expect(edgeMark(edge, unmarked, 1, null).heat).toBeNull();
  });

  it("a deviation marks the states in which it happened", () => {
    const failing = trace([step(1, "stimulus", "?open", [1], [0]), step(2, "deviation", "!beep", [])]);
    expect([...traceMarks(failing, 1).failed]).toEqual([1]);
    expect([...traceMarks(failing, 1).current]).toEqual([]);
    expect([...traceMarks(failing, 0).current]).toEqual([1]);
    expect([...traceMarks(failing, 0).path]).toEqual([0]);
    expect(traceLocations(failing)).toEqual([1]);
    const node = draw(door, whole).nodes[1]!;
    expect(nodeMark(node, traceMarks(failing, 1), 1, null)).toMatchObject({ failed: true, current: false });
  });
});
