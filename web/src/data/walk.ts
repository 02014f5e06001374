/** Walking a model by hand: values for parameters, as they are typed. */

import type { Json, MenuEntry, Values, WalkStep } from "./contract";
import { show, whole } from "./exact";

/** The value that a typed text means for a type; null where it is none. */
export function read(text: string, type: string): { value: Json } | null {
  const typed = text.trim();
  if (type === "boolean") return typed === "true" ? { value: true } : typed === "false" ? { value: false } : null;
  if (/^integer/.test(type) || /^-?\d+\.\.-?\d+$/.test(type)) {
    const value = whole(typed);
    return value === null ? null : { value };
  }
  if (/^decimal/.test(type)) return /^-?\d+(\.\d+)?$/.test(typed) ? { value: Number(typed) } : null;
  if (/^(list|hash|struct|array|\[|\{)/.test(type)) {
    try {
      return { value: JSON.parse(typed) as Json };
    } catch {
      return null;
    }
  }
  // Text and enumerations: with or without quotes.
  if (/^".*"$/.test(typed)) {
    try {
      return { value: JSON.parse(typed) as Json };
    } catch {
      return { value: typed };
    }
  }
  return { value: typed };
}

/** How a value stands in a field, or in a list of changes. */
export function written(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? show(value).replace(/^"(.*)"$/, "$1") : show(value);
}

export function valuesOf(entry: MenuEntry, typed: Record<string, string>): Values | { wrong: string } {
  const values: Values = {};
  for (const { name, type } of entry.parameters) {
    const text = typed[name] ?? "";
    if (text.trim() === "") continue; // it stays unset
    const value = read(text, type);
    if (!value) return { wrong: `${name} has to be ${type}` };
    values[name] = value.value;
  }
  return values;
}

export function stepOf(entry: MenuEntry, values: Values): WalkStep {
  return { kind: entry.kind, label: entry.label, values };
}
