import { aboveOrganization, type Reading } from "./reading.ts";

/** Who may call: what stands in prose, or in a mark that speaks of more than one endpoint. */
export const gates: readonly Reading[] = [
  {
    of: ["GET /devices/:id/custom-fields"],
    says: { kinds: ["user", "apiKey"], permissions: ["devices:read"], keyScopes: ["devices:read"] },
    quote: "— bearer devices:read, or API key scope `devices:read`",
  },
  {
    of: ["PATCH /devices/:id/custom-fields"],
    says: { kinds: ["user", "apiKey"], permissions: ["devices:write"], keyScopes: ["devices:write"], mfa: false },
    quote: "— bearer devices:write or key `devices:write`",
  },
  {
    of: ["POST /automations/:id/trigger"],
    says: { kinds: ["user", "public"], permissions: ["automations:write"], mfa: true },
    quote: "— two callers. User: P automations:write! ·",
    because: "the signed call carries no token; the handler checks its signature",
  },
  {
    of: ["GET /patches/approvals"],
    says: { scopes: aboveOrganization },
    quote: "P devices:read, partner or system scope (org → 403)",
  },
  {
    of: ["GET /discovery/topology"],
    says: { permissions: ["topology:read|devices:read"] },
    quote: "P topology:read (devices:read also accepted, chosen)",
  },
  {
    of: ["POST /vulnerabilities/:id/reopen"],
    says: { permissions: ["devices:write|vulnerabilities:accept_risk"] },
    quote: "P devices:write for a mitigated, vulnerabilities:accept_risk for an accepted one",
  },
  {
    of: ["POST /script-library/scripts/:id/versions", "POST /script-library/scripts/:id/rollback/:versionId"],
    says: { permissions: ["scripts:write", "scripts:execute"] },
    quote: "and needs scripts:execute as well, as new version and rollback do",
  },
  {
    of: ["WRITE patch-policies"],
    says: { permissions: ["devices:write", "devices:execute"] },
    quote: "All writes here need `devices:execute` besides devices:write",
  },
  {
    of: ["POST /software/catalog/:id/versions"],
    says: { permissions: ["devices:write", "devices:execute", "scripts:write"] },
    quote: "`POST …/versions` needs `devices:execute` and `scripts:write` besides devices:write",
  },
  {
    of: [
      "GET /remote/sessions/:id",
      "POST /remote/sessions/:id/offer",
      "POST /remote/sessions/:id/ice",
      "POST /remote/sessions/:id/ws-ticket",
      "POST /remote/sessions/:id/end",
      "GET /remote/ice-servers",
    ],
    says: { kinds: ["user", "viewer"] },
    quote: "valid only for that session's GET/offer/ice/ice-servers/ws-ticket, and for its end",
  },
  {
    of: ["POST /sso/providers", "PATCH /sso/providers/:id", "DELETE /sso/providers/:id"],
    says: { fullPartner: false },
    quote: "— [organizations:write M; ownerScope partner needs P + W] ·",
    because: "full partner access is asked for only where the owner is a partner",
  },
  {
    of: ["POST /pam/elevation-requests/:id/assertion-challenge"],
    says: { permissions: ["devices:execute|pam:approve"] },
    quote: "[devices:execute or pam:approve°]",
    because: "the specification names devices:execute alone; who approves without it could otherwise never give a proof",
  },
  {
    of: ["GET /orgs/organizations/:id/portal-users"],
    says: { scopes: aboveOrganization, permissions: ["organizations:read"], mfa: false },
    quote: "[U PS organizations:read | organizations:write M]",
  },
  {
    of: ["POST /orgs/organizations/:id/portal-users", "PATCH /orgs/organizations/:id/portal-users/:userId"],
    says: { scopes: aboveOrganization, permissions: ["organizations:write"], mfa: true },
    quote: "[U PS organizations:read | organizations:write M]",
  },
  {
    of: ["POST /catalog", "PATCH /catalog/:id", "DELETE /catalog/:id"],
    says: { fullPartner: true },
    quote: "create, update and archive need W",
  },
  {
    of: ["POST /invoices/:id/currency"],
    says: { permissions: ["invoices:write"] },
    quote: "(invoices:write; quotes/contracts alike)",
  },
  {
    of: ["POST /invoices/bulk-void"],
    says: { permissions: ["invoices:send"] },
    quote: "`POST /invoices/bulk-issue` (invoices:send)",
    because: "voiding stands in the sentence of issuing, and only deleting drafts names another permission",
  },
  {
    of: ["POST /invoices/:id/resend", "POST /invoices/:id/reset-link"],
    says: { permissions: ["invoices:send"] },
    quote: "`POST /invoices/:id/resend` (invoices:send; 10/h per invoice, recipients audited)",
    because: "a new link replaces the one that sending made",
  },
  {
    of: ["GET /accounting/connection"],
    says: { mfa: false },
    quote: "— [U PS billing:manage, PUT M] ·",
  },
  {
    of: ["PUT /accounting/connection"],
    says: { mfa: true, fullPartner: true },
    quote: "PUT needs W; apiBaseUrl is checked",
  },
  {
    of: ["GET /sso/cli"],
    says: { kinds: ["public"] },
    quote: "- `GET /sso/callback` — always 302",
    because: "the page that ends a sign-in begun by the command; it stands in the list of endpoints alone",
  },
];
