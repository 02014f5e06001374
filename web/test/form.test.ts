import { describe, expect, it } from "vitest";
import type { Project, WalkStep } from "../src/data/contract";
import { DELAYS, delayPlace, emptyForm, mistakes, placeholders, request } from "../src/data/form";
import { stringifyExact } from "../src/data/exact";
import { read, valuesOf, written } from "../src/data/walk";
import { refusal } from "../src/data/source";
import { actor, grouped, isOpen, lengthText, stepsText, moment, percent, seconds, signOf, verdictOf } from "../src/data/words";
import { highlight } from "../src/data/highlight";
import { ticks } from "../src/data/curve";
import { step } from "./model";

const project: Project = {
  defaults: { tests: 100, steps: 100, failures: 1 },
  name: "door", version: "0", models: [], model: "door.aml", connection: { kind: "process", text: "python3 door.py" },
  strategies: ["random"], strategy: "random", shrinkers: [],
  settings: { seed: 2, tests: 100, steps: 60, time: null, coverage: null, failures: null, timeout: null },
};

describe("the form of a run", () => {
  it("starts with the project's settings and asks for nothing else", () => {
    const form = emptyForm(project);
    expect(mistakes(form)).toEqual({});
    expect(JSON.parse(JSON.stringify(request(form, "door.aml", [])))).toEqual({ model: "door.aml", strategy: "random", seed: 2, tests: 100, steps: 60 });
  });

  it("offers the model itself where no system is set up", () => {
    const form = emptyForm({ ...project, connection: null });
    expect(request(form, "m", []).connection).toEqual({ kind: "simulated", text: "" });
  });

  it("says what is wrong, field by field", () => {
    const form = { ...emptyForm(project), seed: "x", tests: "0", time: "5", coverage: "101", connection: "tcp", address: " " };
    expect(Object.keys(mistakes(form)).sort()).toEqual(["address", "coverage", "seed", "tests", "time"]);
    expect(mistakes({ ...emptyForm(project), failures: "0", time: "500ms", timeout: "1.5s", coverage: "99.5" })).toEqual({});
  });

  it("asks for several jobs without a speed or a pause", () => {
    const form = { ...emptyForm(project), jobs: "3", delay: 20, paused: true };
    expect(request(form, "m", [])).toMatchObject({ jobs: 3 });
    expect(Object.keys(request(form, "m", []))).not.toEqual(expect.arrayContaining(["paused"]));
    expect(request(form, "m", []).delay_ms).toBeUndefined();
    expect(request({ ...form, jobs: "1" }, "m", [])).toMatchObject({ delay_ms: 20, paused: true });
    for (const jobs of ["0", "257", "x", "1.5"]) expect(mistakes({ ...form, jobs })).toHaveProperty("jobs");
  });

  it("sends a seed of 64 bits as it was typed", () => {
    const form = { ...emptyForm(project), seed: "18446744073709551615" };
    expect(stringifyExact(request(form, "m", []))).toContain('"seed":18446744073709551615');
  });

  it("begins tests with the stimuli of a walk", () => {
    const walk: WalkStep[] = [
      { kind: "stimulus", label: "lock", values: { code: 3 } },
      { kind: "response", label: "locked", values: {} },
    ];
    expect(request(emptyForm(project), "m", walk).prefix).toEqual([{ label: "lock", values: { code: 3 } }]);
  });
});

describe("the speed and the limits", () => {
  it("go up to the right", () => {
    expect(delayPlace(0)).toBe(DELAYS.length - 1);
    expect(delayPlace(2000)).toBe(0);
    // Another program may have chosen one between those of the slider.
    expect(DELAYS[delayPlace(30)]).toBe(20);
    expect(DELAYS[delayPlace(60000)]).toBe(2000);
  });

  it("say what an empty field means", () => {
    const form = emptyForm(project);
    expect(placeholders(form, project)).toMatchObject({ tests: "100", steps: "100", failures: "1", time: "no limit" });
    expect(placeholders({ ...form, coverage: "90" }, project).tests).toBe("no limit");
  });
});

describe("verdicts", () => {
  it("are those of the run, unless it goes on", () => {
    expect(verdictOf({ state: "finished", verdict: "fail" })).toBe("fail");
    expect(verdictOf({ state: "paused", verdict: "fail" })).toBe("paused");
    // That a run came to its end does not make it a good one.
    expect(signOf("finished").tone).toBe("plain");
    expect(["new", "confirmed", "flaky", "accepted", "fixed"].filter((status) => isOpen({ status }))).toEqual(["new", "confirmed", "flaky"]);
  });

  it("count the silences of a trace apart", () => {
    const steps = [step(1, "stimulus", "?a", []), step(2, "silence", "silence", []), step(3, "response", "!b", [])];
    expect(lengthText({ length: 2, steps })).toBe("2 stimuli and responses, 1 silence");
  });

  it("count the steps of a test as its run does, the deviation apart", () => {
    const allowed = [step(1, "stimulus", "?a", []), step(2, "response", "!b", [])];
    expect(stepsText(allowed)).toBe("2 steps");
    expect(stepsText([...allowed, step(3, "deviation", "!c", [])])).toBe("2 steps and the deviation");
  });
});

describe("values", () => {
  it("are read by the type of their parameter", () => {
    expect(read("12", "integer")).toEqual({ value: 12 });
    expect(read("12", "integer(0..9999)")).toEqual({ value: 12 });
    expect(read("1.5", "integer")).toBeNull();
    expect(read("1.50", "decimal")).toEqual({ value: 1.5 });
    expect(read("true", "boolean")).toEqual({ value: true });
    expect(read("yes", "boolean")).toBeNull();
    expect(read("abc", "string")).toEqual({ value: "abc" });
    expect(read('"a b"', "string")).toEqual({ value: "a b" });
    expect(written("abc")).toBe("abc");
    expect(written(7)).toBe("7");
  });

  it("that do not fit are named", () => {
    const entry = { kind: "stimulus" as const, label: "lock", text: "?lock", parameters: [{ name: "code", type: "integer", suggestions: [1] }] };
    expect(valuesOf(entry, { code: "x" })).toEqual({ wrong: "code has to be integer" });
    expect(valuesOf(entry, { code: "4" })).toEqual({ code: 4 });
  });
});

describe("words", () => {
  it("never call something complete that is not", () => {
    expect(percent(1999, 2000)).toBe("99 %");
    expect(percent(2000, 2000)).toBe("100 %");
    expect(percent(0, 0)).toBe("–");
  });

  it("give times and numbers in readable units", () => {
    expect([seconds(0.0005), seconds(0.25), seconds(3.21), seconds(75), seconds(7300)]).toEqual(["500 µs", "250 ms", "3.2 s", "1 min 15 s", "2 h 1 min"]);
    expect([moment(1500), moment(2500000), moment(3e9)]).toEqual(["2 µs", "2.50 ms", "3.000 s"]);
    expect(grouped(1234567)).toBe("1\u2009234\u2009567");
  });

  it("know who acts in a step", () => {
    expect(actor(step(1, "stimulus", "?a", []))).toBe("tester");
    expect(actor(step(1, "deviation", "!a", []))).toBe("system");
    expect(actor(step(1, "deviation", "silence", []))).toBe("nobody");
  });

  it("turn a refusal of the server into a message with a hint", () => {
    expect(refusal(400, '{"error":"no such model","hint":"look at ioco.toml"}')).toMatchObject({ message: "no such model", hint: "look at ioco.toml" });
    expect(refusal(401, "").hint).toContain("token");
    expect(refusal(502, "<html>").message).toContain("502");
  });

  it("colour a line without losing a character", () => {
    const line = `o { receive 'lock', constraint: "code == 12" } # why`;
    expect(highlight(line).map((piece) => piece.text).join("")).toBe(line);
    expect(highlight(line).at(-1)).toEqual({ text: "# why", kind: "comment" });
  });

  it("number an axis with few round numbers", () => {
    expect(ticks({ from: 0, to: 100 }, 2)).toEqual([0, 50, 100]);
    expect(ticks({ from: 0, to: 1 }, 2)).toEqual([0, 1]);
    expect(ticks({ from: 0, to: 2350 }, 4)).toEqual([0, 1000, 2000]);
  });
});
