import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

interface NewAccount {
  /** Lower-cased and unused: the caller holds the lock of the address. */
  email: string;
  name: string;
  status: "invited" | "active";
  emailVerifiedAt: string | null;
}

/** Makes a person without a password. Needs an unscoped handle. */
export async function createAccount<A extends NewAccount>(
  call: Pick<Call, "clock" | "random">,
  tx: Tx,
  account: A,
): Promise<A & { id: string }> {
  const id = call.random.uuid();
  const now = call.clock.now();
  await tx
    .insertInto("users")
    .values({
      id,
      email: account.email,
      name: account.name,
      avatarUrl: null,
      status: account.status,
      passwordHash: null,
      passwordChangedAt: null,
      mfaSecret: null,
      mfaLastStep: 0,
      mfaPending: null,
      mfaPendingExpiresAt: null,
      isPlatformAdmin: false,
      lastLoginAt: null,
      emailVerifiedAt: account.emailVerifiedAt,
      preferences: {},
      failedLogins: 0,
      lockedUntil: null,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  return { ...account, id };
}
