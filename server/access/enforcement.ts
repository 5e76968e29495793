import type { DialectName } from "#server/db/dialect/index";
import { lockText, shareText } from "#server/db/dialect/locks";
import type { Reader, Tx } from "#server/db/unit-of-work";

/** An organization, or a partner itself: the partner above an organization is another tenant. */
export interface TenantOf {
  readonly orgId: string | null;
  readonly partnerId: string | null;
}

/** Active providers that enforce single sign-on. A SAML provider cannot sign anyone in and enforces nothing. */
export const enforcingProviders = (db: Reader) =>
  db
    .selectFrom("ssoProviders")
    .where("type", "=", "oidc")
    .where("status", "=", "active")
    .where("enforceSso", "=", true);

/**
 * Whether no password opens the tenant, as of now and until the transaction ends: enforcement that is about to begin
 * waits, and then finds the session that it ends. Needs an unscoped handle.
 */
export async function isEnforced(tx: Tx, dialect: DialectName, { orgId, partnerId }: TenantOf): Promise<boolean> {
  const tenant = orgId ?? partnerId;
  if (tenant === null) return false;
  await shareText(tx, dialect, enforcementOf(tenant));
  const column = orgId === null ? "partnerId" : "orgId";
  return (await enforcingProviders(tx).select("id").where(column, "=", tenant).executeTakeFirst()) !== undefined;
}

/** Before sessions are ended because enforcement begins: waits for those that a password is opening. */
export const waitForPasswords = (tx: Tx, dialect: DialectName, { orgId, partnerId }: TenantOf): Promise<void> =>
  lockText(tx, dialect, enforcementOf((orgId ?? partnerId) as string));

const enforcementOf = (tenantId: string) => `sso-enforcement:${tenantId}`;
