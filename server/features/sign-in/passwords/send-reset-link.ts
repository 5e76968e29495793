import { passwordStandingOf } from "#server/access/password-standing";
import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import { findUserByEmail } from "#server/features/people/core/find-user";
import { issueUserToken } from "#server/features/sign-in/core/user-tokens";
import { queueMail } from "#server/jobs/mail-queue";
import type { JobHandler } from "#server/jobs/queue";
import { resetMail } from "./reset-mail.ts";

/**
 * The job behind `POST /auth/forgot-password`: for an active user with a password and a usable tenant that does not
 * enforce single sign-on, makes the token, which ends older ones, and queues the mail in the same transaction.
 */
export const sendResetLink: JobHandler = async (services, payload) => {
  const { email, base } = payload as { email: string; base?: string };
  await asSystem(services, "send password reset")
    .transaction()
    .execute(async (tx) => {
      const user = await findEligible(tx, email);
      if (!user) return;
      const token = await issueUserToken(tx, services, { userId: user.id, kind: "password_reset", data: {} });
      await queueMail(tx, services, resetMail({ to: user.email, name: user.name, base, token }));
    });
};

async function findEligible(tx: Tx, email: string) {
  const user = await findUserByEmail(tx, email);
  if (user?.status !== "active" || user.passwordHash === null) return undefined;
  const { membership } = await passwordStandingOf(tx, user, { breakGlass: false });
  return membership && user;
}
