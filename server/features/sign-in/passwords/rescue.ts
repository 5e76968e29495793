import { builtInRoleId } from "#server/access/roles";
import { type AuditEvent, auditEntry } from "#server/audit/entry";
import { auditHandle } from "#server/audit/handle";
import { enqueueAudit } from "#server/audit/outbox";
import { asSystem } from "#server/db/as-system";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { findUserByEmail, type SignInUser } from "#server/features/people/core/find-user";
import { findMemberships } from "#server/features/sign-in/core/invitation";
import { issueUserToken } from "#server/features/sign-in/core/user-tokens";
import { clearFactor } from "#server/features/sign-in/mfa/disable";
import { queueMail } from "#server/jobs/mail-queue";
import type { Services } from "#server/services";
import { rescueMail } from "./rescue-mail.ts";

interface Rescue {
  email: string;
  clearMfa: boolean;
}

/**
 * The last way into an account, for whoever holds the server's host (docs/sign-in.md, "Rescue"): a token that sets a
 * password also where single sign-on is enforced, and lets one sign-in pass. Undefined unless the account is active.
 */
export function rescueAccount(services: Services, { email, clearMfa }: Rescue): Promise<string | undefined> {
  return asSystem(services, "rescue account")
    .transaction()
    .execute(async (tx) => {
      const user = await findUserByEmail(tx, email);
      if (user?.status !== "active") return undefined;
      const token = await issueUserToken(tx, services, {
        userId: user.id,
        kind: "password_reset",
        data: { rescue: true },
      });
      if (clearMfa) await clearFactor(tx, user.id, services.clock.now());
      await record(services, tx, user, clearMfa);
      const told = [user.email, ...(await administratorsOver(tx, user))];
      for (const to of new Set(told)) await queueMail(tx, services, rescueMail({ to, email: user.email, clearMfa }));
      return token;
    });
}

async function record(services: Services, tx: Tx, user: SignInUser, clearMfa: boolean): Promise<void> {
  const event = (action: string): AuditEvent => ({
    action,
    actorType: "system",
    resourceType: "user",
    resourceId: user.id,
    resourceName: user.name,
    details: { method: "rescue" },
    result: "success",
  });
  const actions = ["user.password.reset", ...(clearMfa ? ["user.mfa_reset"] : [])];
  const now = new Date(services.clock.nowMs());
  const entries = actions.map((action) => auditEntry(event(action), { now }));
  await enqueueAudit(auditHandle(tx), entries);
}

/** Partner Admins of the partners that the person belongs to; over an administrator of the installation the others. */
async function administratorsOver(db: Reader, user: SignInUser): Promise<string[]> {
  const memberships = await findMemberships(db, { userId: user.id });
  const partnerIds = memberships.filter(({ acceptedAt }) => acceptedAt !== null).map(({ partnerId }) => partnerId);
  const active = db.selectFrom("users").select("users.email").where("users.status", "=", "active");
  const operators = user.isPlatformAdmin ? await active.where("users.isPlatformAdmin", "=", true).execute() : [];
  const admins =
    partnerIds.length === 0
      ? []
      : await active
          .innerJoin("partnerUsers", "partnerUsers.userId", "users.id")
          .where("partnerUsers.partnerId", "in", partnerIds)
          .where("partnerUsers.roleId", "=", builtInRoleId("Partner Admin"))
          .where("partnerUsers.acceptedAt", "is not", null)
          .execute();
  return [...operators, ...admins].map(({ email }) => email);
}
