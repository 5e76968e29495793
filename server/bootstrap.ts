import { canonicalEmail } from "#contract/core/email";
import { hashPassword } from "./access/password.ts";
import { builtInRoleId, seedBuiltInRoles } from "./access/roles.ts";
import { lockText } from "./db/dialect/locks.ts";
import { UnitOfWork } from "./db/unit-of-work.ts";
import { createAccount } from "./features/people/core/create-account.ts";
import type { Services } from "./services.ts";

export { passwordProblem } from "./access/password.ts";
export { rescueAccount } from "./features/sign-in/passwords/rescue.ts";

/** Seeds what every installation has: built-in roles, and the first administrator when one is configured. */
export async function bootstrap(services: Services): Promise<void> {
  const unit = new UnitOfWork(services, { kind: "system" });
  await unit.asSystem("bootstrap", (tx) => seedBuiltInRoles(tx, services.clock.now()));
  const admin = services.config.bootstrapAdmin;
  if (!admin) return;
  const made = await createSystemAdmin(services, { ...admin, name: "System Administrator", onlyFirst: true });
  if (made) services.log.info("bootstrap.admin_created", { userId: made });
}

export interface NewAdmin {
  email: string;
  password: string;
  name: string;
  /** Make it only while there is no user at all. */
  onlyFirst: boolean;
}

/** Makes a System Admin; returns its id, or undefined when `onlyFirst` and users exist already. */
export async function createSystemAdmin(services: Services, admin: NewAdmin): Promise<string | undefined> {
  const passwordHash = await hashPassword(admin.password);
  const now = services.clock.now();
  return new UnitOfWork(services, { kind: "system" }).asSystem("bootstrap", async (tx) => {
    // Processes that start together would each find no user, and all but one would fail.
    if (admin.onlyFirst) await lockText(tx, services.store.dialect, "first administrator");
    const existing = await tx.selectFrom("users").select("id").limit(1).executeTakeFirst();
    if (existing && admin.onlyFirst) return undefined;
    const email = canonicalEmail(admin.email);
    if (email === undefined) throw new Error(`${admin.email} is not an email address`);
    const account = { email, name: admin.name, status: "active", emailVerifiedAt: now } as const;
    return (await createAccount(services, tx, { ...account, passwordHash, isPlatformAdmin: true })).id;
  });
}

/** The active System Admin with this address. */
export async function findSystemAdmin(services: Services, address: string) {
  const email = canonicalEmail(address) ?? address;
  return new UnitOfWork(services, { kind: "system" }).asSystem("bootstrap", (tx) =>
    tx
      .selectFrom("users")
      .select(["id", "email", "name"])
      .where("email", "=", email)
      .where("isPlatformAdmin", "=", true)
      .where("status", "=", "active")
      .executeTakeFirst(),
  );
}

export const systemAdminRoleId = builtInRoleId("System Admin");
