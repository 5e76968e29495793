import type { Reader } from "#server/db/unit-of-work";
import { isHomeSession } from "#server/features/sign-in/core/home-session";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { selectedOrgs } from "./queries.ts";

/** The caller's account and what its membership allows, as of now. */
export async function getMe(
  call: Pick<Call, "who" | "db" | "config" | "clock" | "readAsSystem">,
  db: Reader = call.db,
) {
  const who = user(call);
  const row = await db
    .selectFrom("users")
    .select(["id", "email", "name", "avatarUrl", "status", "mfaSecret", "isPlatformAdmin", "lastLoginAt"])
    .select(["passwordChangedAt", "emailVerifiedAt", "preferences", "createdAt", "updatedAt"])
    .where("id", "=", who.userId)
    .executeTakeFirst();
  if (!row) throw problem("UNAUTHENTICATED");
  const { mfaSecret, ...account } = await asSeen(call, row);
  const selected = who.orgAccess === "selected" && who.membershipId !== null ? who.membershipId : undefined;
  return {
    ...account,
    mfaEnabled: mfaSecret !== null,
    mfaMethod: mfaSecret === null ? null : ("totp" as const),
    scope: who.scope,
    partnerId: who.partnerId,
    orgId: who.orgId,
    roleId: who.roleId,
    roleName: who.roleName,
    permissions: [...who.permissions].sort(),
    orgAccess: who.orgAccess,
    orgIds: selected === undefined ? null : ((await selectedOrgs(db, [selected])).get(selected) ?? []),
    siteIds: who.allowedSiteIds === null ? null : [...who.allowedSiteIds],
    mfaSatisfied: who.mfa || !call.config.enable2fa,
  };
}

/**
 * Outside a home session what its tenant may see of a member, and no more: the person's own provider elsewhere is not
 * asked for the rest.
 */
async function asSeen<A extends { preferences: unknown }>(call: Pick<Call, "who" | "clock" | "readAsSystem">, row: A) {
  const who = user(call);
  if (who.ssoProviderId === null) return row;
  const isHome = await call.readAsSystem("sign-in", (db) => isHomeSession(db, who, call.clock.now()));
  if (isHome) return row;
  const hidden = { avatarUrl: null, passwordChangedAt: null, emailVerifiedAt: null, lastLoginAt: null };
  return { ...row, ...hidden, isPlatformAdmin: false, preferences: {} };
}
