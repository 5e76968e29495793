import type { Reader } from "#server/db/unit-of-work";

/** What signing in needs of a user. Secrets among it: never part of an answer. */
const signInColumns = [
  "id",
  "email",
  "name",
  "avatarUrl",
  "status",
  "passwordHash",
  "passwordChangedAt",
  "mfaSecret",
  "mfaLastStep",
  "isPlatformAdmin",
  "lockedUntil",
] as const;

export type SignInUser = NonNullable<Awaited<ReturnType<typeof findUserByEmail>>>;

export const findUserByEmail = (db: Reader, email: string) =>
  db.selectFrom("users").select(signInColumns).where("email", "=", email).executeTakeFirst();

export const findUserById = (db: Reader, id: string) =>
  db.selectFrom("users").select(signInColumns).where("id", "=", id).executeTakeFirst();
