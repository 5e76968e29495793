import type { Kysely } from "kysely";
import type { Database } from "#server/db/tables";
import type { AuditTables } from "./tables.ts";

/** The audit room sees its own tables only. The whole database holds them, which Kysely's types cannot tell. */
export const auditHandle = (db: Kysely<Database>): Kysely<AuditTables> => db as unknown as Kysely<AuditTables>;
