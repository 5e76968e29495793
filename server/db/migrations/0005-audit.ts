import type { SchemaChange } from "../schema-change.ts";
import { auditTables } from "./audit-schema.ts";

/** The audit log (docs/audit.md). */
export const migration: SchemaChange = { statements: (dialect) => auditTables[dialect] };
