import type { Principal } from "#server/access/principal";
import type { Limit } from "#server/access/rate-limit";
import { problem } from "#server/problem";
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

/** 429 with the first moment a slot can free. */
export function rateLimited(services: Services, resetAtMs: number) {
  const seconds = Math.max(1, Math.ceil((resetAtMs - services.clock.nowMs()) / 1_000));
  return problem("RATE_LIMITED", { retryAfterSeconds: seconds });
}
