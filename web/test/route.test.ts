import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute, type Route } from "../src/data/route";

const ROUTES: [string, Route][] = [
  ["#/model", { view: "model", location: null, switch: null }],
  ["#/model?switch=7", { view: "model", location: null, switch: 7 }],
  ["#/run", { view: "run", run: null }],
  ["#/run/1794-seed-2", { view: "run", run: "1794-seed-2" }],
  ["#/run/r%2F1/test/3/step/12", { view: "test", run: "r/1", test: 3, step: 12 }],
  ["#/failures", { view: "failures" }],
  ["#/failure/05626b17", { view: "failure", failure: "05626b17", trace: null, step: null }],
  ["#/failure/05626b17/shrunk/step/4", { view: "failure", failure: "05626b17", trace: "shrunk", step: 4 }],
  ["#/failure/05626b17/original/step/1", { view: "failure", failure: "05626b17", trace: "original", step: 1 }],
  ["#/explore", { view: "explore", trace: [] }],
  ["#/walk", { view: "walk" }],
  ["#/goals", { view: "goals", goal: null, step: null }],
  ["#/history", { view: "history" }],
  ["#/compare/a/b", { view: "compare", a: "a", b: "b" }],
];

describe("addresses", () => {
  it.each(ROUTES)("%s names one place and is written the same way again", (address, route) => {
    expect(parseRoute(address)).toEqual(route);
    expect(formatRoute(route)).toBe(address);
  });

  it("carry a walk with exact values", () => {
    const route = parseRoute(
      formatRoute({
        view: "explore",
        trace: [
          { kind: "stimulus", label: "lock", values: { code: 5885, name: "a&b?c#d%" } },
          { kind: "silence", label: "", values: {} },
        ],
      }),
    );
    expect(route).toEqual({
      view: "explore",
      trace: [
        { kind: "stimulus", label: "lock", values: { code: 5885, name: "a&b?c#d%" } },
        { kind: "silence", label: "", values: {} },
      ],
    });
    const large = "#/explore?trace=" + encodeURIComponent('[["stimulus","x",{"n":9223372036854775807}]]');
    expect(formatRoute(parseRoute(large))).toBe(large);
  });

  it.each(["", "#", "#/nowhere", "#/run/%E0%A4%A", "#nonsense"])("that name nothing (%s) lead to the start", (address) => {
    expect(parseRoute(address)).toEqual({ view: "run", run: null });
  });

  it.each(["#/explore?trace=oops", "#/explore?trace=%7B%7D", "#/explore?trace=%5B1%5D"])("with a damaged walk (%s) start it anew", (address) => {
    expect(parseRoute(address)).toEqual({ view: "explore", trace: [] });
  });
});
