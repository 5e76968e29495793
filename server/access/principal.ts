import type { Permission } from "#contract/core/permissions";
import { grants } from "#contract/core/permissions";
import type { Scope } from "#server/db/scope";
import type { DeviceStatus, DevicesTable } from "#server/db/tables/fleet";

/** A signed-in user in the membership that the token names (docs/conventions.md, "Callers"). */
export interface UserPrincipal {
  readonly kind: "user";
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly scope: "organization" | "partner" | "system";
  readonly partnerId: string | null;
  readonly partnerStatus: string | null;
  readonly orgId: string | null;
  readonly membershipId: string | null;
  readonly roleId: string;
  readonly roleName: string;
  readonly permissions: readonly string[];
  readonly sessionId: string;
  /** The identity provider that began the session; null = a password or an invitation did. */
  readonly ssoProviderId: string | null;
  /** The session has completed MFA. */
  readonly mfa: boolean;
  readonly mfaEnrolled: boolean;
  /** Role or tenant demands that this user enrols. */
  readonly mfaForced: boolean;
  readonly orgAccess: "all" | "selected" | "none" | null;
  readonly allowedSiteIds: readonly string[] | null;
}

export interface AgentPrincipal {
  readonly kind: "agent";
  readonly tokenHash: string;
  readonly deviceId: string;
  readonly agentId: string;
  readonly hostname: string;
  readonly orgId: string;
  readonly siteId: string | null;
  readonly credential: "agent" | "watchdog";
  readonly orgStatus: string;
  /** Decommissioned, and told to uninstall: it may do that and nothing else. */
  readonly leaving: boolean;
  /** The row as the token found it: a heartbeat decides on it without reading again. */
  readonly device: KnownDevice;
}

export interface KnownDevice {
  readonly status: DeviceStatus;
  readonly lastSeenAt: string | null;
  readonly lastSeenIp: string | null;
  readonly hostname: string;
  readonly deviceRole: DevicesTable["deviceRole"];
  readonly deviceRoleSource: "auto" | "manual";
  readonly watchdogStatus: "connected" | "failover" | "offline" | null;
  readonly mainAgentSilentSince: string | null;
  readonly tokensIssuedAt: string | null;
  /** Of the agent's newest connection (docs/agents.md). */
  readonly connectionId: string | null;
}

/** An organization's API key, or its service principal's (docs/credentials.md, "API keys"). */
export interface ApiKeyPrincipal {
  readonly kind: "apiKey";
  readonly keyId: string;
  readonly keyHash: string;
  readonly name: string;
  readonly orgId: string;
  readonly partnerStatus: string;
  readonly scopes: readonly string[];
  /** Requests an hour. */
  readonly rateLimit: number;
  readonly servicePrincipalId: string | null;
}

/** A key of a partner's service principal (docs/credentials.md, "Partner keys"). */
export interface PartnerKeyPrincipal {
  readonly kind: "partnerKey";
  readonly keyId: string;
  readonly keyHash: string;
  readonly principalId: string;
  /** Of the principal. */
  readonly name: string;
  readonly partnerId: string;
  readonly scopes: readonly string[];
  readonly orgAccess: "all" | "selected";
  readonly expiresAt: string | null;
  readonly sourceCidrs: readonly string[];
  /** Requests an hour of this key. */
  readonly rateLimit: number;
  /** Requests an hour of all keys of the principal. */
  readonly principalRateLimit: number;
}

export type KeyPrincipal = ApiKeyPrincipal | PartnerKeyPrincipal;

export interface PublicPrincipal {
  readonly kind: "public";
}

export type Principal = UserPrincipal | AgentPrincipal | KeyPrincipal | PublicPrincipal;

export const nobody: PublicPrincipal = { kind: "public" };

export const holds = (who: UserPrincipal, permission: Permission): boolean => grants(who.permissions, permission);

/** The tenant scope of a principal's database handle. */
export function scopeOf(who: Principal): Scope {
  if (who.kind === "public") return { kind: "none" };
  if (who.kind === "agent") return { kind: "organization", orgId: who.orgId, siteIds: null, userId: null };
  if (who.kind === "apiKey") return { kind: "organization", orgId: who.orgId, siteIds: null, userId: null };
  if (who.kind === "partnerKey") {
    const principal = { id: who.principalId, selected: who.orgAccess === "selected" };
    return { kind: "partner", partnerId: who.partnerId, selected: null, userId: null, principal, known: new Set() };
  }
  if (who.scope === "system") return { kind: "system" };
  if (who.scope === "organization") {
    return { kind: "organization", orgId: who.orgId as string, siteIds: who.allowedSiteIds, userId: who.userId };
  }
  return {
    kind: "partner",
    partnerId: who.partnerId as string,
    selected: who.orgAccess === "all" ? null : who.orgAccess === "selected" ? who.membershipId : "none",
    userId: who.userId,
    known: new Set(),
  };
}

/**
 * Identifies the caller in idempotency records: a person in one tenant is another caller than in the next, and where
 * tokens are answered another one in each session, which may have proved more than the next.
 */
export function callerKey(who: Principal, ip: string | null, { inSession = false } = {}): string {
  if (who.kind === "user") return `user:${who.userId} ${tenantOf(who)}${inSession ? ` ${who.sessionId}` : ""}`;
  if (who.kind === "agent") return `device:${who.deviceId}`;
  if (who.kind === "apiKey") return `key:${who.keyId}`;
  if (who.kind === "partnerKey") return `principal:${who.principalId}`;
  return `ip:${ip ?? "unknown"}`;
}

const tenantOf = ({ scope, partnerId, orgId, membershipId }: UserPrincipal): string =>
  [scope, partnerId ?? "", orgId ?? "", membershipId ?? ""].join("/");

/** The signed-in user of a call on an endpoint that only users may reach. */
export function user(call: { readonly who: Principal }): UserPrincipal {
  if (call.who.kind !== "user") throw new Error("the endpoint let a caller through that is no user");
  return call.who;
}

/** The partner principal of a call on an endpoint that only partner keys may reach. */
export function partnerPrincipal(call: { readonly who: Principal }): PartnerKeyPrincipal {
  if (call.who.kind !== "partnerKey") throw new Error("the endpoint let a caller through that is no partner key");
  return call.who;
}
