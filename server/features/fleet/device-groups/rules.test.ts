import { describe, expect, it } from "vitest";
import { LEVELS_MAX, mayStand, type Node, toldIds } from "./rules.ts";

const node = (id: string, parentId: string | null, siteId: string | null = null): Node => ({ id, parentId, siteId });
/** Each under the one before. */
const chain = (length: number, prefix = "n") =>
  Array.from({ length }, (_, at) => node(`${prefix}${at}`, at === 0 ? null : `${prefix}${at - 1}`));

describe("a group may stand", () => {
  it("never under itself, directly or through others", () => {
    const all = chain(3);
    expect(mayStand(node("n0", "n0"), all)).toBe(false);
    expect(mayStand(node("n0", "n2"), all)).toBe(false);
    expect(mayStand(node("n2", "n0"), all)).toBe(true);
    expect(mayStand(node("n2", "unknown"), all)).toBe(false);
  });

  it("in ten levels, with what stands under it", () => {
    const all = chain(LEVELS_MAX);
    expect(mayStand(node("new", `n${LEVELS_MAX - 1}`), all)).toBe(false);
    expect(mayStand(node("new", `n${LEVELS_MAX - 2}`), all)).toBe(true);
    const two = [...chain(5, "a"), ...chain(5, "b")];
    expect(mayStand(node("b0", "a4"), two)).toBe(true);
    expect(mayStand(node("b0", "a4"), [...two, node("b5", "b4")])).toBe(false);
  });

  it("under one of the whole organization or of its own site, and over no other", () => {
    const all = [node("org", null), node("hq", "org", "hq"), node("till", "hq", "hq")];
    expect(mayStand(node("new", "hq", "hq"), all)).toBe(true);
    expect(mayStand(node("new", "hq", "depot"), all)).toBe(false);
    expect(mayStand(node("new", "hq"), all)).toBe(false);
    expect(mayStand(node("hq", "org", "depot"), all)).toBe(false);
    expect(mayStand(node("till", "hq", "depot"), all)).toBe(false);
  });
});

it("an event holds as many ids as there is room for", () => {
  const ids = (length: number) => Array.from({ length }, (_, at) => String(at));
  const told = (added: number, removed: number) => {
    const { addedDeviceIds, removedDeviceIds } = toldIds(ids(added), ids(removed));
    return [addedDeviceIds.length, removedDeviceIds.length];
  };
  expect(told(3, 2)).toEqual([3, 2]);
  expect(told(1_000, 0)).toEqual([380, 0]);
  expect(told(10, 1_000)).toEqual([10, 370]);
  expect(told(1_000, 1_000)).toEqual([190, 190]);
});
