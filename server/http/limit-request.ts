import type { ServerResponse } from "node:http";
import { agentRequests } from "#server/access/agent-limits";
import { rateLimited } from "#server/access/attempts";
import type { KeyPrincipal, Principal } from "#server/access/principal";
import type { Allowance, Limit } from "#server/access/rate-limit";
import type { Services } from "#server/services";

/** Requests per minute of a session or device, per hour of a key (docs/conventions.md, "Rate limits"). */
export async function limitRequest(
  services: Services,
  who: Principal,
  response: ServerResponse,
  { ownLimit = false }: { readonly ownLimit?: boolean } = {},
): Promise<void> {
  if (who.kind === "apiKey" || who.kind === "partnerKey") return limitKey(services, who, response);
  if (who.kind === "agent") return ownLimit ? undefined : refuseOver(services, agentRequests, who.deviceId);
  const max = services.config.apiRateLimitPerMinute;
  if (who.kind === "user" && max > 0)
    await refuseOver(services, { name: "api", max, windowSeconds: 60 }, who.sessionId);
}

/** Hourly windows of a key; every answer says how much is left (docs/credentials.md, "Rate limit of a key"). */
async function limitKey(services: Services, who: KeyPrincipal, response: ServerResponse): Promise<void> {
  const allowance = await takeUse(services, who);
  response.setHeader("X-RateLimit-Limit", String(allowance.limit));
  response.setHeader("X-RateLimit-Remaining", String(allowance.remaining));
  response.setHeader("X-RateLimit-Reset", String(Math.ceil(allowance.resetAtMs / 1_000)));
  if (!allowance.allowed) throw rateLimited(services, allowance.resetAtMs);
  services.keyUsage.count(who, services.clock.now());
}

/** One use of a key. A partner key's counts for its principal too: what is left is what both leave. */
async function takeUse({ limiter }: Services, who: KeyPrincipal): Promise<Allowance> {
  const own: Limit = { name: "key", max: who.rateLimit, windowSeconds: 3_600 };
  const ofKey = await limiter.take(own, who.keyId);
  if (who.kind === "apiKey" || !ofKey.allowed) return ofKey;
  const shared: Limit = { name: "principal", max: who.principalRateLimit, windowSeconds: 3_600 };
  const ofPrincipal = await limiter.take(shared, who.principalId);
  // A refused use costs nothing.
  if (!ofPrincipal.allowed) await limiter.giveBack(own, who.keyId);
  return !ofPrincipal.allowed || ofPrincipal.remaining < ofKey.remaining ? ofPrincipal : ofKey;
}

async function refuseOver(services: Services, limit: Limit, subject: string): Promise<void> {
  const allowance = await services.limiter.takeLeased(limit, subject);
  if (!allowance.allowed) throw rateLimited(services, allowance.resetAtMs);
}
