import { aboveOrganization, type Reading } from "./reading.ts";

/**
 * What a section says of all its endpoints at once. Marks beside an endpoint win over it; a later reading wins over an
 * earlier one.
 */
export const sections: readonly Reading[] = [
  // Guards that do not hold everywhere.
  {
    of: ["ALL sessions", "ALL mfa", "ALL passwords", "ALL registrations"],
    says: { exempt: ["partnerGuard", "mfaEnrollment"], permissions: [] },
    quote: "→ 428 `MFA_ENROLLMENT_REQUIRED` on everything except `/auth/*` and `GET /users/me`",
  },
  {
    of: ["GET /users/me"],
    says: { exempt: ["partnerGuard", "mfaEnrollment"], permissions: [] },
    quote: "→ 428 `MFA_ENROLLMENT_REQUIRED` on everything except `/auth/*` and `GET /users/me`",
    because: "the own account; no permission is named",
  },
  {
    of: ["PATCH /users/me"],
    says: { exempt: ["partnerGuard"], permissions: [] },
    quote: "on everything except `/auth/*`, `/users/me`, `GET /orgs/partners/me`",
    because: "the own account; no permission is named",
  },
  {
    of: ["GET /orgs/partners/me"],
    says: { exempt: ["partnerGuard"] },
    quote: "on everything except `/auth/*`, `/users/me`, `GET /orgs/partners/me`",
  },
  {
    of: [
      "GET /users/me/memberships",
      "POST /users/me/memberships/:id/accept",
      "POST /users/me/memberships/:id/select",
      "DELETE /users/me/memberships/:id",
    ],
    says: { exempt: ["partnerGuard", "mfaEnrollment"], permissions: [] },
    quote: "These four are exempt from the partner guard and from 428",
    because: "the person's own memberships; no permission is named",
  },
  // Filters, fields, groups, tags.
  {
    of: ["GET saved-filters", "POST /filters/preview", "POST /filters/:id/preview"],
    says: { permissions: ["devices:read"] },
    quote: "### D2 Saved filters (devices:read / devices:write, no MFA)",
    because: "a preview shows devices and changes nothing",
  },
  {
    of: ["POST /filters", "PATCH /filters/:id", "DELETE /filters/:id"],
    says: { permissions: ["devices:write"] },
    quote: "### D2 Saved filters (devices:read / devices:write, no MFA)",
  },
  { of: ["ALL search"], says: { permissions: [] }, quote: "`GET /search?q&limit` — any authenticated user" },
  {
    of: ["GET custom-fields", "GET device-commands", "GET tags"],
    says: { permissions: ["devices:read"] },
    quote: "Where an endpoint names no permission: `devices:read` to read, `devices:write` to configure",
  },
  {
    of: ["WRITE custom-fields"],
    says: { permissions: ["devices:write"] },
    quote: "Where an endpoint names no permission: `devices:read` to read, `devices:write` to configure",
  },
  {
    of: ["GET device-groups", "POST /groups/:id/preview"],
    says: { permissions: ["devices:read"] },
    quote: "Reads devices:read, writes devices:write, no MFA",
    because: "a preview shows devices and changes nothing",
  },
  {
    of: ["WRITE device-groups"],
    says: { permissions: ["devices:write"] },
    quote: "Reads devices:read, writes devices:write, no MFA",
  },
  {
    of: ["GET roles", "GET access-reviews"],
    says: { permissions: ["users:read"] },
    quote: "`GET /roles/:id/users` — users:read",
    because: "every other read of roles and access reviews names users:read; the ones without a mark stand among them",
  },
  // Agents.
  {
    of: ["ALL agents"],
    says: { kinds: ["agent"] },
    quote: "header `Authorization: Bearer`. Two credentials per device: main and watchdog",
  },
  {
    of: ["POST /agents/:id/heartbeat", "GET /agents/:id/commands", "POST /agents/:id/commands/:commandId/result"],
    says: { watchdog: true },
    quote: "(watchdog may call only heartbeat, commands, result)",
  },
  {
    of: ["ALL agents"],
    says: {},
    alsoErrors: ["INVALID_AGENT_CREDENTIALS", "DEVICE_DECOMMISSIONED", "DEVICE_QUARANTINED", "TENANT_OFFBOARDING"],
    quote: "403 `DEVICE_DECOMMISSIONED`, `DEVICE_QUARANTINED`, `TENANT_OFFBOARDING`",
  },
  // Operations.
  ...operations([
    "patch-compliance",
    "patch-approvals",
    "patch-jobs",
    "patches",
    "patch-policies",
    "threats",
    "security-scans",
    "security-recommendations",
    "security-policies",
    "security-posture",
    "vulnerabilities",
    "software-catalog-items",
    "software-deployments",
    "software-inventory",
    "monitor-rules",
    "monitors",
    "discovery-profiles",
    "discovery-jobs",
    "discovery-assets",
    "snmp-templates",
    "snmp-metrics",
    "snmp-thresholds",
    "snmp-devices",
  ])("devices", "GET needs `devices:read` and the other methods `devices:write!`"),
  ...operations([
    "alerts",
    "alert-rules",
    "alert-channels",
    "alert-policies",
    "alert-templates",
    "alert-correlations",
  ])("alerts", "§1–2 `alerts:read`, `alerts:write!`"),
  ...operations(["script-executions", "scripts", "script-categories", "script-tags", "script-versions", "script-templates"])(
    "scripts",
    "§3 `scripts:read`, `scripts:write!`",
  ),
  ...operations(["automation-runs", "automations"])("automations", "§4 `automations:read`, `automations:write!`"),
  {
    of: [
      "POST /alerts/:id/acknowledge",
      "POST /alerts/:id/resolve",
      "POST /alerts/:id/suppress",
      "POST /alerts/:id/dismiss",
      "POST /alerts/bulk",
    ],
    says: { permissions: ["alerts:acknowledge"], mfa: false },
    quote: "The five state-changing endpoints below need `alerts:acknowledge`, no MFA",
  },
  {
    of: ["ALL third-party-apps"],
    says: { scopes: ["system"], permissions: [] },
    quote: "### 6.5 Third-party catalog (system scope only; else 403)",
    because: "system scope takes the place of a permission",
  },
  // Remote access and live tools.
  {
    of: ["ALL remote-sessions", "ALL tunnels"],
    says: { permissions: ["remote:access"], mfa: true },
    quote: "(prefix /remote; all: U · `remote:access` +MFA)",
  },
  {
    of: ["GET /remote/sessions/:id/ws", "ALL /tunnel-http/:tunnelId/*"],
    says: { kinds: ["public"], permissions: [], mfa: false },
    quote: "Without bearer, but every rule of the user behind ticket, code or cookie holds",
    because: "the ticket or cookie decides, so the pipeline sees no credential",
  },
  {
    of: ["ALL processes", "ALL services", "ALL event-logs", "ALL scheduled-tasks", "ALL registry-entries", "ALL files"],
    says: { permissions: ["devices:execute"], mfa: true },
    alsoErrors: ["REMOTE_ACCESS_POLICY_DENIED", "DEVICE_OFFLINE", "AGENT_ERROR", "AGENT_BAD_RESPONSE", "AGENT_TIMEOUT"],
    quote: "registry and file reads and every other method `devices:execute`",
  },
  {
    of: ["ALL event-logs", "ALL scheduled-tasks", "ALL registry-entries"],
    says: {},
    alsoErrors: ["UNSUPPORTED_OS"],
    quote: "registry, event logs and tasks are Windows-only: 400 `UNSUPPORTED_OS`",
  },
  {
    of: ["GET processes", "GET services", "GET event-logs", "GET scheduled-tasks"],
    says: { permissions: ["devices:read"] },
    quote: "GET of processes, services, event logs and tasks `devices:read`",
  },
  // Management and reporting.
  ...readsAndWrites(["maintenance-windows", "maintenance-occurrences"])("devices", "(reads U · `devices:read`; writes `devices:write` +MFA; OWNER)"),
  ...readsAndWrites(["configuration-policies"])("devices", "(prefix /policies; reads U · `devices:read`; writes `devices:write` +MFA; OWNER)"),
  ...readsAndWrites(["deployments"])("devices", "(prefix /deployments; reads `devices:read`; create/update/delete `devices:write` +MFA"),
  {
    of: [
      "POST /deployments/:id/initialize",
      "POST /deployments/:id/start",
      "POST /deployments/:id/pause",
      "POST /deployments/:id/resume",
      "POST /deployments/:id/cancel",
      "POST /deployments/:id/devices/:deviceId/retry",
    ],
    says: { permissions: ["devices:execute"] },
    quote: "lifecycle `devices:execute` +MFA, plus `scripts:execute` for type script",
    because: "a retry sends the work again, so it belongs to the lifecycle",
  },
  { of: ["GET reports", "GET report-runs"], says: { permissions: ["reports:read"] }, quote: "## 8. Reports (reads `reports:read`" },
  { of: ["WRITE reports"], says: { permissions: ["reports:write"] }, quote: "write/generate saved `reports:write`" },
  { of: ["DELETE /reports/:id"], says: { permissions: ["reports:delete"] }, quote: "delete `reports:delete`)" },
  { of: ["POST /reports/generate"], says: { permissions: ["reports:export"] }, quote: "ad hoc, data, file output `reports:export`" },
  {
    of: [
      "GET /reports/data/device-inventory",
      "GET /reports/data/software-inventory",
      "GET /reports/data/compliance",
      "GET /reports/data/metrics",
    ],
    says: { permissions: ["reports:export", "devices:read"] },
    quote: "need `alerts:read` for alert_summary and [92], `devices:read` for the rest",
  },
  {
    of: ["GET /reports/data/alerts-summary"],
    says: { permissions: ["reports:export", "alerts:read"] },
    quote: "need `alerts:read` for alert_summary and [92], `devices:read` for the rest",
  },
  { of: ["ALL analytics"], says: { permissions: ["devices:read"] }, quote: "## 9. Analytics (`devices:read`;" },
  {
    of: ["GET dashboards", "GET slas"],
    says: { permissions: ["reports:read"] },
    quote: "dashboards, widgets and SLAs `reports:read` / `reports:write`",
  },
  {
    of: ["WRITE dashboards", "WRITE slas"],
    says: { permissions: ["reports:write"] },
    quote: "dashboards, widgets and SLAs `reports:read` / `reports:write`",
  },
  {
    of: ["DELETE /analytics/sla/:id"],
    says: { permissions: ["reports:delete"] },
    quote: "`DELETE /analytics/sla/:id` (reports:delete)",
  },
  {
    of: ["ALL notifications"],
    says: { permissions: [], audit: [] },
    quote: "## 10. Notifications (U; always the caller's own rows)",
  },
  ...readsAndWrites(["webhooks", "webhook-deliveries"])("organizations", "## 11. Webhooks (reads U · `organizations:read`; writes `organizations:write` +MFA)"),
  ...readsAndWrites(["plugins", "plugin-installations"])("organizations", "## 12. Plugins (U; reads `organizations:read`; writes `organizations:write` +MFA"),
  {
    of: ["ALL mcp-tools"],
    says: { kinds: ["apiKey"], permissions: [], audit: ["mcp.tool.<name>"] },
    quote: "with the same behaviour — K only",
    because: "the scope a key needs hangs on the tool",
  },
  {
    of: ["ALL dev-events"],
    says: { kinds: ["user", "apiKey"], permissions: ["devices:write"] },
    quote: "`POST /dev/push` — K (no scope) or U · `devices:write`",
  },
  {
    of: ["ALL service-status"],
    says: { kinds: ["public"] },
    quote: "at the host root and under /api/v1; no auth, no rate limit",
  },
  // Credentials and single sign-on.
  ...readsAndWrites(["api-keys", "enrollment-keys", "service-principals"])(
    "organizations",
    "[U OPS; GET organizations:read, others organizations:write M]",
  ),
  {
    of: ["ALL partner-service-principals"],
    says: { scopes: aboveOrganization, permissions: ["organizations:write"], mfa: true, fullPartner: true },
    alsoErrors: ["PARTNER_ID_REQUIRED"],
    quote: "All: [U PS, mutations M + W]; S must pass `partnerId`.",
    because: "creating names organizations:write; the other mutations stand in the same list",
  },
  {
    of: ["GET partner-service-principals"],
    says: { permissions: ["organizations:read"], mfa: false, fullPartner: false },
    quote: "`GET /partner-service-principals` (organizations:read)",
  },
  { of: ["ALL partner-exports"], says: { kinds: ["partnerKey"] }, quote: "`[SP scope]` = partner principal key" },
  {
    of: ["GET partner-exports"],
    says: { audit: ["partner_api.export"] },
    alsoErrors: ["VALIDATION_ERROR", "INVALID_CURSOR", "SINCE_TOO_OLD", "NOT_FOUND"],
    quote: "Errors 400 `VALIDATION_ERROR`, `INVALID_CURSOR`; 404 unknown or inaccessible",
  },
  { of: ["WRITE partner-exports"], says: { audit: ["partner_api.write"] }, quote: "every partner API request" },
  {
    of: ["GET sso-providers"],
    says: { permissions: [] },
    quote: "| GET | /sso/providers | authenticated |",
  },
  {
    of: ["WRITE sso-providers"],
    says: { permissions: ["organizations:write"], mfa: true },
    quote: "| POST | /sso/providers | organizations:write + MFA |",
  },
  {
    of: ["GET sso-domains"],
    says: { permissions: ["organizations:read"] },
    quote: "mutations organizations:write M. TXT record",
    because: "the list names no permission; the reading half of what its mutations need",
  },
  {
    of: ["WRITE sso-domains"],
    says: { permissions: ["organizations:write"], mfa: true },
    quote: "mutations organizations:write M. TXT record",
  },
  { of: ["ALL sso-logins"], says: { kinds: ["public"] }, quote: "### 6.3 Public (7)" },
  {
    of: ["GET /sso/link/options", "POST /sso/link/start/:providerId"],
    says: { kinds: ["user"], permissions: [] },
    quote: "`GET /sso/link/options` — [U OP]",
  },
  // Privileged access and audit.
  {
    of: ["ALL approver-devices"],
    says: { permissions: [], mfa: true },
    alsoErrors: ["HOME_SESSION_REQUIRED"],
    quote: "Approver devices belong to the person: home session only (403 `HOME_SESSION_REQUIRED`), all but the list [M]",
  },
  { of: ["GET /authenticator/devices"], says: { mfa: false }, quote: "all but the list [M]" },
  {
    of: ["GET /authenticator/policy"],
    says: { permissions: ["users:read"], scopes: aboveOrganization, mfa: false },
    notErrors: ["HOME_SESSION_REQUIRED"],
    quote: "[U users:read; partner scope its own, system with partnerId, organization scope 403",
  },
  { of: ["GET signer-groups", "GET pam-config"], says: { permissions: ["devices:read"] }, quote: "reads `devices:read`; rule create/update/delete" },
  {
    of: ["WRITE signer-groups", "WRITE pam-config"],
    says: { permissions: ["devices:write"], mfa: true },
    quote: "read devices:read; write devices:write M, a PATCH of `signers`",
  },
  { of: ["ALL audit-logs"], says: { permissions: ["audit:read"] }, quote: "[audit:read]; exports audit:export." },
  {
    of: ["POST /audit-logs/export", "GET /audit-logs/export"],
    says: { permissions: ["audit:export"], audit: ["audit_logs.export"] },
    quote: "[audit:read]; exports audit:export.",
  },
  {
    of: ["GET audit-logs"],
    says: {},
    alsoErrors: ["FILTER_TIMEOUT"],
    quote: "All reads here: 10 s in the database, else 422 `FILTER_TIMEOUT`",
  },
  {
    of: ["POST /audit-logs/verify", "GET /audit-logs/anchors"],
    says: {},
    alsoErrors: ["SITE_ACCESS_DENIED", "FULL_PARTNER_ACCESS_REQUIRED", "PARTNER_ACCESS_DENIED", "FORBIDDEN"],
    notErrors: ["FILTER_TIMEOUT"],
    quote: "partner chain without `orgAccess` all 403 `FULL_PARTNER_ACCESS_REQUIRED`",
    because: "the ten seconds are said of the reads of entries above it",
  },
  // Tickets and portal.
  { of: ["GET tickets", "GET ticket-attachments"], says: { permissions: ["tickets:read"] }, quote: "— [tickets:read] · q orgId" },
  { of: ["WRITE tickets"], says: { permissions: ["tickets:write"] }, quote: "— [.. tickets:write] · `{orgId, subject" },
  {
    of: ["POST /tickets/bulk"],
    says: { permissions: ["tickets:write|tickets:manage"] },
    quote: "delete needs `tickets:manage`, assign and status need `tickets:write`",
    because: "the action in the body decides which",
  },
  {
    of: ["DELETE /tickets/:id/attachments/:attachmentId"],
    says: { permissions: ["tickets:write|tickets:manage"] },
    quote: "needs `tickets:write` for own pending upload or own comment's file, `tickets:manage` for anyone else's",
  },
  {
    of: ["GET /portal/tickets/:id/attachments/:attachmentId/content", "POST /portal/auth/logout"],
    says: { kinds: ["portal"], permissions: [] },
    quote: "— portal bearer; ticket of the user's org",
  },
  {
    of: [
      "POST /portal/auth/accept-invite",
      "POST /portal/auth/login",
      "POST /portal/auth/forgot-password",
      "POST /portal/auth/reset-password",
    ],
    says: { kinds: ["public"] },
    quote: "`POST /portal/auth/login` `{email, password, orgId?}`",
    because: "who asks has no session yet",
  },
  // Billing and marketplace.
  ...billing("catalog-items", "catalog"),
  ...billing("invoices", "invoices"),
  ...billing("contracts", "contracts"),
  ...billing("quotes", "quotes"),
  {
    of: ["WRITE catalog-items", "WRITE invoices", "WRITE contracts", "WRITE quotes"],
    says: {},
    alsoErrors: ["BILLING_DISABLED"],
    quote: "billing writes 409 `BILLING_DISABLED`, reads stay",
  },
  {
    of: ["POST /public/quotes/:token/accept", "POST /public/quotes/:token/decline", "GET /public/quotes/:token", "GET /public/invoices/:token"],
    says: { kinds: ["public"], permissions: [], mfa: false },
    notErrors: ["BILLING_DISABLED"],
    quote: "Answers are 409 `INVALID_STATE` while the partner is not active, billing is disabled",
  },
  {
    of: ["ALL accounting-connections"],
    says: { scopes: aboveOrganization, permissions: ["billing:manage"] },
    quote: "— [U PS billing:manage, PUT M] ·",
  },
  {
    of: [
      "ALL marketplace-companies",
      "ALL marketplace-subscriptions",
      "ALL marketplace-products",
      "ALL marketplace-orders",
      "ALL marketplace-integrations",
    ],
    says: { scopes: aboveOrganization, permissions: ["billing:manage"] },
    quote: "All [U PS billing:manage]; O → 403. Mutations M and audited.",
  },
  {
    of: [
      "WRITE marketplace-companies",
      "WRITE marketplace-subscriptions",
      "WRITE marketplace-orders",
      "WRITE marketplace-integrations",
    ],
    says: { mfa: true },
    quote: "All [U PS billing:manage]; O → 403. Mutations M and audited.",
  },
  {
    of: ["WRITE marketplace-integrations"],
    says: { fullPartner: true },
    quote: "every `/integration` and `/sync` mutation need W",
  },
];

function operations(nouns: readonly string[]): (resource: string, quote: string) => Reading[] {
  return readsAndWrites(nouns);
}

/** Reading needs `<resource>:read`, everything else `<resource>:write` and MFA. */
function readsAndWrites(nouns: readonly string[]): (resource: string, quote: string) => Reading[] {
  return (resource, quote) => [
    { of: nouns.map((noun) => `GET ${noun}`), says: { permissions: [`${resource}:read`] }, quote },
    { of: nouns.map((noun) => `WRITE ${noun}`), says: { permissions: [`${resource}:write`], mfa: true }, quote },
  ];
}

/** Billing is for partner and system scope, without MFA. */
function billing(noun: string, resource: string): Reading[] {
  const quote = "Scopes P and S only (O → 403).";
  const because = "the collection names the read and the write permission; what has no mark of its own follows it";
  return [
    { of: [`GET ${noun}`], says: { scopes: aboveOrganization, permissions: [`${resource}:read`] }, quote, because },
    { of: [`WRITE ${noun}`], says: { scopes: aboveOrganization, permissions: [`${resource}:write`] }, quote, because },
  ];
}
