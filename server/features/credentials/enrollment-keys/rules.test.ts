import { describe, expect, it } from "vitest";
import { decideExpiry, ttlCapMinutes } from "#server/features/credentials/enrollment-keys/rules";

const nowMs = Date.parse("2026-03-02T09:00:00.000Z");
const decide = (expiresAt: string | undefined, capMinutes?: number, defaultTtlMinutes = 90) =>
  decideExpiry({ nowMs, expiresAt, defaultTtlMinutes, capMinutes });

describe("expiry of an enrollment key", () => {
  it("defaults to the configured lifetime", () => {
    expect(decide(undefined)).toEqual({ expiresAt: "2026-03-02T10:30:00.000Z" });
  });

  it("clamps the default to the organization's cap, and leaves a shorter default alone", () => {
    expect(decide(undefined, 30)).toEqual({ expiresAt: "2026-03-02T09:30:00.000Z" });
    expect(decide(undefined, 300)).toEqual({ expiresAt: "2026-03-02T10:30:00.000Z" });
  });

  it("refuses an explicit end beyond the cap, and takes one exactly at it", () => {
    expect(decide("2026-03-02T09:30:00.000Z", 30)).toEqual({ expiresAt: "2026-03-02T09:30:00.000Z" });
    expect(decide("2026-03-02T09:30:00.001Z", 30)).toEqual({ refused: "TTL_EXCEEDS_CAP", maxTtlMinutes: 30 });
  });

  it("refuses now and earlier", () => {
    expect(decide("2026-03-02T09:00:00.000Z")).toEqual({ refused: "past" });
    expect(decide("0001-01-01T00:00:00.000Z")).toEqual({ refused: "past" });
  });

  it("stays within four-digit years whatever lifetime is configured", () => {
    expect(decide(undefined, undefined, Number.MAX_SAFE_INTEGER)).toEqual({ expiresAt: "9999-12-31T23:59:59.999Z" });
  });
});

it("reads a cap only where it is a positive number", () => {
  expect(ttlCapMinutes({ enrollment: { maxTtlMinutes: 60 } })).toBe(60);
  for (const enrollment of [
    undefined,
    null,
    {},
    "x",
    { maxTtlMinutes: 0 },
    { maxTtlMinutes: -1 },
    { maxTtlMinutes: "60" },
  ]) {
    expect(ttlCapMinutes({ enrollment })).toBeUndefined();
  }
});
