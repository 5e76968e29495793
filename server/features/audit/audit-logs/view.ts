import type { z } from "zod";
import type { AuditLogEntry, AuditViewEntry, auditCategories } from "#contract/resources/audit/audit-logs";
import type { NameOf } from "./actors.ts";
import type { rowsOfPage } from "./queries.ts";

export type AuditRow = Awaited<ReturnType<typeof rowsOfPage>>[number];
type Viewed = z.infer<ReturnType<typeof AuditViewEntry>>;
type Full = z.infer<ReturnType<typeof AuditLogEntry>>;
type Category = (typeof auditCategories)[number];

/** Category by prefix of the action, first match (docs/audit.md, "Categories"). */
const categories: readonly [prefix: string, category: Category][] = [
  ["user.login", "authentication"],
  ["user.logout", "authentication"],
  ["user.permission", "authentication"],
  ["device.", "device"],
  ["script.", "automation"],
  ["policy.", "policy"],
  ["automation.policy.", "policy"],
  ["alert.", "alert"],
  ["data.", "compliance"],
  ["organization.", "organization"],
];

export const categoryOf = (action: string): Category =>
  categories.find(([prefix]) => action.startsWith(prefix))?.[1] ?? "system";

/** What the person was called when the entry was written. */
const nameThen = ({ actorName }: Record<string, unknown>) => (typeof actorName === "string" ? actorName : undefined);

/** The entry in full. */
export function fullEntry(row: AuditRow, nameOf: NameOf): Full {
  const details = JSON.parse(row.details) as Record<string, unknown>;
  return {
    id: row.id,
    timestamp: row.timestamp,
    user: {
      id: row.actorId ?? "",
      name: nameThen(details) ?? nameOf(row),
      email: row.actorEmail,
      role: row.actorType as Full["user"]["role"],
    },
    action: row.action,
    resource: { type: row.resourceType ?? "", id: row.resourceId, name: row.resourceName },
    category: categoryOf(row.action),
    result: row.result as Full["result"],
    ipAddress: row.ipAddress,
    userAgent: row.userAgent,
    details,
  };
}

/** The entry as the viewer shows it, flat. */
export function viewedEntry(row: AuditRow, nameOf: NameOf): Viewed {
  const details = JSON.parse(row.details) as Record<string, unknown>;
  const changed = "before" in details || "after" in details;
  return {
    id: row.id,
    timestamp: row.timestamp,
    action: row.action,
    resource: row.resourceName ?? row.resourceType ?? "",
    resourceType: row.resourceType ?? "",
    details: row.details,
    ipAddress: row.ipAddress,
    userAgent: row.userAgent,
    sessionId: typeof details["sessionId"] === "string" ? details["sessionId"] : null,
    user: { name: nameThen(details) ?? nameOf(row), email: row.actorEmail, role: row.actorType, department: "" },
    changes: changed
      ? { before: details["before"] ?? {}, after: details["after"] ?? {} }
      : { before: {}, after: details },
  };
}
