import { describe, expect, it } from "vitest";
import { mergeSettings, servicePairProblem } from "#server/features/tenancy/partners/rules";

describe("settings merge", () => {
  const stored = {
    timezone: "UTC",
    language: "en",
    businessHours: { preset: "custom", custom: { monday: { start: "08:00", end: "17:00" } } },
    contact: { name: "Ada", email: "ada@example.com" },
    organizationOrder: ["a"],
  };

  it("replaces what is named and keeps the rest", () => {
    expect(mergeSettings(stored, { timezone: "Europe/Paris" })).toEqual({ ...stored, timezone: "Europe/Paris" });
  });

  it("goes one level deeper for contact, business hours and security, and no further", () => {
    const merged = mergeSettings(stored, {
      contact: { phone: "1" },
      businessHours: { custom: { friday: { start: "09:00", end: "12:00" } } },
      security: { requireMfa: true },
    });
    expect(merged).toEqual({
      ...stored,
      contact: { name: "Ada", email: "ada@example.com", phone: "1" },
      businessHours: { preset: "custom", custom: { friday: { start: "09:00", end: "12:00" } } },
      security: { requireMfa: true },
    });
  });

  it("removes a key that is null, at both levels", () => {
    const merged = mergeSettings(stored, { language: null, contact: { name: null }, businessHours: null });
    expect(merged).toEqual({ timezone: "UTC", contact: { email: "ada@example.com" }, organizationOrder: ["a"] });
  });

  it("replaces billing as a whole", () => {
    expect(mergeSettings({ billing: { a: 1 } }, { billing: { b: 2 } })).toEqual({ billing: { b: 2 } });
  });

  it("never lets a caller set what the server keeps", () => {
    expect(mergeSettings(stored, { organizationOrder: ["b"] })).toEqual(stored);
    expect(mergeSettings(stored, { organizationOrder: null })).toEqual(stored);
  });

  it("changes nothing of what it was given", () => {
    const before = structuredClone(stored);
    mergeSettings(stored, { contact: { name: null }, timezone: null });
    expect(stored).toEqual(before);
  });
});

describe("service management pair", () => {
  const pair = (
    serviceManagementMode: "native" | "external" | "off",
    serviceManagementPsaConnectionId: string | null,
  ) => servicePairProblem({ serviceManagementMode, serviceManagementPsaConnectionId });

  it("needs a connection exactly when the mode is external", () => {
    expect(pair("external", null)).toBe("PSA_CONNECTION_REQUIRED");
    expect(pair("external", "id")).toBeUndefined();
    expect(pair("native", "id")).toBe("PSA_CONNECTION_NOT_ALLOWED");
    expect(pair("off", "id")).toBe("PSA_CONNECTION_NOT_ALLOWED");
    expect(pair("native", null)).toBeUndefined();
    expect(pair("off", null)).toBeUndefined();
  });
});
