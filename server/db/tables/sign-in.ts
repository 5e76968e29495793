import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

/** One sign-in; its refresh tokens follow each other in `refreshTokens`. */
export interface SessionsTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  createdAt: Fixed<string>;
  lastUsedAt: string;
  ipAddress: string | null;
  userAgent: string | null;
  mfaVerifiedAt: string | null;
  absoluteExpiresAt: string;
  revokedAt: string | null;
  revokedReason: string | null;
  /** The identity provider that vouched for the person; null = a password or an invitation did. */
  ssoProviderId: Fixed<string | null>;
  /** The tenant it was begun in: an organization, or a partner; neither = the installation, or before this was kept. */
  memberOrgId: Fixed<string | null>;
  memberPartnerId: Fixed<string | null>;
}

export interface RefreshTokensTable {
  id: Fixed<string>;
  sessionId: Fixed<string>;
  tokenHash: Fixed<string>;
  createdAt: Fixed<string>;
  expiresAt: Fixed<string>;
  spentAt: string | null;
}

/** One-time tokens, stored hashed. */
export interface UserTokensTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  kind: Fixed<"mfa_login" | "password_reset" | "invite">;
  tokenHash: Fixed<string>;
  failures: number;
  createdAt: Fixed<string>;
  expiresAt: Fixed<string>;
  usedAt: string | null;
  /** What the token stands for, such as the membership an invitation made. */
  data: Json;
}

export interface RecoveryCodesTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  codeHash: Fixed<string>;
  usedAt: string | null;
  createdAt: Fixed<string>;
}

/** Claims (or assertion attributes) by the field they fill. */
export interface AttributeMapping {
  email: string;
  name: string;
  firstName?: string;
  lastName?: string;
  /** Claim that holds an array of strings. */
  groups?: string;
}

/** What a provider's discovery document says it takes; what it does not say is absent. */
export interface Announced {
  tokenAuthMethods?: string[];
  idTokenAlgorithms?: string[];
  userInfoAlgorithms?: string[];
  pkceMethods?: string[];
  /** Its answers name the issuer (RFC 9207). */
  namesIssuer?: boolean;
}

/**
 * An identity provider of one organization or of one partner, never of both
 * (docs/single-sign-on.md, "Identity providers").
 */
export interface SsoProvidersTable {
  id: Fixed<string>;
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  name: string;
  type: "oidc" | "saml";
  preset: Fixed<string | null>;
  issuer: string | null;
  clientId: string | null;
  /** Sealed under `secretContext(id)`, see `features/sign-in/sso-providers/client-secret.ts`. */
  clientSecretSealed: string | null;
  /** What a sign-in asks for, separated by spaces. Not `scopes`: that name holds JSON in other tables. */
  requestedScopes: string;
  attributeMapping: AttributeMapping;
  autoProvision: boolean;
  defaultRoleId: string | null;
  /** Whose permissions the default role was checked against; null = unknown, so no account is created. */
  defaultRoleConfiguredBy: string | null;
  /** Separated by commas, lower-cased; null = every domain. */
  allowedDomains: string | null;
  enforceSso: boolean;
  trustsIdpMfa: boolean;
  status: "inactive" | "testing" | "active";
  authorizationUrl: string | null;
  tokenUrl: string | null;
  userInfoUrl: string | null;
  jwksUrl: string | null;
  /** Null = no document was read: the standard's defaults count. */
  announced: Announced | null;
  /** People come back to an address that only this provider has. */
  ownCallback: boolean;
  entityId: string | null;
  ssoUrl: string | null;
  certificate: string | null;
  /** Grows with every change; a sign-in under way is bound to the one it began with. */
  configVersion: number;
  createdBy: Fixed<string | null>;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** A person as an identity provider knows them. */
export interface SsoIdentitiesTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  providerId: Fixed<string>;
  /** The `sub` claim. */
  externalId: Fixed<string>;
  email: string;
  profile: Json;
  accessTokenSealed: string | null;
  refreshTokenSealed: string | null;
  tokenExpiresAt: string | null;
  lastLoginAt: string;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** A sign-in in progress at the identity provider; deleted when it returns, so it counts once. */
export interface SsoLoginSessionsTable {
  id: Fixed<string>;
  stateHash: Fixed<string>;
  providerId: Fixed<string>;
  configVersion: Fixed<number>;
  nonce: Fixed<string>;
  codeVerifierSealed: Fixed<string>;
  redirectPath: Fixed<string>;
  /** The exchange must prove that it knows what this is the SHA-256 of; null = whoever has the code may exchange it. */
  exchangeChallenge: Fixed<string | null>;
  /** Set where a signed-in user attaches an identity to their account. */
  linkUserId: Fixed<string | null>;
  linkSessionId: Fixed<string | null>;
  linkAuthEpoch: Fixed<string | null>;
  ipAddress: Fixed<string | null>;
  userAgent: Fixed<string | null>;
  createdAt: Fixed<string>;
  expiresAt: Fixed<string>;
}

/** One-time code that the browser trades for the session's tokens; deleted when it is. */
export interface SsoExchangeCodesTable {
  codeHash: Fixed<string>;
  sessionId: Fixed<string>;
  /** See `ssoLoginSessions.exchangeChallenge`. */
  challenge: Fixed<string | null>;
  createdAt: Fixed<string>;
  expiresAt: Fixed<string>;
}

/** An email domain an organization says is its own, proven by a DNS record. */
export interface SsoDomainsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  domain: Fixed<string>;
  /** 48 hexadecimal digits, expected in the record. */
  verificationToken: Fixed<string>;
  /** Sticky: kept when the record disappears later. */
  verifiedAt: string | null;
  lastCheckedAt: string | null;
  /** When the record was last there: a domain proves an address for a week after that. */
  seenAt: string | null;
  createdBy: Fixed<string | null>;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** How a partner's login page looks. */
export interface PartnerLoginBrandingTable {
  partnerId: Fixed<string>;
  logoUrl: string | null;
  /** `#rrggbb`. */
  accentColor: string | null;
  headline: string | null;
  updatedBy: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface SignInTables {
  sessions: SessionsTable;
  refreshTokens: RefreshTokensTable;
  userTokens: UserTokensTable;
  recoveryCodes: RecoveryCodesTable;
  ssoProviders: SsoProvidersTable;
  ssoIdentities: SsoIdentitiesTable;
  ssoLoginSessions: SsoLoginSessionsTable;
  ssoExchangeCodes: SsoExchangeCodesTable;
  ssoDomains: SsoDomainsTable;
  partnerLoginBranding: PartnerLoginBrandingTable;
}

export const signInTables = {
  sessions: { owner: "system", writtenBy: "sign-in/core" },
  refreshTokens: { owner: "system", writtenBy: "sign-in/core" },
  userTokens: { owner: "system", writtenBy: "sign-in/core", json: ["data"] },
  recoveryCodes: { owner: "system", writtenBy: "sign-in/mfa" },
  // Who is believed about people: the server alone writes it (docs/credentials.md, "Who writes credentials").
  ssoProviders: {
    owner: "tenant",
    writtenBy: "sign-in/sso-providers",
    lifted: ["insert", "update", "delete"],
    booleans: ["autoProvision", "enforceSso", "trustsIdpMfa", "ownCallback"],
    json: ["attributeMapping", "announced"],
  },
  ssoIdentities: { owner: "system", writtenBy: "sign-in/sso-providers", json: ["profile"] },
  ssoLoginSessions: { owner: "system", writtenBy: "sign-in/sso-logins" },
  ssoExchangeCodes: { owner: "system", writtenBy: "sign-in/sso-logins" },
  ssoDomains: { owner: "org", writtenBy: "sign-in/sso-domains", lifted: ["insert", "update", "delete"] },
  partnerLoginBranding: { owner: "partner", writtenBy: "sign-in/login-branding" },
} as const satisfies Declared<SignInTables>;
