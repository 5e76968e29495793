import { type AuditContent, contentFields, contentHash } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import { snakeCase } from "#server/db/naming";

export const AUDIT_BATCH = 100;

export const auditColumns = [...contentFields.map(snakeCase), "checksum"].map((name) => `"${name}"`).join(", ");

/** One entry of usual size (about 600 bytes) as the values of `auditColumns`. */
export function auditRow(orgId: string): (string | null)[] {
  const entry = auditEntry(
    {
      orgId,
      actorType: "user",
      actorId: "7b2ce6f1-8f2f-4f3a-9a51-0b1c77d5a001",
      actorEmail: "tech@msp.example",
      action: "organization.update",
      resourceType: "organization",
      resourceId: orgId,
      resourceName: "Acme West",
      details: {
        changedFields: ["name", "status", "timezone", "billingContact"],
        requestId: "01HZX3J9V3T2D7",
        before: { name: "Acme", status: "trial" },
        after: { name: "Acme West", status: "active" },
      },
      ipAddress: "203.0.113.7",
      userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0",
      result: "success",
    },
    { now: new Date() },
  );
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
