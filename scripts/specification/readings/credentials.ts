import { aboveOrganization, answers, type Readings, readsAndWrites, records, says } from "./reading.ts";

export const credentials: Readings = {
  sections: [
    ...readsAndWrites(
      "organizations",
      "api-keys enrollment-keys service-principals",
      "[U OPS; GET organizations:read, others organizations:write M]",
    ),
    answers(
      "ALL partner-service-principals",
      "+PARTNER_ID_REQUIRED",
      "All: [U PS, mutations M + W]; S must pass `partnerId`.",
    ),
    says("ALL partner-exports", { kinds: ["partnerKey"] }, "`[SP scope]` = partner principal key"),
    records(
      "GET partner-exports",
      "partner_api.export",
      "Errors 400 `VALIDATION_ERROR`, `INVALID_CURSOR`; 404 unknown or inaccessible",
    ),
    answers(
      "GET partner-exports",
      "+VALIDATION_ERROR +INVALID_CURSOR +SINCE_TOO_OLD +NOT_FOUND",
      "Errors 400 `VALIDATION_ERROR`, `INVALID_CURSOR`; 404 unknown or inaccessible",
    ),
    records("WRITE partner-exports", "partner_api.write", "every partner API request"),
    says("GET sso-providers", { permissions: [] }, "| GET | /sso/providers | authenticated |"),
    says(
      "WRITE sso-providers",
      { permissions: ["organizations:write"], mfa: true },
      "| POST | /sso/providers | organizations:write + MFA |",
    ),
    says(
      "GET sso-domains",
      { permissions: ["organizations:read"] },
      "mutations organizations:write M. TXT record",
      "the list names no permission; the reading half of what its mutations need",
    ),
    says(
      "WRITE sso-domains",
      { permissions: ["organizations:write"], mfa: true },
      "mutations organizations:write M. TXT record",
    ),
    says("ALL sso-logins", { kinds: ["public"] }, "### 6.3 Public (7)"),
    says(
      "GET /sso/link/options; POST /sso/link/start/:providerId",
      { kinds: ["user"], permissions: [] },
      "`GET /sso/link/options` — [U OP]",
    ),
    says(
      "ALL approver-devices",
      { permissions: [], mfa: true },
      "Approver devices belong to the person: home session only (403 `HOME_SESSION_REQUIRED`), all but the list [M]",
    ),
    answers(
      "ALL approver-devices",
      "+HOME_SESSION_REQUIRED",
      "Approver devices belong to the person: home session only (403 `HOME_SESSION_REQUIRED`), all but the list [M]",
    ),
    says("GET /authenticator/devices", { mfa: false }, "all but the list [M]"),
    says(
      "GET /authenticator/policy",
      { permissions: ["users:read"], scopes: aboveOrganization, mfa: false },
      "[U users:read; partner scope its own, system with partnerId, organization scope 403",
    ),
    answers(
      "GET /authenticator/policy",
      "-HOME_SESSION_REQUIRED",
      "[U users:read; partner scope its own, system with partnerId, organization scope 403",
    ),
    says(
      "GET signer-groups; GET pam-config",
      { permissions: ["devices:read"] },
      "reads `devices:read`; rule create/update/delete",
    ),
    says(
      "WRITE signer-groups; WRITE pam-config",
      { permissions: ["devices:write"], mfa: true },
      "read devices:read; write devices:write M, a PATCH of `signers`",
    ),
    says("ALL audit-logs", { permissions: ["audit:read"] }, "[audit:read]; exports audit:export."),
    says(
      "POST /audit-logs/export; GET /audit-logs/export",
      { permissions: ["audit:export"], audit: ["audit_logs.export"] },
      "[audit:read]; exports audit:export.",
    ),
    answers("GET audit-logs", "+FILTER_TIMEOUT", "All reads here: 10 s in the database, else 422 `FILTER_TIMEOUT`"),
    answers(
      "POST /audit-logs/verify; GET /audit-logs/anchors",
      "+SITE_ACCESS_DENIED +FULL_PARTNER_ACCESS_REQUIRED +PARTNER_ACCESS_DENIED +FORBIDDEN -FILTER_TIMEOUT",
      "partner chain without `orgAccess` all 403 `FULL_PARTNER_ACCESS_REQUIRED`",
      "the ten seconds are said of the reads of entries above it",
    ),
  ],
  corrections: [
    says(
      "GET partner-service-principals",
      { scopes: aboveOrganization, permissions: ["organizations:read"] },
      "All: [U PS, mutations M + W]; S must pass `partnerId`.",
    ),
    says(
      "WRITE partner-service-principals",
      { scopes: aboveOrganization, permissions: ["organizations:write"], mfa: true, fullPartner: true },
      "All: [U PS, mutations M + W]; S must pass `partnerId`.",
      "creating names organizations:write; the other mutations stand in the same list",
    ),
    says(
      "POST /sso/providers; PATCH /sso/providers/:id; DELETE /sso/providers/:id",
      { fullPartner: false },
      "— [organizations:write M; ownerScope partner needs P + W] ·",
      "full partner access is asked for only where the owner is a partner",
    ),
    says(
      "POST /pam/elevation-requests/:id/assertion-challenge",
      { permissions: ["devices:execute|pam:approve"] },
      "[devices:execute or pam:approve°]",
      "the specification names devices:execute alone; who approves without it could otherwise never give a proof",
    ),
    says(
      "GET /sso/cli",
      { kinds: ["public"] },
      "- `GET /sso/callback` — always 302",
      "the page that ends a sign-in begun by the command; it stands in the list of endpoints alone",
    ),
    records(
      "POST /partner-service-principals/:id/keys",
      "partner_service_principal_key.issue",
      "audit partner_service_principal_key.issue|rotate|revoke",
    ),
    records(
      "POST /partner-service-principals/:id/keys/:keyId/rotate",
      "partner_service_principal_key.rotate",
      "audit partner_service_principal_key.issue|rotate|revoke",
    ),
    records(
      "DELETE /partner-service-principals/:id/keys/:keyId",
      "partner_service_principal_key.revoke",
      "audit partner_service_principal_key.issue|rotate|revoke",
    ),
    records("DELETE /sso/domains/:id", "sso.domain.delete", "sso.domain.{create,verify,delete}"),
    records(
      "GET /sso/callback",
      "user.login sso.identity.linked sso.identity.link_rejected sso.callback.rejected",
      'audit user.login `{method:"sso"}`',
    ),
    records(
      "POST /authenticator/devices/webauthn/verify",
      "auth.authenticator.device.register",
      "audit auth.authenticator.device.register|revoke",
    ),
    records(
      "DELETE /authenticator/devices/:id",
      "auth.authenticator.device.revoke",
      "audit auth.authenticator.device.register|revoke",
    ),
    records(
      "POST /devices/:id/actuate-elevation",
      "device.elevation.actuate",
      "audit device.elevation.actuate, device.elevation.actuate.rejected",
    ),
    records(
      "POST /pam/rules/preview",
      "",
      "(unless named not: own notifications, previews, one-time tickets, agent reports)",
      "a preview or a check that writes nothing",
    ),
    records(
      "POST /pam/elevation-requests/:id/assertion-challenge; POST /authenticator/devices/webauthn/options",
      "",
      "(unless named not: own notifications, previews, one-time tickets, agent reports)",
      "a ticket, code or challenge that serves once",
    ),
    records(
      "POST /auth/sso-discovery; POST /sso/exchange; POST /sso/link/start/:providerId",
      "",
      "### 8.4 Audit actions (complete)",
      "the complete list holds no action for it: a step of something that is recorded when it succeeds",
    ),
    answers(
      "POST /api-keys; PATCH /api-keys/:id; POST /api-keys/:id/rotate",
      "+SCOPE_DELEGATION_DENIED +SITE_ACCESS_DENIED",
      "else 403 `SCOPE_DELEGATION_DENIED {scope}`; site-restricted callers: 403 `SITE_ACCESS_DENIED` on every mutation",
    ),
    answers(
      "DELETE /api-keys/:id",
      "+SITE_ACCESS_DENIED",
      "site-restricted callers: 403 `SITE_ACCESS_DENIED` on every mutation",
    ),
    answers(
      "POST /service-principals; POST /service-principals/:id/rotate; POST /service-principals/:id/migrate-key",
      "+SCOPE_DELEGATION_DENIED +SITE_ACCESS_DENIED",
      "(create, rotate, migrate-key)",
    ),
    answers(
      "POST /enrollment-keys; POST /enrollment-keys/:id/rotate",
      "+TTL_EXCEEDS_CAP",
      "an explicit value above it is 400 `TTL_EXCEEDS_CAP`",
    ),
    answers(
      "POST /enrollment-keys",
      "+ORG_SUSPENDED",
      "opens a remote session or tunnel, or creates an enrollment key",
    ),
    answers(
      "POST /partner-service-principals",
      "+SCOPE_DELEGATION_DENIED +ORG_NOT_IN_PARTNER +PARTNER_ACCESS_DENIED +NAME_TAKEN",
      "Refusals: `SCOPE_DELEGATION_DENIED`, `ORG_NOT_IN_PARTNER`, `PARTNER_ACCESS_DENIED`",
    ),
    answers(
      "PATCH /partner-service-principals/:id",
      "+SCOPE_DELEGATION_DENIED +ORG_NOT_IN_PARTNER",
      "Refusals: `SCOPE_DELEGATION_DENIED`, `ORG_NOT_IN_PARTNER`, `PARTNER_ACCESS_DENIED`",
    ),
    answers(
      "POST /partner-service-principals/:id/keys; POST /partner-service-principals/:id/keys/:keyId/rotate",
      "+SCOPE_DELEGATION_DENIED +INVALID_STATE",
      "Refusals: `SCOPE_DELEGATION_DENIED`, `ORG_NOT_IN_PARTNER`, `PARTNER_ACCESS_DENIED`",
    ),
    answers(
      "DELETE /partner-service-principals/:id/keys/:keyId",
      "-INVALID_STATE",
      "`{success, alreadyRevoked}` · 409 `INVALID_STATE`",
      "it says alreadyRevoked instead; a disabled principal and a revoked key refuse issue and rotation",
    ),
    answers(
      "PATCH /sso/providers/:id",
      "+FULL_PARTNER_ACCESS_REQUIRED +INVALID_DEFAULT_ROLE +ROLE_EXCEEDS_CALLER +UNSAFE_URL",
      "— same gate (partner-owned: W)",
    ),
    answers(
      "DELETE /sso/providers/:id; POST /sso/providers/:id/status; POST /sso/providers/:id/test",
      "+FULL_PARTNER_ACCESS_REQUIRED",
      "— same gate (partner-owned: W)",
    ),
    answers(
      "POST /sso/providers",
      "+FULL_PARTNER_ACCESS_REQUIRED +PARTNER_SCOPE_REQUIRED",
      "ownerScope partner needs P + W",
    ),
    answers(
      "POST /pam/elevation-requests/:id/respond",
      "+STEP_UP_REQUIRED +ASSERTION_FAILED +reauth_required +HOME_SESSION_REQUIRED",
      "401 `ASSERTION_FAILED`",
    ),
    answers(
      "POST /agents/:id/elevation-requests",
      "+PAYLOAD_TOO_LARGE",
      "413 over 32 KB · 429 over 600/60 s per device",
    ),
    answers(
      "PATCH /pam/rules/:id",
      "+PAM_RULE_INVALID_SHAPE +pam_rule_risk_tier_unreachable +SITE_NOT_IN_ORG +SIGNER_GROUP_NOT_IN_ORG",
      "validation on the merged rule;",
    ),
    answers(
      "POST /pam/signer-groups",
      "-IN_USE -PERMISSION_DENIED",
      "delete 409 `IN_USE {ruleCount}`",
      "that is deleting and changing",
    ),
    answers(
      "PATCH /pam/signer-groups/:id",
      "-IN_USE -LIMIT_REACHED",
      "delete 409 `IN_USE {ruleCount}`",
      "that is deleting and creating",
    ),
    answers(
      "DELETE /pam/signer-groups/:id",
      "-LIMIT_REACHED -NAME_TAKEN -PERMISSION_DENIED",
      "delete 409 `IN_USE {ruleCount}`",
      "that is creating and changing",
    ),
  ],
};
