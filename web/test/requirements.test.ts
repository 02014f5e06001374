import { expect, test } from "vitest";
import { touching } from "../src/data/requirements";

test("a requirement names every failure that touches it, once", () => {
  const touched = touching([
    { id: "1a", requirements: ["R-1", "R-2"] },
    null,
    { id: "2b", requirements: ["R-1"] },
    { id: "1a", requirements: ["R-1"] },
    { id: "3c", requirements: [] },
  ]);
  expect([...touched]).toEqual([["R-1", ["1a", "2b"]], ["R-2", ["1a"]]]);
});
