import { describe, expect, it } from "vitest";
import { parseExact, show, showWhole, stringifyExact, whole } from "../src/data/exact";

describe("exact JSON", () => {
  it("keeps integers of 64 bits through reading, showing and writing", () => {
    const text = '{"seed":10905525725756348110,"least":-9223372036854775808,"small":7}';
    const value = parseExact(text) as { seed: string; small: number };
    expect(showWhole(value.seed)).toBe("10905525725756348110");
    expect(value.small).toBe(7);
    expect(stringifyExact(value)).toBe(text);
  });

  it("leaves digits in strings and decimals alone", () => {
    const text = '{"a":"12345678901234567890","b":"x \\" 12345678901234567890","c":0.12345678901234568}';
    const value = parseExact(text) as Record<string, unknown>;
    expect(value.a).toBe("12345678901234567890");
    expect(value.b).toBe('x " 12345678901234567890');
    expect(value.c).toBe(0.12345678901234568);
    expect(JSON.parse(stringifyExact(value))).toEqual(JSON.parse(text));
  });

  it("reads typed integers, large ones exactly, and refuses the rest", () => {
    expect(whole(" 42 ")).toBe(42);
    expect(showWhole(whole("18446744073709551615"))).toBe("18446744073709551615");
    for (const text of ["", "1.5", "abc", "1e3", "--1"]) expect(whole(text)).toBeNull();
  });

  it("shows text with quotes and numbers without", () => {
    expect(show("a")).toBe('"a"');
    expect(show(3)).toBe("3");
    expect(show(null)).toBe("null");
    expect(show(parseExact("10905525725756348110"))).toBe("10905525725756348110");
  });
});
