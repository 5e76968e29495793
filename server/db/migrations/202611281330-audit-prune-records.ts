import type { SchemaChange } from "../schema-change.ts";
import { postgresSignedPrunes } from "./audit-prunes-postgres.ts";
import { sqliteSignedPrunes } from "./audit-prunes-sqlite.ts";

/** Prune records are signed and stand in the sequence of the anchors (docs/audit-format.md, "Statements"). */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgresSignedPrunes : sqliteSignedPrunes),
};
