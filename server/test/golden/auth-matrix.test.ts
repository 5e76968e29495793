import { expect, it } from "vitest";
import { areas } from "#contract/areas";
import { builtInRoles } from "#contract/core/permissions";
import { allEndpoints, areaOfNoun } from "#contract/index";
import { authorize } from "#server/access/authorize";
import type { UserPrincipal } from "#server/access/principal";
import { Problem } from "#server/problem";
import { expectGolden } from "./golden.ts";

const caller = (role: (typeof builtInRoles)[number], changes: Partial<UserPrincipal> = {}): UserPrincipal => ({
  kind: "user",
  userId: "u",
  email: "u@u.example",
  name: "U",
  scope: role.scope,
  partnerId: role.scope === "system" ? null : "p",
  partnerStatus: role.scope === "system" ? null : "active",
  orgId: role.scope === "organization" ? "o" : null,
  membershipId: "m",
  roleId: "r",
  roleName: role.name,
  permissions: role.grants,
  sessionId: "s",
  ssoProviderId: null,
  mfa: true,
  mfaEnrolled: true,
  mfaForced: false,
  orgAccess: role.scope === "partner" ? "all" : null,
  allowedSiteIds: null,
  ...changes,
});

function outcome(who: UserPrincipal, endpoint: ReturnType<typeof allEndpoints>[number]): string {
  try {
    authorize(who, endpoint.access, { mfaGate: true });
    return "allowed";
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

it("every built-in role may call exactly what was agreed", () => {
  const outcomes = new Set<string>();
  for (const area of Object.keys(areas)) {
    const endpoints = allEndpoints().filter(
      (endpoint) => areaOfNoun(endpoint.noun) === area && endpoint.access.kinds.includes("user"),
    );
    const matrix = Object.fromEntries(
      endpoints.map((endpoint) => [
        `${endpoint.method} ${endpoint.path}`,
        Object.fromEntries(builtInRoles.map((role) => [role.name, outcome(caller(role), endpoint)])),
      ]),
    );
    for (const row of Object.values(matrix)) for (const one of Object.values(row)) outcomes.add(one);
    expectGolden(`${area}/auth-matrix.json`, matrix);
  }
  // Checks that admit every caller would write a valid golden file too.
  for (const code of ["allowed", "PERMISSION_DENIED", "FORBIDDEN"]) expect(outcomes).toContain(code);
});

it("no role passes MFA, the partner guard or full access by holding permissions", () => {
  for (const endpoint of allEndpoints().filter((item) => item.access.kinds.includes("user"))) {
    for (const role of builtInRoles) {
      const allowed = outcome(caller(role), endpoint) === "allowed";
      if (!allowed) continue;
      if (endpoint.access.mfa) expect(outcome(caller(role, { mfa: false }), endpoint)).toBe("MFA_REQUIRED");
      if (role.scope !== "system" && !endpoint.access.exempt.partnerGuard) {
        expect(outcome(caller(role, { partnerStatus: "suspended" }), endpoint)).toBe("PARTNER_INACTIVE");
      }
      if (endpoint.access.fullPartner && role.scope === "partner") {
        expect(outcome(caller(role, { orgAccess: "selected" }), endpoint)).toBe("FULL_PARTNER_ACCESS_REQUIRED");
      }
    }
  }
});
