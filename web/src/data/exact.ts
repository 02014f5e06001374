/**
 * JSON with exact integers.
 *
 * Seeds and values have 64 bits; a JavaScript number has 53. An integer of 16 digits or more is
 * kept as a marked string, shown without its mark, and written back as the number it was.
 */

const MARK = "\u0001";
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
const MARKED = /"\\u0001(-?\d+)"/g;

export function parseExact(text: string): unknown {
  const guarded = text.replace(TOKEN, (token, at: number) => {
    if (token.startsWith('"')) return token;
    const before = text[at - 1];
    // The digits after a decimal point or an exponent belong to a number that is no integer.
    if (before === "." || before === "e" || before === "E" || before === "+") return token;
    return `"\\u0001${token}"`;
  });
  return JSON.parse(guarded);
}

export function stringifyExact(value: unknown): string {
  return JSON.stringify(value).replace(MARKED, "$1");
}

/** The integer that was typed, exact if it is large. */
export function whole(text: string): number | string | null {
  const digits = text.trim();
  if (!/^-?\d+$/.test(digits)) return null;
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : MARK + digits;
}

/** A value as a person reads it. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return value.startsWith(MARK) ? value.slice(1) : JSON.stringify(value);
  }
  return stringifyExact(value ?? null);
}

/** A seed or another integer as a person reads it. */
export function showWhole(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return text.startsWith(MARK) ? text.slice(1) : text;
}
