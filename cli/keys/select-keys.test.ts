import { describe, expect, it } from "vitest";
import { kindsOf } from "./key-kinds.ts";
import type { ListedKey } from "./listed-key.ts";
import { selectKeys } from "./select-keys.ts";

const NOW = Date.parse("2026-03-02T09:00:00.000Z");
const DAY = 86_400_000;
const days = (count: number) => new Date(NOW + count * DAY).toISOString();

const key = (id: string, fields: Partial<ListedKey>): ListedKey => ({
  kind: "api-key",
  id,
  name: id,
  organization: "contoso",
  orgId: "o",
  principal: null,
  principalId: null,
  keyPrefix: "svc_12345678",
  status: "active",
  issuedAt: days(-10),
  expiresAt: null,
  lastUsedAt: null,
  ...fields,
});

const keys = [
  key("young", { issuedAt: days(-1), expiresAt: days(14) }),
  key("old", { issuedAt: days(-100), expiresAt: days(3) }),
  key("oldest", { issuedAt: days(-400) }),
  key("exactly", { issuedAt: days(-90) }),
  key("gone", { issuedAt: days(-200), expiresAt: days(-1), status: "expired" }),
  key("revoked", { issuedAt: days(-300), expiresAt: days(1), status: "revoked" }),
  key("used up", { issuedAt: days(-300), expiresAt: days(1), status: "exhausted" }),
];
const chosen = (filter: Parameters<typeof selectKeys>[1]) => selectKeys(keys, filter, NOW).map(({ id }) => id);

describe("choosing keys", () => {
  it("without a filter: all but the revoked, the oldest material first", () => {
    expect(chosen({})).toEqual(["oldest", "used up", "gone", "old", "exactly", "young"]);
    expect(chosen({ revoked: true })).toContain("revoked");
  });

  it("what ends soon: only what still works, the soonest first, the last moment counts", () => {
    expect(chosen({ expiringMs: 14 * DAY })).toEqual(["old", "young"]);
    expect(chosen({ expiringMs: 14 * DAY - 1 })).toEqual(["old"]);
  });

  it("what is old: only what still works, and exactly 90 days is not older than 90 days", () => {
    expect(chosen({ olderThanMs: 90 * DAY })).toEqual(["oldest", "old"]);
  });

  it("filters add up", () => {
    expect(chosen({ expiringMs: 14 * DAY, olderThanMs: 90 * DAY })).toEqual(["old"]);
  });
});

describe("--kind", () => {
  it("takes commas, repetition, plurals and short names, once each", () => {
    expect(kindsOf(["partner-keys,api", "api-key"])).toEqual(["api-key", "partner-key"]);
    expect(kindsOf(undefined)).toBeUndefined();
  });

  it("refuses what is none, with what there is", () => {
    expect(() => kindsOf(["api-kye"])).toThrow(/api-key, service-principal, partner-key, enrollment-key.*api-key/);
    expect(() => kindsOf(["constructor"])).toThrow(/must be one of/);
  });
});
