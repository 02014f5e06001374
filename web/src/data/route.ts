/**
 * The address after `#` and what it names: a view, and in it the run, failure, trace and step.
 * Everything that a person may want to send to a colleague is in the address.
 */

import type { WalkStep } from "./contract";
import { parseExact, stringifyExact } from "./exact";

export type TraceKind = "shrunk" | "original";

export type Route =
  | { view: "model"; location: number | null; switch: number | null }
  | { view: "run"; run: string | null }
  | { view: "test"; run: string; test: number; step: number | null }
  | { view: "failures" }
  | { view: "failure"; failure: string; trace: TraceKind | null; step: number | null }
  | { view: "explore"; trace: WalkStep[] }
  | { view: "walk" }
  | { view: "goals"; goal: string | null; step: number | null }
  | { view: "history" }
  | { view: "compare"; a: string; b: string };

const START: Route = { view: "run", run: null };

function number(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

function walk(text: string | null): WalkStep[] {
  if (!text) return [];
  try {
    const parsed = parseExact(text);
    if (!Array.isArray(parsed)) return [];
    return parsed.flatMap((entry: unknown): WalkStep[] => {
      if (!Array.isArray(entry) || typeof entry[0] !== "string") return [];
      const [kind, label, values] = entry as [string, unknown, unknown];
      return [
        {
          kind,
          label: typeof label === "string" ? label : "",
          values: values && typeof values === "object" ? (values as WalkStep["values"]) : {},
        },
      ];
    });
  } catch {
    return [];
  }
}

/** An address that names nothing known leads to the start. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  let parts: string[];
  try {
    parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return START;
  }
  const search = new URLSearchParams(query);
  const [view, first, second, third, fourth, fifth] = parts;
  switch (view) {
    case "model":
      return {
        view: "model",
        location: number(search.get("location")),
        switch: number(search.get("switch")),
      };
    case "run": {
      const test = number(third);
      if (first && second === "test" && test !== null) {
        return { view: "test", run: first, test, step: fourth === "step" ? number(fifth) : null };
      }
      return { view: "run", run: first ?? null };
    }
    case "failures":
      return { view: "failures" };
    case "failure":
      if (!first) return { view: "failures" };
      return {
        view: "failure",
        failure: first,
        trace: second === "shrunk" || second === "original" ? second : null,
        step: third === "step" ? number(fourth) : null,
      };
    case "explore":
      return { view: "explore", trace: walk(search.get("trace")) };
    case "walk":
      return { view: "walk" };
    case "goals":
      return { view: "goals", goal: search.get("goal"), step: number(search.get("step")) };
    case "history":
      return { view: "history" };
    case "compare":
      return first && second ? { view: "compare", a: first, b: second } : { view: "history" };
    default:
      return START;
  }
}

export function formatRoute(route: Route): string {
  const part = encodeURIComponent;
  const step = (number: number | null) => (number === null ? "" : `/step/${number}`);
  const query = (entries: [string, string | number | null][]) => {
    const kept = entries.filter(([, value]) => value !== null && value !== "");
    return kept.length === 0 ? "" : "?" + kept.map(([key, value]) => `${key}=${part(String(value))}`).join("&");
  };
  switch (route.view) {
    case "model":
      return "#/model" + query([["location", route.location], ["switch", route.switch]]);
    case "run":
      return route.run === null ? "#/run" : `#/run/${part(route.run)}`;
    case "test":
      return `#/run/${part(route.run)}/test/${route.test}${step(route.step)}`;
    case "failures":
      return "#/failures";
    case "failure": {
      const trace = route.trace ?? (route.step === null ? null : "shrunk");
      return `#/failure/${part(route.failure)}${trace ? `/${trace}` : ""}${step(route.step)}`;
    }
    case "explore":
      return (
        "#/explore" +
        query([
          [
            "trace",
            route.trace.length === 0
              ? null
              : stringifyExact(
                  route.trace.map(({ kind, label, values }) =>
                    Object.keys(values).length === 0 ? [kind, label] : [kind, label, values],
                  ),
                ),
          ],
        ])
      );
    case "walk":
      return "#/walk";
    case "goals":
      return "#/goals" + query([["goal", route.goal], ["step", route.step]]);
    case "history":
      return "#/history";
    case "compare":
      return `#/compare/${part(route.a)}/${part(route.b)}`;
  }
}
