import { Places } from "#server/platform/places";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { rateLimited } from "./attempts.ts";
import { type Principal, user } from "./principal.ts";
import type { Limit } from "./rate-limit.ts";

/** Previews of filters and searches of a person or key, together (docs/search.md, "Limits of searches and previews"). */
export const fleetQueries: Limit = { name: "fleet-query", max: 60, windowSeconds: 60 };

/** Those that are under way in this process. */
const atOnce = { name: "fleet-query-open", max: 2 } as const;

const open = new Places();

/** Answers a preview or a search, unless its caller has as many under way, or had too many this minute (429 `RATE_LIMITED`). */
export async function asFleetQuery<R>(
  { who, services }: { readonly who: Principal; readonly services: Services },
  work: () => Promise<R>,
): Promise<R> {
  const caller = who.kind === "apiKey" ? who.keyId : user({ who }).userId;
  const places = [[caller, atOnce.max]] as const;
  if (open.take(places))
    throw problem("RATE_LIMITED", { details: { limit: atOnce.name, max: atOnce.max }, retryAfterSeconds: 1 });
  try {
    const allowance = await services.limiter.take(fleetQueries, caller);
    if (!allowance.allowed) throw rateLimited(services, allowance.resetAtMs);
    return await work();
  } finally {
    open.free(places);
  }
}
