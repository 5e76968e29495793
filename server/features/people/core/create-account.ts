import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

interface NewAccount {
  /** Lower-cased and unused: the caller holds the lock of the address. */
  email: string;
  name: string;
  status: "invited" | "active";
  emailVerifiedAt: string | null;
  /** None = whoever it is cannot sign in with a password. */
  passwordHash?: string;
  /** An administrator of the whole installation. */
  isPlatformAdmin?: boolean;
}

/** Makes a person. Needs an unscoped handle. */
export async function createAccount<A extends NewAccount>(
  { clock, random }: Pick<Services, "clock" | "random">,
  tx: Tx,
  account: A,
): Promise<A & { id: string }> {
  const id = random.uuid();
  const now = clock.now();
  await tx
    .insertInto("users")
    .values({
      id,
      email: account.email,
      name: account.name,
      avatarUrl: null,
      status: account.status,
      passwordHash: account.passwordHash ?? null,
      passwordChangedAt: account.passwordHash === undefined ? null : now,
      mfaSecret: null,
      mfaLastStep: 0,
      mfaPending: null,
      mfaPendingExpiresAt: null,
      isPlatformAdmin: account.isPlatformAdmin ?? false,
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
