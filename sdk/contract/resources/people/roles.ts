import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import { ref } from "../../core/fields.ts";
import { whole, wholeOf } from "../../core/page.ts";

/** What members of a tenant may do (docs/people.md, "Roles"). */
const Role = shape("Role", () =>
  z.object({
    id: z.string(),
    scope: z.enum(["partner", "organization"]),
    partnerId: z.string().nullable(),
    orgId: z.string().nullable(),
    name: z.string(),
    description: z.string().nullable(),
    isSystem: z.boolean().describe("built in, the same in every installation"),
    forceMfa: z.boolean(),
    parentRoleId: z.string().nullable(),
    parentRoleName: z.string().nullable(),
    permissions: z.array(z.string()).describe("its own permissions; those of its ancestors are added"),
    userCount: z.int().describe("number of members and invitations in your tenant with this role"),
  }),
);

/** Whose members are meant; without either the caller's own tenant. System scope must name one. */
export const target = () => ({
  orgId: ref("organization").optional().describe("organization whose members are meant"),
  partnerId: ref("partner").optional().describe("partner whose members are meant; system scope only"),
});

export const targetErrors = [
  "FULL_PARTNER_ACCESS_REQUIRED",
  "ORG_ACCESS_DENIED",
  "ORG_CONTEXT_REQUIRED",
  "ORG_ID_REQUIRED",
  "PARTNER_ID_REQUIRED",
] as const;

const RoleList = shape("RoleList", () => wholeOf(Role()));

/** What every list of roles takes and answers. */
export const listOfRoles = {
  access: staff().needs("users:read"),
  errors: targetErrors,
  paging: whole,
  columns: ["name", "scope", "isSystem", "parentRoleName", "userCount", "id"],
  query: () => z.object(target()),
  returns: RoleList,
} as const;

const about: Noun = {
  name: "roles",
  summary: "What members of a tenant may do",
  thing: "role",
  kinds: { role: { names: ["name"], example: "Org Admin" } },
  audits: [],
};

export const roles = resource(about, {
  list: get("/roles", { summary: "List the built-in roles and those of your tenant", ...listOfRoles }),
});
