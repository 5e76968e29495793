import type { Reader } from "#server/db/unit-of-work";
import { getAssignableRole, refuseRoleAboveCaller } from "#server/features/people/core/assignable-role";
import { type Call, user } from "#server/http/call";
import { Problem, problem } from "#server/problem";
import type { ProviderOwner } from "./find-active-provider.ts";

/**
 * The role of accounts created at their first sign-in, and the person whose permissions it was checked against
 * (docs/single-sign-on.md, "Default role"). Every save checks it again and records the caller; each sign-in that
 * creates an account checks it against that person's permissions at that time.
 */
export async function decideDefaultRole(
  call: Pick<Call, "who" | "asSystem" | "readAsSystem">,
  db: Reader,
  owner: ProviderOwner,
  roleId: string | null,
): Promise<{ defaultRoleId: string | null; defaultRoleConfiguredBy: string | null }> {
  if (roleId === null) return { defaultRoleId: null, defaultRoleConfiguredBy: null };
  const target =
    "orgId" in owner
      ? ({ kind: "organization", orgId: owner.orgId } as const)
      : ({ kind: "partner", partnerId: owner.partnerId } as const);
  await getAssignableRole(db, target, roleId).catch((error: unknown) => {
    if (error instanceof Problem && error.code === "INVALID_ROLE") throw problem("INVALID_DEFAULT_ROLE");
    throw error;
  });
  await call.readAsSystem("measure a role", (all) => refuseRoleAboveCaller(call, all, roleId));
  return { defaultRoleId: roleId, defaultRoleConfiguredBy: user(call).userId };
}
