import type { ApiKeyScope, PartnerKeyScope } from "./key-scopes.ts";
import type { Permission } from "./permissions.ts";

/** The kind of a caller's credential. `public` endpoints ignore credentials. */
export const credentialKinds = ["user", "apiKey", "partnerKey", "agent", "public"] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** Scope of a signed-in user (docs/conventions.md, "Callers"). */
export const scopes = ["organization", "partner", "system"] as const;
export type Scope = (typeof scopes)[number];

/**
 * Who may call an endpoint. Checked in this order: credential kind, partner guard, scope, permission, MFA
 * (docs/conventions.md, "Order of checks"); `fullPartner` is checked with the scope.
 */
export interface Access {
  readonly kinds: readonly CredentialKind[];
  readonly scopes: readonly Scope[];
  readonly permissions: readonly Permission[];
  /** Holders of this one get to the handler too, which lets them change what it is for and nothing else. */
  readonly lesserPermission: Permission | undefined;
  /** Enough in the place of all of them. */
  readonly otherPermission: Permission | undefined;
  /** A key needs at least one of these; none = the endpoint asks a key for no scope. */
  readonly keyScopes: readonly (ApiKeyScope | PartnerKeyScope)[];
  readonly mfa: boolean;
  /** Partner scope needs `orgAccess: "all"` (docs/conventions.md, "Full partner access"). */
  readonly fullPartner: boolean;
  /** Acts on the caller's own partner: a caller without one, of system scope, is refused. */
  readonly ownPartner: boolean;
  /** Reachable while the caller's partner is not active, and before a forced MFA enrolment. */
  readonly exempt: { readonly partnerGuard: boolean; readonly mfaEnrollment: boolean };
  /** The watchdog credential of a device may call it too (docs/fleet.md, "Agent identity"). */
  readonly watchdog: boolean;
  needs(...permissions: Permission[]): Access;
  orInPart(permission: Permission): Access;
  orInstead(permission: Permission): Access;
  withMfa(): Access;
  withFullPartnerAccess(): Access;
  ofOwnPartner(): Access;
  exemptFrom(...guards: ("partnerGuard" | "mfaEnrollment")[]): Access;
  orWatchdog(): Access;
  /** An organization's API key may call it too, and decides alone if it is present (docs/conventions.md, "Callers"). */
  orApiKey(...scopes: ApiKeyScope[]): Access;
}

type Method =
  | "needs"
  | "orInPart"
  | "orInstead"
  | "withMfa"
  | "withFullPartnerAccess"
  | "ofOwnPartner"
  | "exemptFrom"
  | "orWatchdog"
  | "orApiKey";
type Fields = Omit<Access, Method>;

const none: Fields = {
  kinds: [],
  scopes: [],
  permissions: [],
  lesserPermission: undefined,
  otherPermission: undefined,
  keyScopes: [],
  mfa: false,
  fullPartner: false,
  ownPartner: false,
  exempt: { partnerGuard: false, mfaEnrollment: false },
  watchdog: false,
};

function access(fields: Fields): Access {
  const changed = (change: Partial<Fields>) => access({ ...fields, ...change });
  return {
    ...fields,
    needs: (...permissions) => changed({ permissions }),
    orInPart: (lesserPermission) => changed({ lesserPermission }),
    orInstead: (otherPermission) => changed({ otherPermission }),
    withMfa: () => changed({ mfa: true }),
    withFullPartnerAccess: () => changed({ fullPartner: true }),
    ofOwnPartner: () => changed({ ownPartner: true }),
    orWatchdog: () => changed({ watchdog: true }),
    orApiKey: (...keyScopes) => changed({ kinds: [...fields.kinds, "apiKey"], keyScopes }),
    exemptFrom: (...guards) =>
      changed({
        exempt: {
          partnerGuard: fields.exempt.partnerGuard || guards.includes("partnerGuard"),
          mfaEnrollment: fields.exempt.mfaEnrollment || guards.includes("mfaEnrollment"),
        },
      }),
  };
}

/** A signed-in user of one of these scopes; of any scope when none is named. */
export function staff(...allowed: Scope[]): Access {
  return access({ ...none, kinds: ["user"], scopes: allowed.length > 0 ? allowed : scopes });
}

/** An enrolled device's token. */
export function agent(): Access {
  return access({ ...none, kinds: ["agent"] });
}

/** A key of an organization or its service principal that has one of these scopes; with any when none is named. */
export function apiKey(...scopes: ApiKeyScope[]): Access {
  return access({ ...none, kinds: ["apiKey"], keyScopes: scopes });
}

/**
 * A key of a partner's service principal that has one of these scopes
 * (docs/credentials.md, "Partner service principals").
 */
export function partnerKey(...scopes: PartnerKeyScope[]): Access {
  return access({ ...none, kinds: ["partnerKey"], keyScopes: scopes });
}

/** Credentials are neither required nor read. */
export function open(): Access {
  return access({ ...none, kinds: ["public"], exempt: { partnerGuard: true, mfaEnrollment: true } });
}
