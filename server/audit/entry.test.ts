import { expect, it } from "vitest";
import { ZERO_UUID } from "./chain.ts";
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

it("an id that is no uuid becomes the zero uuid and stands in the details as it was", () => {
  const ids = { actorId: "S-1-5-21", resourceId: "Printer 7" };
  const entry = auditEntry(
    { action: "site.update", actorType: "agent", result: "success", ...ids },
    { now: new Date("2026-01-02T03:04:05.678Z") },
  );
  expect(entry).toMatchObject({ actorId: ZERO_UUID, resourceId: ZERO_UUID });
  expect(JSON.parse(entry.details)).toEqual({ rawActorId: "S-1-5-21", rawResourceId: "Printer 7" });
});
