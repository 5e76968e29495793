import { describe, expect, it } from "vitest";
import { apiKeyScopes } from "#contract/core/key-scopes";
import { permissions } from "#contract/core/permissions";
import { decideScopes, scopeNotHeld } from "#server/features/credentials/api-keys/delegation";
import { newApiKey } from "#server/features/credentials/api-keys/key-material";
import { statusAt } from "#server/features/credentials/api-keys/rules";

describe("API key rules", () => {
  it("counts a key as expired from the moment it ends, and never brings one back", () => {
    const key = (status: "active" | "expired" | "revoked", expiresAt: string | null) => ({ status, expiresAt });
    const now = "2026-03-02T09:00:00.000Z";
    expect(statusAt(key("active", null), now)).toBe("active");
    expect(statusAt(key("active", "2026-03-02T09:00:00.001Z"), now)).toBe("active");
    expect(statusAt(key("active", now), now)).toBe("expired");
    expect(statusAt(key("expired", null), now)).toBe("expired");
    expect(statusAt(key("revoked", now), now)).toBe("revoked");
  });

  it("takes the vocabulary, each scope once, and nothing else", () => {
    expect(decideScopes([])).toEqual({ scopes: [] });
    expect(decideScopes(["sites:read", "sites:read", "audit:read"])).toEqual({ scopes: ["sites:read", "audit:read"] });
    for (const wild of ["*", "devices:*", "*:*"]) expect(decideScopes([wild])).toEqual({ refused: "WILDCARD_SCOPE" });
    expect(decideScopes(["organizations:write"])).toMatchObject({ refused: "UNSUPPORTED_SCOPE" });
    expect(decideScopes(["Devices:read"])).toMatchObject({ refused: "UNSUPPORTED_SCOPE", scope: "Devices:read" });
  });

  it("has a permission of the same name for every scope", () => {
    for (const scope of apiKeyScopes) expect(permissions).toContain(scope);
  });

  it("names the first scope that the caller does not hold", () => {
    expect(scopeNotHeld(["devices:read"], ["devices:read", "devices:write"])).toBe("devices:write");
    expect(scopeNotHeld(["*:*"], [...apiKeyScopes])).toBeUndefined();
    expect(scopeNotHeld([], [])).toBeUndefined();
  });

  it("never makes a key that reads as a partner principal's", () => {
    const partnerLike = Buffer.from("sp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "base64url");
    const plain = Buffer.alloc(24, 1);
    const draws = [partnerLike, plain];
    const made = newApiKey({ bytes: () => draws.shift() as Buffer, uuid: () => "" });
    expect(made.key).toBe(`svc_${plain.toString("base64url")}`);
    expect(made.keyPrefix).toBe(made.key.slice(0, 12));
    expect(made.key).toMatch(/^svc_[A-Za-z0-9_-]{32}$/);
  });
});
