import { expect, it } from "vitest";
import { auditEntry } from "./entry.ts";

const detailsOf = (details: Record<string, unknown>) =>
  auditEntry(
    { action: "organization.update", actorType: "user", result: "success", details },
    { now: new Date("2026-01-02T03:04:05.678Z") },
  ).details;

it("an entry holds its details whole, as RFC 8785 writes them, whatever the order of their keys (C32)", () => {
  const text =
    '{"1":"one","after":{"name":"B","tags":[{"a":1,"b":[]}]},"before":{"name":"A"},"n":[1,1e+21,1e-7,0],"é":"日本","🦀":null}';
  const after = { tags: [{ b: [], a: 1.0 }], name: "B" };
  const numbers = [1.0, 1e21, 1e-7, -0];
  expect(detailsOf({ é: "日本", "🦀": null, n: numbers, before: { name: "A" }, after, 1: "one" })).toBe(text);
  expect(detailsOf({ after, "🦀": null, before: { name: "A" }, 1: "one", é: "日本", n: numbers })).toBe(text);
});
