import { type Place, Places } from "#server/platform/places";
import { problem } from "#server/problem";

/** Calls that wait for events in this process: of one organization, of one partner's together, and of all. */
const perOrganization = { name: "webhook-listeners", max: 4 } as const;
const perPartner = { name: "webhook-listeners-partner", max: 16 } as const;
const ALL = 64;

const waiting = new Places();

/** Runs what waits, unless as many wait already (429 `RATE_LIMITED`). */
export async function asListener<R>(org: { id: string; partnerId: string }, work: () => Promise<R>): Promise<R> {
  const places: readonly Place[] = [
    [`${perOrganization.name} ${org.id}`, perOrganization.max],
    [`${perPartner.name} ${org.partnerId}`, perPartner.max],
    [perOrganization.name, ALL],
  ];
  const full = waiting.take(places);
  if (full !== undefined)
    throw problem("RATE_LIMITED", { details: { limit: full[0].split(" ")[0] }, retryAfterSeconds: 5 });
  try {
    return await work();
  } finally {
    waiting.free(places);
  }
}
