import { answers, type Readings, records, says, tells } from "./reading.ts";

export const identity: Readings = {
  sections: [
    says(
      "ALL sessions; ALL mfa; ALL passwords; ALL registrations",
      { exempt: ["partnerGuard", "mfaEnrollment"], permissions: [] },
      "→ 428 `MFA_ENROLLMENT_REQUIRED` on everything except `/auth/*` and `GET /users/me`",
    ),
    says(
      "GET /users/me",
      { exempt: ["partnerGuard", "mfaEnrollment"], permissions: [] },
      "→ 428 `MFA_ENROLLMENT_REQUIRED` on everything except `/auth/*` and `GET /users/me`",
      "the own account; no permission is named",
    ),
    says(
      "PATCH /users/me",
      { exempt: ["partnerGuard"], permissions: [] },
      "on everything except `/auth/*`, `/users/me`, `GET /orgs/partners/me`",
      "the own account; no permission is named",
    ),
    says(
      "GET /orgs/partners/me",
      { exempt: ["partnerGuard"] },
      "on everything except `/auth/*`, `/users/me`, `GET /orgs/partners/me`",
    ),
    says(
      "GET /users/me/memberships; POST /users/me/memberships/:id/accept; POST /users/me/memberships/:id/select; DELETE /users/me/memberships/:id",
      { exempt: ["partnerGuard", "mfaEnrollment"], permissions: [] },
      "These four are exempt from the partner guard and from 428",
      "the person's own memberships; no permission is named",
    ),
    says(
      "GET roles; GET access-reviews",
      { permissions: ["users:read"] },
      "`GET /roles/:id/users` — users:read",
      "every other read of roles and access reviews names users:read; the ones without a mark stand among them",
    ),
  ],
  corrections: [
    records("POST /auth/login", "user.login", "Audit `user.login` / `user.login.failed`"),
    records("POST /auth/mfa/verify", "user.login auth.mfa.recovery_code.used", "→ as login with `mfa:true`"),
    records("POST /auth/mfa/step-up", "auth.mfa.stepup.granted", "Audit `auth.mfa.stepup.granted|failed`"),
    records(
      "POST /users/me/memberships/:id/accept",
      "user.invite.accepted",
      "Audit `user.invite.accepted`, `user.membership.select`",
    ),
    records(
      "POST /users/me/memberships/:id/select",
      "user.membership.select",
      "Audit `user.invite.accepted`, `user.membership.select`",
    ),
    records(
      "DELETE /users/me/memberships/:id",
      "user.remove",
      "Audit `user.invite.accepted`, `user.membership.select`, `user.remove`",
    ),
    records("PATCH /users/:id", "user.update user.mfa_reset", "Audit `user.update` (+ `user.mfa_reset`)"),
    records("POST /orgs/organizations/:id/contacts", "contact.create", "contact.{CUD,import}"),
    records(
      "POST /orgs/organizations/:id/merge-preview; POST /orgs/contacts/import/preview",
      "",
      "(unless named not: own notifications, previews, one-time tickets, agent reports)",
      "a preview or a check that writes nothing",
    ),
    records(
      "POST /auth/refresh; POST /auth/mfa/setup; POST /auth/forgot-password; POST /auth/invite/preview",
      "",
      "### 8.4 Audit actions (complete)",
      "the complete list holds no action for it: a step of something that is recorded when it succeeds",
    ),
    says(
      "POST /auth/verify-email",
      { audit: null },
      "### 8.4 Audit actions (complete)",
      "it changes a person and a partner, but no action of the list is named for it",
    ),
    answers(
      "POST /auth/mfa/disable; POST /auth/mfa/recovery-codes",
      "+reauth_required",
      "password-less accounts omit it, also in `disable` and `recovery-codes` below",
    ),
    answers(
      "PATCH /users/me",
      "+HOME_SESSION_REQUIRED",
      "Other provider sessions get 403 `HOME_SESSION_REQUIRED` there",
    ),
    answers(
      "POST /users/me/memberships/:id/accept",
      "+HOME_SESSION_REQUIRED",
      "until the person accepts (public link or signed in), which needs a home session",
    ),
    answers(
      "POST /users/resend-invite; DELETE /users/:id; POST /access-reviews/:id/complete",
      "+ROLE_EXCEEDS_CALLER",
      "(here, in DELETE, `/role`, resend-invite and review completion:",
    ),
    answers("POST /orgs/partners", "+SLUG_TAKEN", "unique among non-deleted partners (409 `SLUG_TAKEN`)"),
    answers(
      "PATCH /orgs/partners/:id",
      "+PSA_CONNECTION_REQUIRED +PSA_CONNECTION_NOT_ALLOWED +NO_UPDATES",
      "without a connection id → 400 `PSA_CONNECTION_REQUIRED`",
    ),
    answers(
      "PATCH /orgs/partners/me",
      "+PSA_CONNECTION_REQUIRED +PSA_CONNECTION_NOT_ALLOWED",
      "without a connection id → 400 `PSA_CONNECTION_REQUIRED`",
    ),
    answers(
      "PATCH /orgs/organizations/:id",
      "+INVALID_TRANSITION +SLUG_TAKEN +NO_UPDATES -INVALID_STATE",
      "from archived, merging, purging: 409 `INVALID_TRANSITION`",
    ),
    answers(
      "PATCH /orgs/sites/:id",
      "+NO_UPDATES",
      "PATCH with empty body or no recognised field (partners, organizations, sites)",
    ),
    answers(
      "PATCH /orgs/contacts/:contactId",
      "+no-identifier +invalid-role +site-not-in-org",
      "400 codes checked on the merged row",
    ),
    answers(
      "POST /roles; PATCH /roles/:id",
      "+WILDCARD_NOT_ASSIGNABLE +UNKNOWN_PERMISSION +PERMISSION_NOT_HELD +NAME_TAKEN",
      "Permission writes: wildcard → 403 `WILDCARD_NOT_ASSIGNABLE`",
    ),
    answers("POST /roles/:id/clone", "+NAME_TAKEN", "Name unique per owner (409 `NAME_TAKEN`)"),
    tells(
      "PATCH /orgs/organizations/:id",
      "organization.updated",
      "organization.{created,updated,deleted,offboarding,archived,restored,merged}",
    ),
    tells(
      "DELETE /orgs/organizations/:id",
      "organization.deleted",
      "organization.{created,updated,deleted,offboarding,archived,restored,merged}",
    ),
    tells(
      "POST /orgs/organizations/:id/archive",
      "organization.offboarding",
      "organization.{created,updated,deleted,offboarding,archived,restored,merged}",
    ),
    tells(
      "POST /orgs/organizations/:id/restore",
      "organization.restored",
      "organization.{created,updated,deleted,offboarding,archived,restored,merged}",
    ),
    tells("POST /orgs/organizations/:id/merge", "", "Event `organization.merged`"),
    tells("POST /orgs/sites", "site.created", "site.{created,updated,deleted}"),
    tells("PATCH /orgs/sites/:id", "site.updated", "site.{created,updated,deleted}"),
    tells("DELETE /orgs/sites/:id", "site.deleted", "site.{created,updated,deleted}"),
  ],
};
