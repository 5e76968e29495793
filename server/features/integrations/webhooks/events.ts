import type { Endpoint } from "#contract/core/endpoint";
import { type EventKind, eventKinds } from "#contract/core/events";
import type { webhooks } from "#contract/resources/integrations/webhooks";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { endOfEvents, startOfEvents } from "#server/events/ends";
import type { Call } from "#server/http/call";
import { SECOND } from "#server/platform/clock";
import type { Vault } from "#server/platform/vault";
import { invalid } from "#server/problem";
import { refuseUnknownEvents } from "./fields.ts";
import { asListener } from "./listeners.ts";
import { matches } from "./rules.ts";

type EventsCall = typeof webhooks.events extends Endpoint<infer T> ? Call<T> : never;

interface Asked {
  readonly orgId: string;
  readonly kinds: readonly EventKind[];
}

const PAGE = 100;
/** Positions of all tenants that one call looks through. */
const LOOKED_THROUGH = 10_000;
const LOOK_EVERY_MS = 500;

/** What a webhook of the organization would be told, for who may make one (docs/integrations.md, "Listening"). */
export async function listenToEvents(call: EventsCall) {
  refuseSiteRestricted(call);
  const { orgId: named, events: patterns, cursor, waitSeconds } = call.query;
  const org = await orgForCreate(call, named);
  const orgId = org.id;
  refuseUnknownEvents(patterns);
  const asked: Asked = { orgId, kinds: eventKinds.filter((kind) => matches(patterns, kind)) };
  const { vault } = call.services;
  const answer = (page: { data: Told[]; position: number; missed?: boolean }) => ({
    data: page.data,
    cursor: sealCursor(vault, orgId, page.position),
    missed: page.missed ?? false,
  });
  const end = await endOfEvents(call);
  if (cursor === undefined) return answer({ data: [], position: end });
  const after = openCursor(vault, orgId, cursor);
  // The log of a database that was restored ends before the cursor.
  if (after > end) return answer({ data: [], position: end, missed: true });
  const missed = after < end && after + 1 < ((await startOfEvents(call)) ?? end + 1);
  const to = Math.min(end, after + LOOKED_THROUGH);
  const found = await eventsBetween(call, asked, { after, to }, PAGE);
  const position = found.length === PAGE ? (found.at(-1) as Found).position : to;
  if (found.length > 0 || missed || to < end) return answer({ data: found.map(told), position, missed });
  return answer({ data: [], position: await asListener(org, () => waited(call, asked, end, waitSeconds * SECOND)) });
}

/**
 * The position up to which nothing was told, once there is something or the time is over. What there is is read by the
 * next call: this caller may have lost their rights meanwhile.
 */
async function waited(call: EventsCall, asked: Asked, from: number, waitMs: number): Promise<number> {
  const { signals } = call.services.store;
  const until = performance.now() + waitMs;
  for (let seen = from; ; ) {
    const leftMs = until - performance.now();
    if (leftMs <= 0 || signals.closed || call.gone.aborted) return seen;
    await signals.pause(Math.min(leftMs, LOOK_EVERY_MS), call.gone);
    const end = await endOfEvents(call);
    if (end === seen) continue;
    const some = await eventsBetween(call, asked, { after: seen, to: end }, 1);
    if (some.length > 0) return seen;
    seen = end;
  }
}

type Found = Awaited<ReturnType<typeof eventsBetween>>[number];
type Told = ReturnType<typeof told>;

const eventsBetween = (
  { db }: EventsCall,
  { orgId, kinds }: Asked,
  { after, to }: { after: number; to: number },
  limit: number,
) =>
  db
    .selectFrom("events")
    .select(["id", "kind", "siteId", "data", "occurredAt", "orgId"])
    .select((eb) => eb.ref("position").$notNull().as("position"))
    .where("orgId", "=", orgId)
    .where("kind", "in", kinds)
    .where("position", ">", after)
    .where("position", "<=", to)
    .orderBy("position")
    .limit(limit)
    .execute();

/** As the body of a delivery says it. */
const told = ({ id, kind, occurredAt, orgId, siteId, data }: Found) => ({
  id,
  type: kind as string,
  timestamp: occurredAt,
  orgId: orgId as string,
  siteId,
  data: data as Record<string, unknown>,
});

/** Sealed for one organization: positions are counted over all tenants, and say how much happens elsewhere. */
const contextOf = (orgId: string) => `webhook.events:${orgId}`;
const sealCursor = (vault: Vault, orgId: string, position: number) => vault.seal(String(position), contextOf(orgId));

function openCursor(vault: Vault, orgId: string, cursor: string): number {
  try {
    return Number(vault.open(cursor, contextOf(orgId)));
  } catch {
    throw invalid({ path: "cursor", message: "cursor: it is none that this organization was given" });
  }
}
