/** Why a sign-in is refused: the value of `error` in the address (docs/single-sign-on.md, "Refused sign-ins"). */
export type RejectionCode =
  | "sso_error"
  | "invalid_callback"
  | "session_expired"
  | "provider_not_found"
  | "sso_provider_inactive"
  | "sso_config_changed"
  | "sso_email_unverified"
  | "domain_not_allowed"
  | "sso_domain_unverified"
  | "invite_required"
  | "user_not_found"
  | "default_role_required"
  | "invalid_provider_configuration"
  | "no_org_access"
  | "no_partner_access"
  | "invalid_role_scope"
  | LinkRejectionCode;

/** Of attaching an identity alone. */
export type LinkRejectionCode = "email_mismatch" | "identity_in_use" | "user_gone" | "session_invalid";

/** How far the sign-in came. */
export type Phase = "return" | "session" | "provider" | "token" | "profile" | "account";

export class Rejection extends Error {
  override name = "Rejection";
  readonly code: RejectionCode;
  readonly phase: Phase;
  /** For the audit entry only; the browser gets the code. */
  readonly reason: string;

  constructor(code: RejectionCode, phase: Phase, reason: string = code, cause?: unknown) {
    super(code, { cause });
    this.code = code;
    this.phase = phase;
    this.reason = reason;
  }
}

export const rejection = (...given: ConstructorParameters<typeof Rejection>): Rejection => new Rejection(...given);

/** How the settings page names what the login page names otherwise. */
export const linkErrorOf = (code: RejectionCode): string =>
  ({
    sso_provider_inactive: "provider_inactive",
    sso_config_changed: "config_changed",
    sso_email_unverified: "email_unverified",
  })[code as string] ?? code;
