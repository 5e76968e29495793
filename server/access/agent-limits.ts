import { type Place, Places } from "#server/platform/places";
import { problem } from "#server/problem";
import type { Principal } from "./principal.ts";
import type { Limit } from "./rate-limit.ts";

/** Requests and frames of a device (docs/agents.md, "Limits of an agent"). */
export const agentRequests: Limit = { name: "agent", max: 120, windowSeconds: 60 };

/** Requests of a device that are under way in this process. */
const atOnce = { name: "agent-open", max: 4 } as const;

const open = new Places();

/** Answers a request, unless as many of its device's are under way already (429 `RATE_LIMITED`). */
export async function asOneOfOpen<R>(who: Principal, work: () => Promise<R>): Promise<R> {
  if (who.kind !== "agent") return work();
  const places: readonly Place[] = [[who.deviceId, atOnce.max]];
  if (open.take(places))
    throw problem("RATE_LIMITED", { details: { limit: atOnce.name, max: atOnce.max }, retryAfterSeconds: 1 });
  try {
    return await work();
  } finally {
    open.free(places);
  }
}
