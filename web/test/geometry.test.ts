import { describe, expect, it } from "vitest";
import { arrow, bounds, fit, neighbour, rounded, shelves, zoom } from "../src/graph/geometry";

describe("geometry", () => {
  it("fits a box into a window, centred and not magnified too much", () => {
    const view = fit({ x: 100, y: 100, width: 1000, height: 10 }, 500, 300);
    expect(100 * view.scale + view.x).toBeCloseTo(28);
    expect(1100 * view.scale + view.x).toBeCloseTo(472);
    expect(105 * view.scale + view.y).toBeCloseTo(150);
    expect(fit({ x: 0, y: 0, width: 1, height: 1 }, 500, 300).scale).toBe(1.15);
  });

  it("zooms about a point, which stays", () => {
    const before = { x: 10, y: 20, scale: 1 };
    const after = zoom(before, 2, { x: 100, y: 50 });
    expect((100 - after.x) / after.scale).toBeCloseTo(90);
    expect((50 - after.y) / after.scale).toBeCloseTo(30);
  });

  it("rounds corners only between lines, and ends where the line ends", () => {
    expect(rounded([{ x: 0, y: 0 }, { x: 0, y: 20 }, { x: 30, y: 20 }], 5)).toBe("M0 0L0 15Q0 20 5 20L30 20");
    expect(rounded([{ x: 0, y: 0 }, { x: 9, y: 0 }], 5)).toBe("M0 0L9 0");
    expect(rounded([], 5)).toBe("");
  });

  it("draws the head of an arrow at its end", () => {
    expect(arrow([{ x: 0, y: 0 }, { x: 20, y: 0 }], 8, 6)).toMatch(/^M20 0L12 /);
    expect(arrow([], 8, 6)).toBe("");
  });

  it("walks to the neighbour in a direction", () => {
    const box = (x: number, y: number) => ({ x, y, width: 2, height: 2 });
    const boxes = new Map([["a", box(0, 0)], ["b", box(50, 3)], ["c", box(20, 60)], ["d", box(90, 0)]]);
    expect(neighbour(boxes, "a", { x: 1, y: 0 })).toBe("b");
    expect(neighbour(boxes, "a", { x: 0, y: 1 })).toBe("c");
    expect(neighbour(boxes, "a", { x: -1, y: 0 })).toBeNull();
    expect(neighbour(boxes, "nowhere", { x: 1, y: 0 })).toBeNull();
  });

  it("places independent parts without overlap", () => {
    const sizes = [60, 40, 90, 30, 30].map((size) => ({ width: size, height: size / 2 }));
    const places = shelves(sizes, 10);
    const boxes = places.map((place, index) => ({ ...place, ...sizes[index]! }));
    for (const [index, a] of boxes.entries()) {
      for (const b of boxes.slice(index + 1)) {
        const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        expect(apart).toBe(true);
      }
    }
    expect(bounds([]).width).toBe(0);
  });
});
