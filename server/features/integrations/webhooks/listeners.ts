import { problem } from "#server/problem";

/** Calls that wait for events of one organization, and of all, in this process. */
export const listenersPerOrganization = { name: "webhook-listeners", max: 4 } as const;
const ALL = 64;

const waiting = new Map<string, number>();

/** Runs what waits, unless as many wait already (429 `RATE_LIMITED`). */
export async function asListener<R>(orgId: string, work: () => Promise<R>): Promise<R> {
  const own = waiting.get(orgId) ?? 0;
  const all = [...waiting.values()].reduce((sum, number) => sum + number, 0);
  if (own >= listenersPerOrganization.max || all >= ALL)
    throw problem("RATE_LIMITED", { details: { limit: listenersPerOrganization.name }, retryAfterSeconds: 5 });
  waiting.set(orgId, own + 1);
  try {
    return await work();
  } finally {
    const left = (waiting.get(orgId) ?? 1) - 1;
    if (left > 0) waiting.set(orgId, left);
    else waiting.delete(orgId);
  }
}
