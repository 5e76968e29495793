import { rateLimited } from "#server/access/attempts";
import type { Principal } from "#server/access/principal";
import type { Limit } from "#server/access/rate-limit";
import type { Services } from "#server/services";

const agentLimit: Limit = { name: "agent", max: 120, windowSeconds: 60 };

/** Requests a minute per session, and per device (contract 1 A1, H1). */
export async function limitRequest(services: Services, who: Principal): Promise<void> {
  if (who.kind === "agent") return refuseOver(services, agentLimit, who.deviceId);
  const max = services.config.apiRateLimitPerMinute;
  if (who.kind === "user" && max > 0)
    await refuseOver(services, { name: "api", max, windowSeconds: 60 }, who.sessionId);
}

async function refuseOver(services: Services, limit: Limit, subject: string): Promise<void> {
  const allowance = await services.limiter.takeLeased(limit, subject);
  if (!allowance.allowed) throw rateLimited(services, allowance.resetAtMs);
}

export { rateLimited };
