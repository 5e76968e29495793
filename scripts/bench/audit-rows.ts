import { usualEntry } from "#fixtures/usual-entry";
import { type AuditContent, contentFields, contentHash } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import { snakeCase } from "#server/db/naming";

export const AUDIT_BATCH = 100;

export const auditColumns = [...contentFields.map(snakeCase), "checksum"].map((name) => `"${name}"`).join(", ");

/** One entry of usual size as the values of `auditColumns`. */
export function auditRow(orgId: string): (string | null)[] {
  const entry = auditEntry(usualEntry(orgId), { now: new Date() });
  return [...contentFields.map((field) => (entry as AuditContent)[field]), contentHash(entry)];
}

/** Multi-row insert for Postgres. */
export const auditInsert = (rows: number): string => {
  const width = 17;
  const row = (at: number) =>
    `(${Array.from({ length: width }, (_, column) => `$${at * width + column + 1}`).join(", ")})`;
  return `insert into audit_logs (${auditColumns}) values ${Array.from({ length: rows }, (_, at) => row(at)).join(", ")}`;
};

export const auditOrg = (index: number): string => `0190c0de-0000-7000-8000-${String(index).padStart(12, "0")}`;
