import { z } from "zod";
import { staff } from "../../core/access.ts";
import { del, get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { instant, success } from "../../core/fields.ts";
import { whole, wholeOf } from "../../core/page.ts";
import { TokenPair } from "../sign-in/sessions.ts";

/** Where a person belongs, or is invited to (docs/people.md, "Own memberships"). */
export const Membership = shape("Membership", () =>
  z.object({
    id: z.string(),
    kind: z.enum(["partner", "organization"]),
    tenantId: z.string(),
    tenantName: z.string(),
    roleName: z.string(),
    status: z.enum(["active", "invited"]).describe("`invited`: grants nothing until you accept it"),
    selected: z.boolean().describe("used by your next sign-in with a password, if possible"),
    home: z.boolean().describe("sessions through this tenant's identity provider may change your account"),
    createdAt: instant(),
  }),
);

const own = staff().exemptFrom("partnerGuard", "mfaEnrollment");

const about: Noun = {
  name: "memberships",
  summary: "Where you belong, and are invited to",
  thing: "membership",
  kinds: { membership: { label: "tenantName" } },
  audits: ["user.membership.select", "user.invite.accepted", "user.remove"],
};

export const memberships = resource(about, {
  list: get("/users/me/memberships", {
    summary: "List your memberships and invitations",
    access: own,
    paging: whole,
    columns: ["tenantName", "kind", "roleName", "status", "selected", "home", "createdAt", "id"],
    returns: () => wholeOf(Membership()),
  }),
  accept: post("/users/me/memberships/:id/accept", {
    summary: "Accept an invitation",
    access: own,
    audit: "user.invite.accepted",
    loses: "nothing",
    errors: ["NOT_FOUND", "HOME_SESSION_REQUIRED", "INVALID_INVITE"],
    returns: Membership,
  }),
  select: post("/users/me/memberships/:id/select", {
    summary: "Switch to another of your memberships",
    description: "A new session in that tenant, with the second factor of this one; this one stays.",
    access: own,
    audit: "user.membership.select",
    loses: "nothing",
    idempotent: true,
    errors: ["NOT_FOUND", "HOME_SESSION_REQUIRED", "SSO_REQUIRED"],
    returns: TokenPair,
  }),
  remove: del("/users/me/memberships/:id", {
    summary: "Leave a tenant, or decline its invitation",
    access: own,
    emits: ["user.removed"],
    audit: "user.remove",
    errors: ["NOT_FOUND", "LAST_ADMIN"],
    returns: success,
  }),
});
