import { type PartnerKeyScope, partnerKeyScopes } from "#contract/core/key-scopes";
import { grants, type Permission } from "#contract/core/permissions";

export type ScopeDecision =
  | { scopes: PartnerKeyScope[] }
  | { refused: "WILDCARD_SCOPE" }
  | { refused: "UNSUPPORTED_SCOPE"; scope: string };

/** Scopes once each; no wildcard and nothing outside the vocabulary (specification 2, "Service principal"). */
export function decideScopes(wanted: readonly string[]): ScopeDecision {
  const scopes: PartnerKeyScope[] = [];
  for (const scope of new Set(wanted)) {
    if (scope.includes("*")) return { refused: "WILDCARD_SCOPE" };
    if (!isPartnerKeyScope(scope)) return { refused: "UNSUPPORTED_SCOPE", scope };
    scopes.push(scope);
  }
  return { scopes };
}

const isPartnerKeyScope = (scope: string): scope is PartnerKeyScope =>
  (partnerKeyScopes as readonly string[]).includes(scope);

/**
 * What a person must hold to hand a scope on. The contract gives partner principals no ceiling of their own; without
 * one, whoever manages principals could give a machine what they were never given (cases C09).
 */
const permissionFor: Readonly<Record<PartnerKeyScope, Permission>> = {
  "organizations:read": "organizations:read",
  "sites:read": "sites:read",
  "devices:read": "devices:read",
  "inventory:read": "devices:read",
  "configuration:read": "automations:read",
  "scripts:read": "scripts:read",
  "backup-configuration:read": "devices:read",
  "custom-fields:read": "devices:read",
  "organizations:write": "organizations:write",
  "sites:write": "sites:write",
  "enrollment-keys:write": "organizations:write",
};

/** The first scope the caller could not hand on. */
export const scopeNotHeld = (held: readonly string[], scopes: readonly PartnerKeyScope[]): string | undefined =>
  scopes.find((scope) => !grants(held, permissionFor[scope]));

export type AccessDecision = "ORG_IDS_REQUIRED" | "ORG_IDS_NOT_ALLOWED" | undefined;

/** `selected` names at least one organization, `all` none. */
export function decideOrgAccess(orgAccess: "all" | "selected", orgIds: readonly string[]): AccessDecision {
  if (orgAccess === "selected") return orgIds.length === 0 ? "ORG_IDS_REQUIRED" : undefined;
  return orgIds.length > 0 ? "ORG_IDS_NOT_ALLOWED" : undefined;
}
