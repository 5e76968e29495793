import type { EndpointInfo } from "./endpoint-info.ts";
import { CredentialError } from "./errors.ts";
import { memoryStore, type SessionStore, type SessionTokens, type TokenPairAnswer, UserSession } from "./session.ts";

export type CredentialKind = EndpointInfo["kinds"][number];

/** The credentials of a client. */
export type Credentials =
  | SessionTokens
  | { readonly store: SessionStore }
  | { readonly apiKey: string }
  | { readonly agentToken: string }
  /**
   * A secret that something else keeps fresh. Its prefix tells a partner key (`svc_sp_`), an API key (`svc_`) and a
   * device token (`agt_`) from a user's access token, unless `kind` says what it is.
   */
  | { readonly token: string | (() => string | Promise<string>); readonly kind?: SecretKind | undefined };

export type SecretKind = Exclude<CredentialKind, "public">;

export interface Presented {
  readonly kind: SecretKind;
  readonly secret: string;
}

export interface Credential {
  /** Undefined if only the secret itself shows its kind. */
  readonly kind: SecretKind | undefined;
  /** The secret to send. */
  present(signal: AbortSignal): Promise<Presented>;
  /** Present only if a refused token can be replaced. */
  readonly session: UserSession | undefined;
}

/** The kind of a secret, by its prefix. */
export function kindOfSecret(secret: string): SecretKind {
  if (secret.startsWith("agt_")) return "agent";
  if (secret.startsWith("svc_sp_")) return "partnerKey";
  return secret.startsWith("svc_") ? "apiKey" : "user";
}

/** Makes a credential from the caller's options; without one, only public endpoints can be called. */
export function credentialOf(
  given: Credentials | undefined,
  refresh: (refreshToken: string) => Promise<TokenPairAnswer>,
  now: () => number,
): Credential {
  if (given !== undefined && "apiKey" in given) {
    const { apiKey } = given;
    return fixed(apiKey, kindOfSecret(apiKey.trim()) === "partnerKey" ? "partnerKey" : "apiKey");
  }
  if (given !== undefined && "agentToken" in given) return fixed(given.agentToken, "agent");
  if (given !== undefined && "token" in given) {
    const { token, kind } = given;
    if (typeof token === "string") return fixed(token, kind ?? kindOfSecret(token.trim()));
    const present = async () => {
      const secret = (await token()).trim();
      return { kind: kind ?? kindOfSecret(secret), secret };
    };
    return { kind, session: undefined, present };
  }
  const store = given === undefined ? memoryStore() : "store" in given ? given.store : memoryStore(given);
  const session = new UserSession(store, refresh, now);
  return {
    kind: "user",
    session,
    present: async (signal) => ({ kind: "user", secret: (await session.accessToken(signal)).trim() }),
  };
}

const fixed = (secret: string, kind: SecretKind): Credential => ({
  kind,
  session: undefined,
  present: async () => ({ kind, secret: secret.trim() }),
});

const names: Record<CredentialKind, string> = {
  user: "a signed-in user",
  apiKey: "an API key (svc_…)",
  partnerKey: "a partner key (svc_sp_…)",
  agent: "a device token",
  public: "no credential",
};

/** Refuses a credential that the server would refuse, and says which kind would work. */
export function requireKind(endpoint: EndpointInfo, kind: SecretKind): void {
  if (endpoint.kinds.includes("public") || endpoint.kinds.includes(kind)) return;
  const wanted = endpoint.kinds.map((one) => names[one]).join(" or ");
  throw new CredentialError(`This call needs ${wanted}; the client has ${names[kind]}`, {
    code: "WRONG_CREDENTIAL",
    outcome: "not_sent",
    operation: `${endpoint.noun}.${endpoint.verb}`,
    details: { accepted: endpoint.kinds, given: kind },
  });
}
