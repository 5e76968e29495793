import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, put, resource, shape } from "../../core/endpoint.ts";
import { idOf, instant } from "../../core/fields.ts";

/** How long an organization's entries are kept (docs/audit.md, "Retention"). */
export const AuditRetention = shape("AuditRetention", () =>
  z.object({
    orgId: idOf("organization"),
    retentionDays: z.int().describe("365 is only proposed while `configured` is false"),
    configured: z.boolean().describe("false: nothing is removed"),
    archiveToS3: z.literal(false).describe("reserved"),
    lastCleanupAt: instant().nullable(),
    enforced: z.literal(false).optional().describe("present where this server removes nothing at all"),
  }),
);

const about: Noun = {
  name: "audit-retention",
  summary: "How long entries of an organization are kept",
  audits: ["audit_retention.update"],
};

export const auditRetention = resource(about, {
  get: get("/orgs/organizations/:id/audit-retention", {
    summary: "Show how long an organization's audit entries are kept",
    access: staff().needs("organizations:read"),
    refs: { id: "organization" },
    errors: ["NOT_FOUND"],
    returns: AuditRetention,
  }),
  set: put("/orgs/organizations/:id/audit-retention", {
    summary: "Set how long an organization's audit entries are kept",
    description:
      "Older entries are removed daily. A first value, and a lower one, takes partner or system scope, and everybody who may read the record there is told.",
    access: staff().needs("organizations:write").withMfa(),
    refs: { id: "organization" },
    audit: "audit_retention.update",
    loses: "row",
    errors: ["NOT_FOUND", "FORBIDDEN", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    body: () => z.strictObject({ retentionDays: z.int().min(1).max(3650).describe("days that an entry is kept") }),
    returns: AuditRetention,
  }),
});
