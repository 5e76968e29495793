import type { SchemaChange } from "../schema-change.ts";
import { auditTables } from "./audit-schema.ts";

/** The audit log (docs/audit.md). */
export const audit: SchemaChange = { name: "0005-audit", statements: (dialect) => auditTables[dialect] };
