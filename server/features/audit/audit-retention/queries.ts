import { pruneSetup } from "#server/audit/keeper";
import type { DialectName } from "#server/db/dialect/index";
import { held } from "#server/db/dialect/locks";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

export const retentionOf = (db: Reader, orgId: string) =>
  db
    .selectFrom("auditRetention")
    .select(["retentionDays", "lastCleanupAt"])
    .where("orgId", "=", orgId)
    .executeTakeFirst();

/** Nobody else changes it until the transaction ends. */
export const holdRetention = (tx: Tx, orgId: string, dialect: DialectName) =>
  held(
    tx.selectFrom("auditRetention").select(["retentionDays", "lastCleanupAt"]).where("orgId", "=", orgId),
    dialect,
  ).executeTakeFirst();

/** Whether this server removes anything at all. */
export const enforcement = (services: Services): { enforced?: false } =>
  pruneSetup(services) === undefined ? { enforced: false } : {};
