import type { IncomingMessage } from "node:http";
import type { Access } from "#contract/core/access";
import { loadAgent } from "#server/access/load-agent";
import { loadUser } from "#server/access/load-user";
import { nobody, type Principal } from "#server/access/principal";
import { systemHandle } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { Services } from "#server/services";

/** Finds out who is calling, or answers 401 naming the credential that would work. */
export async function authenticate(services: Services, access: Access, request: IncomingMessage): Promise<Principal> {
  if (access.kinds.includes("public")) return nobody;
  const token = bearer(request);
  if (access.kinds.includes("agent")) {
    if (token === undefined) throw problem("INVALID_AGENT_CREDENTIALS");
    return loadAgent(services, token);
  }
  if (token === undefined) {
    const withKey = request.headers["x-api-key"] !== undefined;
    throw problem("UNAUTHENTICATED", withKey ? { details: { accepts: ["user"], given: "apiKey" } } : {});
  }
  const claims = services.accessTokens.verify(token);
  const who = claims && (await loadUser(systemHandle(services.store), claims, services.clock.now()));
  if (!who) throw problem("UNAUTHENTICATED");
  return who;
}

function bearer(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  const match = header === undefined ? null : /^Bearer ([\x21-\x7e]+)$/i.exec(header);
  return match?.[1];
}
