import { expect, it } from "vitest";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { allEndpoints } from "#contract/index";
import type { Problem } from "#server/problem";
import { authorize } from "./authorize.ts";
import type { UserPrincipal } from "./principal.ts";

const forUsers = allEndpoints().filter(({ access }) => access.kinds.includes("user"));
const nameOf = ({ method, path }: AnyEndpoint) => `${method} ${path}`;

/** May do everything in every scope, but for what is given. */
const anybody = (given: Partial<UserPrincipal>): UserPrincipal => ({
  kind: "user",
  userId: "u",
  email: "u@x.example",
  name: "U",
  scope: "partner",
  partnerId: "p",
  partnerStatus: "active",
  orgId: null,
  membershipId: "m",
  roleId: "r",
  roleName: "R",
  permissions: ["*:*"],
  sessionId: "s",
  ssoProviderId: null,
  mfa: true,
  mfaEnrolled: true,
  mfaForced: false,
  orgAccess: "all",
  allowedSiteIds: null,
  ...given,
});

const refusal = (who: Partial<UserPrincipal>, { access }: AnyEndpoint, mfaGate = true) => {
  try {
    const scope = access.scopes.includes("partner") ? "partner" : access.scopes[0];
    authorize(anybody({ ...(scope && { scope }), ...who }), access, { mfaGate });
    return undefined;
  } catch (error) {
    return (error as Problem).code;
  }
};
const passing = (who: Partial<UserPrincipal>, mfaGate?: boolean) =>
  forUsers.filter((endpoint) => refusal(who, endpoint, mfaGate) === undefined).map(nameOf);
const everything = forUsers.map(nameOf);
const memberships = /^\w+ \/users\/me\/memberships(\/|$)/;
const signIn = /^\w+ \/auth\//;

const unenrolled = { mfa: false, mfaEnrolled: false, mfaForced: true };

it("before a forced enrolment only signing in, one's own memberships and one's own account are there", () => {
  const open = everything.filter((name) => signIn.test(name) || memberships.test(name) || name === "GET /users/me");
  const withFactor = forUsers.filter(({ access }) => access.mfa).map(nameOf);
  expect(open.length).toBeGreaterThan(10);
  expect(passing(unenrolled)).toEqual(open.filter((name) => !withFactor.includes(name)));
  expect(passing({ ...unenrolled, mfaForced: false })).toEqual(everything.filter((name) => !withFactor.includes(name)));
});

it("without the gate for second factors nothing asks for one", () => {
  expect(passing(unenrolled, false)).toEqual(everything);
});

it("of an inactive partner only signing in, one's own account, the partner itself and the end of elevations are there", () => {
  const own = ["GET /users/me", "PATCH /users/me", "GET /orgs/partners/me"];
  // Denials and revocations work everywhere; the handler refuses an approval.
  own.push("POST /pam/elevation-requests/:id/respond", "POST /pam/elevation-requests/:id/revoke");
  const ofPartner = forUsers.filter(({ access }) => access.scopes.includes("partner")).map(nameOf);
  const open = ofPartner.filter((name) => signIn.test(name) || memberships.test(name) || own.includes(name));
  for (const partnerStatus of ["pending", "suspended", "churned", "deleted", null]) {
    const passes = passing({ partnerStatus }).filter((name) => ofPartner.includes(name));
    expect(passes, String(partnerStatus)).toEqual(open);
  }
});
