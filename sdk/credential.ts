import type { EndpointInfo } from "./endpoint-info.ts";
import { CredentialError } from "./errors.ts";
import { memoryStore, type SessionStore, type SessionTokens, type TokenPairAnswer, UserSession } from "./session.ts";

export type CredentialKind = EndpointInfo["kinds"][number];

/** What a client proves itself with. */
export type Credentials =
  | SessionTokens
  | { readonly store: SessionStore }
  | { readonly apiKey: string }
  | { readonly agentToken: string }
  /** A bearer token that something else keeps fresh; of a user unless `kind` says otherwise. */
  | { readonly token: string | (() => string | Promise<string>); readonly kind?: "user" | "agent" };

export interface Credential {
  readonly kind: CredentialKind;
  /** The secret to send, and the header it goes into. */
  present(signal: AbortSignal): Promise<{ header: "authorization" | "x-api-key"; secret: string }>;
  /** Present only where a refused token can be replaced. */
  readonly session: UserSession | undefined;
}

/** Makes a credential of what the caller gave; without anything only public endpoints can be called. */
export function credentialOf(
  given: Credentials | undefined,
  refresh: (refreshToken: string) => Promise<TokenPairAnswer>,
  now: () => number,
): Credential {
  if (given !== undefined && "apiKey" in given) {
    const kind = given.apiKey.startsWith("svc_sp_") ? "partnerKey" : "apiKey";
    return { kind, session: undefined, present: async () => ({ header: "x-api-key", secret: given.apiKey }) };
  }
  if (given !== undefined && ("agentToken" in given || "token" in given)) {
    const source = "agentToken" in given ? given.agentToken : given.token;
    const kind = "agentToken" in given ? "agent" : (given.kind ?? "user");
    const present = async () =>
      ({ header: "authorization", secret: typeof source === "string" ? source : await source() }) as const;
    return { kind, session: undefined, present };
  }
  const store = given === undefined ? memoryStore() : "store" in given ? given.store : memoryStore(given);
  const session = new UserSession(store, refresh, now);
  return {
    kind: "user",
    session,
    present: async (signal) => ({ header: "authorization", secret: await session.accessToken(signal) }),
  };
}

const names: Record<CredentialKind, string> = {
  user: "a signed-in user",
  apiKey: "an API key (svc_…)",
  partnerKey: "a partner key (svc_sp_…)",
  agent: "a device token",
  public: "no credential",
};

/** Refuses here what the server would refuse anyway, and says which credential would work. */
export function requireKind(endpoint: EndpointInfo, credential: Credential): void {
  if (endpoint.kinds.includes("public") || endpoint.kinds.includes(credential.kind)) return;
  const wanted = endpoint.kinds.map((kind) => names[kind]).join(" or ");
  throw new CredentialError(`This call needs ${wanted}; the client has ${names[credential.kind]}`, {
    code: "WRONG_CREDENTIAL",
    outcome: "not_sent",
    operation: `${endpoint.noun}.${endpoint.verb}`,
    details: { accepted: endpoint.kinds, given: credential.kind },
  });
}
