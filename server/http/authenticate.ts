import type { IncomingMessage } from "node:http";
import type { Access } from "#contract/core/access";
import type { AccessClaims } from "#server/access/access-token";
import { loadAgent } from "#server/access/load-agent";
import { loadApiKey } from "#server/access/load-api-key";
import { loadPartnerKey } from "#server/access/load-partner-key";
import { loadUser } from "#server/access/load-user";
import { nobody, type Principal } from "#server/access/principal";
import { asSystem } from "#server/db/as-system";
import { problem, type RefusedCredential } from "#server/problem";
import type { Services } from "#server/services";
import type { RequestFacts } from "./request-facts.ts";

/** Authenticates the caller, or answers 401 naming the credential that the endpoint accepts. */
export async function authenticate(
  services: Services,
  access: Access,
  request: IncomingMessage,
  facts: RequestFacts,
): Promise<Principal> {
  if (access.kinds.includes("public")) return nobody;
  const { ip } = facts;
  const token = bearer(request);
  if (access.kinds.includes("agent")) {
    if (token === undefined) throw problem("INVALID_AGENT_CREDENTIALS");
    return loadAgent(services, token, facts);
  }
  const withUser = access.kinds.includes("user");
  const key = keyOf(request);
  // Where both are accepted, a key decides alone (docs/conventions.md, "Callers").
  if (access.kinds.includes("apiKey") && (key !== undefined || !withUser)) return loadApiKey(services, key, ip);
  if (access.kinds.includes("partnerKey") && (key !== undefined || !withUser)) return loadPartnerKey(services, key, ip);
  if (token === undefined) {
    const withKey = key !== undefined;
    throw problem("UNAUTHENTICATED", withKey ? { details: { accepts: ["user"], given: "apiKey" } } : {});
  }
  const claims = services.accessTokens.verify(token);
  if (!claims) throw problem("UNAUTHENTICATED");
  const who = await loadUser(asSystem(services, "authenticate"), claims, services.clock.now());
  if (!who) throw problem("UNAUTHENTICATED", { refused: endedSession(claims) });
  return who;
}

/** The token is good and what it stands for is not: session, person, membership or tenant have ended. */
const endedSession = ({ sub, sid, scope, orgId, partnerId }: AccessClaims): RefusedCredential => ({
  actor: { type: "user", id: sub },
  owner: scope === "organization" ? { orgId } : scope === "partner" ? { partnerId } : {},
  reason: "session_ended",
  through: { sessionId: sid },
});

function keyOf(request: IncomingMessage): string | undefined {
  const header = request.headers["x-api-key"];
  return Array.isArray(header) ? header.join(", ") : header;
}

function bearer(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  const match = header === undefined ? null : /^Bearer ([\x21-\x7e]+)$/i.exec(header);
  return match?.[1];
}
