import type { SchemaChange } from "../schema-change.ts";
import { auditTables } from "./audit-schema.ts";

/** The record that nobody rewrites (contract 4 §8.1). */
export const migration: SchemaChange = { statements: (dialect) => auditTables[dialect] };
