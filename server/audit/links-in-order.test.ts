import { expect, it } from "vitest";
import type { ChainLink } from "./chain.ts";
import { LinksInOrder } from "./links-in-order.ts";

const link = (chainSeq: number): ChainLink => ({
  ...{ chainSeq, auditId: `entry ${chainSeq}`, contentHash: "c", prevHash: null, chainHash: "h" },
});

function handed(order: readonly number[], first: number, waitingMax?: number) {
  const out: number[] = [];
  const links = new LinksInOrder(first, ({ chainSeq }) => void out.push(chainSeq), waitingMax);
  for (const seq of order) links.add(link(seq));
  return { out, links };
}

it("links that change places are handed on by rising position, each once", () => {
  const { out, links } = handed([7, 5, 6, 10, 9, 8, 11], 5);
  expect(out).toEqual([5, 6, 7, 8, 9, 10, 11]);
  expect([links.next, links.gaveUp]).toEqual([12, false]);
});

it("where too many come too early, what is left begins at the next position, and nothing of it was handed on", () => {
  const { out, links } = handed([5, 9, 8, 7, 6], 5, 2);
  expect(out).toEqual([5]);
  expect([links.next, links.gaveUp]).toEqual([6, true]);
});
