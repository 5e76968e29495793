import type { SchemaChange } from "../schema-change.ts";
import { postgresSignedPrunes } from "./audit-prunes-postgres.ts";
import { sqliteSignedPrunes } from "./audit-prunes-sqlite.ts";

/** Prune records are signed and stand in the sequence of the anchors. */
export const migration: SchemaChange = {
  name: "202611281030-audit-prune-records",
  statements: (dialect) => (dialect === "postgres" ? postgresSignedPrunes : sqliteSignedPrunes),
};
