import type { Tx } from "#server/db/unit-of-work";
import { storable } from "#server/features/sign-in/core/open-session";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { after } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import { LOGIN_SESSION_MS } from "./rules.ts";

/** The account that an identity is to be attached to, as it was when that began. */
export interface LinkTarget {
  userId: string;
  sessionId: string;
  authEpoch: string;
}

interface NewLoginSession {
  provider: Pick<ProviderRow, "id" | "configVersion">;
  redirectPath: string;
  link: LinkTarget | undefined;
  challenge: string | undefined;
}

const sealedFor = (id: string) => `sso-verifier:${id}`;

/** Begins a sign-in: what must come back (state), what must be in the ID token (nonce), what proves the start (PKCE). */
export async function beginLoginSession(
  call: Pick<Call, "clock" | "random" | "services" | "ip" | "userAgent">,
  tx: Tx,
  { provider, redirectPath, link, challenge }: NewLoginSession,
): Promise<{ state: string; nonce: string; codeVerifier: string }> {
  const [state, nonce, codeVerifier] = [0, 1, 2].map(() => call.random.bytes(32).toString("base64url")) as [
    string,
    string,
    string,
  ];
  const id = call.random.uuid();
  const now = call.clock.now();
  await tx
    .insertInto("ssoLoginSessions")
    .values({
      id,
      stateHash: sha256(state),
      providerId: provider.id,
      configVersion: provider.configVersion,
      nonce,
      codeVerifierSealed: call.services.vault.seal(codeVerifier, sealedFor(id)),
      redirectPath,
      exchangeChallenge: challenge ?? null,
      linkUserId: link?.userId ?? null,
      linkSessionId: link?.sessionId ?? null,
      linkAuthEpoch: link?.authEpoch ?? null,
      ipAddress: call.ip,
      userAgent: storable(call.userAgent),
      createdAt: now,
      expiresAt: after(now, LOGIN_SESSION_MS),
    })
    .execute();
  return { state, nonce, codeVerifier };
}

export interface LoginSession {
  providerId: string;
  configVersion: number;
  nonce: string;
  codeVerifier: string;
  redirectPath: string;
  exchangeChallenge: string | null;
  link: LinkTarget | undefined;
}

/** Takes the sign-in of a state, once: of two callbacks with one state the second finds nothing. */
export async function consumeLoginSession(
  call: Pick<Call, "clock" | "services" | "asSystem">,
  state: string,
): Promise<LoginSession | undefined> {
  const row = await call.asSystem("sign-in", (tx) =>
    tx
      .deleteFrom("ssoLoginSessions")
      .where("stateHash", "=", sha256(state))
      .where("expiresAt", ">", call.clock.now())
      .returningAll()
      .executeTakeFirst(),
  );
  if (!row) return undefined;
  const {
    providerId,
    configVersion,
    nonce,
    redirectPath,
    exchangeChallenge,
    linkUserId,
    linkSessionId,
    linkAuthEpoch,
  } = row;
  const link =
    linkUserId !== null && linkSessionId !== null && linkAuthEpoch !== null
      ? { userId: linkUserId, sessionId: linkSessionId, authEpoch: linkAuthEpoch }
      : undefined;
  const codeVerifier = call.services.vault.open(row.codeVerifierSealed, sealedFor(row.id));
  return { providerId, configVersion, nonce, codeVerifier, redirectPath, exchangeChallenge, link };
}
