import { z } from "zod";
import { staff } from "../../core/access.ts";
import { AuditStatement, AuditVerify } from "../../core/audit-proof.ts";
import { get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { bound, type FieldMeta, flag, idOf, instant, ref, searchText } from "../../core/fields.ts";
import { pageQuery } from "../../core/page.ts";

export const auditResults = ["success", "failure", "denied"] as const;
export const auditActorTypes = ["user", "api_key", "agent", "system", "ai_agent"] as const;
export const auditCategories = [
  "authentication",
  "device",
  "automation",
  "policy",
  "alert",
  "compliance",
  "organization",
  "system",
] as const;

const Pagination = shape("AuditPagination", () =>
  z.object({
    page: z.int(),
    limit: z.int(),
    total: z.int().describe("-1 when the count was skipped"),
    totalPages: z.int().describe("-1 when the count was skipped"),
  }),
);

/** One entry as a viewer shows it (docs/audit.md, "Reading entries"). */
export const AuditViewEntry = shape("AuditViewEntry", () =>
  z.object({
    id: idOf("audit-log"),
    timestamp: instant(),
    action: z.string(),
    resource: z.string(),
    resourceType: z.string(),
    details: z.string().describe("JSON text"),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    sessionId: idOf("session").nullable(),
    user: z.object({ name: z.string(), email: z.string().nullable(), role: z.string(), department: z.string() }),
    changes: z.object({ before: z.unknown(), after: z.unknown() }),
  }),
);

/** One entry in full. */
export const AuditLogEntry = shape("AuditLogEntry", () =>
  z.object({
    id: idOf("audit-log"),
    timestamp: instant(),
    user: z.object({ id: z.string(), name: z.string(), email: z.string().nullable(), role: z.enum(auditActorTypes) }),
    action: z.string(),
    resource: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
    category: z.enum(auditCategories),
    result: z.enum(auditResults),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  }),
);

const ofOrganization = () => ref("organization").optional().describe("only those of this organization");
const ofUser = () => searchText().optional().describe("part of the actor's email or name");
const ofAction = () => searchText().optional().describe("part of the action");
const ofResource = () => searchText().optional().describe("resource type or name");
const range = () => ({
  from: bound("from").optional().describe("start time or day"),
  to: bound("to").optional().describe("end time, or the end of this day"),
});
const narrowing = () => ({
  orgId: ofOrganization(),
  user: ofUser(),
  action: ofAction(),
  resource: ofResource(),
  ...range(),
});

const filters = () => ({
  ...pageQuery(),
  ...narrowing(),
  skipCount: flag().optional().describe("true: total and totalPages are -1"),
});

/** Entries as a file would have them; `oldest` is where the next export ends (docs/audit.md, "Exports"). */
export const AuditExport = shape("AuditExport", () =>
  z.object({
    total: z.int().describe("all that match, also beyond those exported"),
    truncated: z.boolean().describe("true: only the newest 10,000 are here"),
    oldest: instant().nullable().describe("continue with `to` = this"),
    data: z.array(AuditLogEntry()),
  }),
);

/** An entry exactly as it was hashed, and what leads from it to an anchor (docs/audit-format.md, "Proofs"). */
export const AuditProof = shape("AuditProof", () =>
  z.object({
    entry: z.object({
      ...{ id: z.string(), orgId: z.string().nullable(), partnerId: z.string().nullable(), timestamp: instant() },
      ...{ actorType: z.string(), actorId: z.string().nullable(), actorEmail: z.string().nullable() },
      ...{ action: z.string(), resourceType: z.string().nullable(), resourceId: z.string().nullable() },
      ...{ resourceName: z.string().nullable(), details: z.string(), ipAddress: z.string().nullable() },
      ...{ userAgent: z.string().nullable(), result: z.string(), errorMessage: z.string().nullable() },
    }),
    proof: z.object({
      format: z.literal("ap1"),
      chainSeq: z.int(),
      size: z.int().describe("leaves of the anchor's tree"),
      path: z.string().describe("sibling hashes from the leaf to the root, 32 bytes each, in base64"),
      anchor: z.object({
        ...{ anchorSeq: z.int(), chainKind: z.enum(["system", "partner", "organization"]), chainId: z.string() },
        ...{ headChainSeq: z.int(), headChainHash: z.string().nullable(), entryCount: z.int() },
        ...{ prevAnchorHash: z.string().nullable(), anchoredAt: instant() },
        ...{ signature: z.string().nullable(), signingKeyId: z.string().nullable() },
      }),
    }),
  }),
);

const capped = () => ({
  truncated: z.boolean().describe("true: only the newest 5,000 were counted"),
  oldest: instant().nullable().describe("time of the oldest that was counted"),
});
const byAction = () => z.array(z.object({ action: z.string(), count: z.int() }));
const countedUser = () => ({ userId: z.string(), userName: z.string(), actionCount: z.int() });

/** What people and keys did (docs/audit.md, "Reports"). */
export const UserActivityReport = shape("UserActivityReport", () => {
  const active = z.object({ ...countedUser(), userEmail: z.string().nullable(), lastActiveAt: instant() });
  return z.object({
    totalUsers: z.int(),
    totalEvents: z.int(),
    actionsPerUser: z.array(active),
    topUsers: z.array(active).describe("the first five"),
    recentActivity: z.array(AuditLogEntry()).describe("the newest ten"),
    ...capped(),
  });
});

/** Sign-ins, permissions and policies. */
export const SecurityEventsReport = shape("SecurityEventsReport", () =>
  z.object({
    totalEvents: z.int(),
    loginAttempts: z.int(),
    failedLogins: z.int(),
    permissionChanges: z.int(),
    byAction: byAction(),
    recentEvents: z.array(AuditLogEntry()).describe("the newest ten"),
    ...capped(),
  }),
);

/** Data that was read, changed and exported. */
export const ComplianceReport = shape("ComplianceReport", () =>
  z.object({
    totalEvents: z.int(),
    dataAccess: z.int(),
    dataChanges: z.int(),
    exports: z.int(),
    byAction: byAction(),
    recentEvents: z.array(AuditLogEntry()).describe("the newest ten"),
    ...capped(),
  }),
);

export const AuditStats = shape("AuditStats", () =>
  z.object({
    totalEvents: z.int(),
    byCategory: z.array(z.object({ category: z.enum(auditCategories), count: z.int() })),
    byUser: z.array(z.object(countedUser())),
    range: z.object({ from: instant().nullable(), to: instant().nullable() }),
    ...capped(),
  }),
);

/** The other way round nothing would ever be found. */
const inOrder = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  from === undefined || to === undefined || from <= to;
const inOrderMessage = "from must not be after to";

const searched = () =>
  z
    .string()
    .trim()
    .min(1)
    .max(255)
    .meta({ description: "text to search for", example: "reception-pc" } satisfies FieldMeta);

/** Which chain; organization scope has one only and may leave it out, others name it. */
const selector = () => ({
  orgId: ref("organization").optional().describe("the chain of this organization"),
  partnerId: ref("partner").optional().describe("the chain of this partner"),
  chain: z.literal("system").optional().describe("the chain of the installation"),
});
type Selector = { orgId?: string; partnerId?: string; chain?: string };
const howMany = (chosen: Selector) =>
  [chosen.orgId, chosen.partnerId, chosen.chain].filter((value) => value !== undefined).length;
const onlyOne = (chosen: Selector) => howMany(chosen) <= 1;
const onlyOneMessage = "name one of orgId, partnerId and chain";

const readers = staff().needs("audit:read");
const reported = () => z.object({ orgId: ofOrganization(), ...range() }).refine(inOrder, inOrderMessage);
const chainErrors = [
  "ORG_ACCESS_DENIED",
  "PARTNER_ACCESS_DENIED",
  "FULL_PARTNER_ACCESS_REQUIRED",
  "SITE_ACCESS_DENIED",
  "FORBIDDEN",
] as const;

const about: Noun = {
  name: "audit-logs",
  summary: "The tamper-evident record of what was done",
  thing: "audit-log",
  kinds: { "audit-log": { listedBy: "logs", trail: true } },
  audits: ["audit_logs.verify", "audit_logs.export"],
};

export const auditLogs = resource(about, {
  list: get("/audit-logs", {
    summary: "List audit entries as a viewer shows them, newest first",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    paging: { kind: "page", items: "entries" },
    columns: ["timestamp", "action", "resource", "user.email", "ipAddress", "id"],
    query: () => z.object(filters()).refine(inOrder, inOrderMessage),
    returns: () => z.object({ entries: z.array(AuditViewEntry()), pagination: Pagination() }),
  }),
  logs: get("/audit-logs/logs", {
    summary: "List audit entries in full, newest first",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    paging: { kind: "page", items: "data" },
    columns: ["timestamp", "action", "result", "user.email", "resource.name", "resource.type", "id"],
    query: () => z.object(filters()).refine(inOrder, inOrderMessage),
    returns: () => z.object({ data: z.array(AuditLogEntry()), pagination: Pagination() }),
  }),
  search: get("/audit-logs/search", {
    summary: "Search audit entries",
    description: "Looks into action, actor email, resource type and name, and the details.",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    paging: { kind: "page", items: "data" },
    columns: ["timestamp", "action", "result", "user.email", "resource.name", "resource.type", "id"],
    query: () => z.object({ ...filters(), q: searched() }).refine(inOrder, inOrderMessage),
    returns: () => z.object({ data: z.array(AuditLogEntry()), query: z.string(), pagination: Pagination() }),
  }),
  anchors: get("/audit-logs/anchors", {
    summary: "List the anchors and prune records of a chain, newest first",
    description:
      "Name the chain, as for verify. `each` gives the newest one of every chain you may verify instead, those of deleted organizations included.",
    access: readers,
    errors: chainErrors,
    paging: { kind: "page", items: "data" },
    columns: ["anchorSeq", "type", "chainKind", "chainId", "headChainSeq", "entryCount", "anchoredAt", "signingKeyId"],
    query: () =>
      z
        .object({
          ...pageQuery(),
          ...selector(),
          each: flag().optional().describe("true: the newest of every accessible chain"),
        })
        .refine(onlyOne, onlyOneMessage)
        .refine(({ each, ...named }) => !each || howMany(named) === 0, {
          path: ["each"],
          message: "each takes no orgId, partnerId or chain",
        }),
    returns: () =>
      z.object({
        data: z.array(AuditStatement()),
        pagination: z.object({ page: z.int(), limit: z.int(), total: z.int() }),
        publicKey: z.string().nullable().describe("current signing key: Ed25519, SPKI in base64"),
        publicKeys: z.array(z.string()).describe("all trusted keys, including earlier ones"),
      }),
  }),
  proof: get("/audit-logs/logs/:id/proof", {
    summary: "Show an entry with the proof that it stood in its chain",
    own: "an auditor proves one entry without the rest of the chain: `rmm audit prove`",
    description:
      "About 1 KB beside the entry. 409 until an anchor covers it: one is taken hourly, and by a verification.",
    access: readers,
    errors: ["NOT_FOUND", "INVALID_STATE", "FILTER_TIMEOUT", ...chainErrors],
    returns: AuditProof,
  }),
  export: post("/audit-logs/export", {
    summary: "Export audit entries as JSON or CSV, newest first",
    description:
      "The newest 10,000 that match; `total` counts all, and `to` = `oldest` continues. As CSV the answer is the text, with X-Total-Count, X-Truncated and X-Oldest. 30 a minute and user.",
    access: staff().needs("audit:export"),
    audit: "audit_logs.export",
    loses: "nothing",
    transport: "json-or-csv",
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    bodyOptional: true,
    body: () =>
      z.strictObject({
        format: z.enum(["json", "csv"]).default("json").describe("form of the answer"),
        orgId: ofOrganization(),
        filters: z
          .strictObject({ user: ofUser(), action: ofAction(), resource: ofResource() })
          .optional()
          .describe("parts of email or name, of the action, of the resource's type or name"),
        dateRange: z
          .strictObject(range())
          .refine(inOrder, inOrderMessage)
          .optional()
          .describe("times or days, both included"),
      }),
    returns: () => z.union([AuditExport(), z.string()]),
  }),
  exportCsv: get("/audit-logs/export", {
    summary: "Export audit entries as CSV, newest first",
    description:
      "The newest 10,000 that match; X-Total-Count counts all, and `to` = X-Oldest continues. 30 a minute and user.",
    access: staff().needs("audit:export"),
    audit: "audit_logs.export",
    transport: "csv",
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    query: () =>
      z
        .object({ ...narrowing(), userId: ref("user").optional().describe("only what this actor did") })
        .refine(inOrder, inOrderMessage),
    returns: () => z.string(),
  }),
  bundle: get("/audit-logs/bundle", {
    summary: "Export a whole chain as a bundle that is verified without the server",
    own: "an auditor verifies a chain without the server, and beyond 10,000 entries: `rmm audit export --bundle`",
    description:
      "Lines of JSON with chain positions, anchors and prune records. Name the chain, as for verify. 20 an hour and user.",
    access: staff().needs("audit:export"),
    audit: "audit_logs.export",
    transport: "text",
    errors: chainErrors,
    query: () => z.object(selector()).refine(onlyOne, onlyOneMessage),
    returns: () => z.string(),
  }),
  userActivity: get("/audit-logs/reports/user-activity", {
    summary: "Report who did how much",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    query: reported,
    returns: UserActivityReport,
  }),
  securityEvents: get("/audit-logs/reports/security-events", {
    summary: "Report sign-ins, changes of permissions, and policies",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    query: reported,
    returns: SecurityEventsReport,
  }),
  compliance: get("/audit-logs/reports/compliance", {
    summary: "Report data that was read, changed and exported",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    query: reported,
    returns: ComplianceReport,
  }),
  stats: get("/audit-logs/stats", {
    summary: "Count audit entries by category and by user",
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "FILTER_TIMEOUT"],
    query: reported,
    returns: AuditStats,
  }),
  verify: post("/audit-logs/verify", {
    summary: "Verify a chain from its first entry to its head",
    description:
      "Name one chain; organization scope may leave it out. A broken chain is a 200 with `ok` false, and raises an incident. 30 per hour, user and chain; 2,000 per hour and user.",
    access: readers,
    audit: "audit_logs.verify",
    loses: "nothing",
    errors: chainErrors,
    bodyOptional: true,
    body: () => z.strictObject(selector()).refine(onlyOne, onlyOneMessage),
    returns: AuditVerify,
  }),
  getLog: get("/audit-logs/logs/:id", {
    summary: "Show one audit entry in full",
    access: readers,
    errors: ["NOT_FOUND", "FILTER_TIMEOUT"],
    returns: AuditLogEntry,
  }),
});
