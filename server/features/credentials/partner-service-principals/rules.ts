import { type PartnerKeyScope, partnerKeyScopes } from "#contract/core/key-scopes";
import type { Permission } from "#contract/core/permissions";
import { delegation } from "#server/access/delegation";

/**
 * The permission that a person must hold to give a scope (docs/credentials.md, "Delegation ceiling"). Without it,
 * anyone who manages principals could give a machine permissions that they do not have (cases C09).
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

export const { delegable, refuseBeyondOwn } = delegation(partnerKeyScopes, (scope) => permissionFor[scope]);

export type AccessDecision = "ORG_IDS_REQUIRED" | "ORG_IDS_NOT_ALLOWED" | undefined;

/** `selected` names at least one organization, `all` none. */
export function decideOrgAccess(orgAccess: "all" | "selected", orgIds: readonly string[]): AccessDecision {
  if (orgAccess === "selected") return orgIds.length === 0 ? "ORG_IDS_REQUIRED" : undefined;
  return orgIds.length > 0 ? "ORG_IDS_NOT_ALLOWED" : undefined;
}
