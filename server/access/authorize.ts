import type { Access } from "#contract/core/access";
import { type Problem, problem } from "#server/problem";
import { holds, type KeyPrincipal, type Principal, type UserPrincipal } from "./principal.ts";

export interface AuthorizeOptions {
  /** False where `ENABLE_2FA` turned the gate off. */
  readonly mfaGate: boolean;
}

/**
 * Decides whether a caller may use an endpoint: partner guard, forced MFA enrolment, scope, permission, MFA
 * (docs/conventions.md, "Order of checks"). Pure: everything it needs is in the principal.
 */
export function authorize(who: Principal, access: Access, options: AuthorizeOptions): void {
  if (who.kind === "agent") {
    if (who.credential === "watchdog" && !access.watchdog) {
      throw problem("FORBIDDEN", { message: "The watchdog credential cannot call this" });
    }
    return;
  }
  if (who.kind === "apiKey" || who.kind === "partnerKey") authorizeKey(who, access);
  if (who.kind !== "user") return;
  guardPartner(who, access);
  if (options.mfaGate && who.mfaForced && !who.mfaEnrolled && !access.exempt.mfaEnrollment) {
    throw problem("MFA_ENROLLMENT_REQUIRED");
  }
  if (!access.scopes.includes(who.scope)) refuseScope(who, access);
  if (access.fullPartner && who.scope === "partner" && who.orgAccess !== "all") {
    throw problem("FULL_PARTNER_ACCESS_REQUIRED");
  }
  const enough = [access.lesserPermission, access.otherPermission].some((one) => one !== undefined && holds(who, one));
  for (const permission of access.permissions) {
    if (!enough && !holds(who, permission)) throw problem("PERMISSION_DENIED", { details: { required: permission } });
  }
  if (access.mfa && options.mfaGate && !who.mfa) throw factorMissing(who);
}

/** Whoever has no factor yet must set one up before it can be proved. */
export const factorMissing = ({ mfaEnrolled }: UserPrincipal): Problem =>
  problem("MFA_REQUIRED", { details: { mfaEnabled: mfaEnrolled } });

/**
 * One of the endpoint's scopes is enough (docs/credentials.md, "Scopes of an API key"); keys are never asked for MFA.
 */
function authorizeKey(who: KeyPrincipal, access: Access): void {
  if (who.kind === "apiKey" && who.partnerStatus !== "active" && !access.exempt.partnerGuard) {
    throw problem("PARTNER_INACTIVE", { details: { status: who.partnerStatus } });
  }
  const required = access.keyScopes;
  if (required.length === 0 || required.some((scope) => who.scopes.includes(scope))) return;
  throw problem("API_KEY_SCOPE_REQUIRED", { details: { required, available: who.scopes } });
}

function guardPartner(who: UserPrincipal, access: Access): void {
  if (who.scope === "system" || access.exempt.partnerGuard) return;
  if (who.partnerStatus !== "active") throw problem("PARTNER_INACTIVE", { details: { status: who.partnerStatus } });
}

function refuseScope(who: UserPrincipal, access: Access): never {
  // The self-service endpoints name the missing context instead (docs/tenancy.md, "Partners").
  if (access.ownPartner && who.partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
  throw problem("FORBIDDEN", { details: { requiredScopes: access.scopes } });
}
