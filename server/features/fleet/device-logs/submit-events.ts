import type { Endpoint } from "#contract/core/endpoint";
import type { deviceLogs } from "#contract/resources/fleet/device-logs";
import type { AgentPrincipal } from "#server/access/principal";
import type { Limit } from "#server/access/rate-limit";
import type { Tx } from "#server/db/unit-of-work";
import { ownDevice, refuseDraining } from "#server/features/fleet/agents/own-device";
import { holdDevice } from "#server/features/fleet/devices/hold-device";
import type { Call } from "#server/http/call";
import { leftAtEnd } from "./left-at-end.ts";
import { eventsOfDevice, eventsOfOrganization } from "./limits.ts";
import { noteSubmission } from "./note-submission.ts";
import { readEach } from "./read-entries.ts";
import { OverLimit, tellOfRefusal } from "./refuse-events.ts";
import { type EventFacts, readEvent } from "./rules.ts";
import { type EventLogSettings, eventLogSettings } from "./settings.ts";

type SubmitCall = typeof deviceLogs.submitEvents extends Endpoint<infer T> ? Call<T> : never;

const GROUP = 100;

/** Events of a device: all of them, but for those stored before, or none (docs/device-logs.md, "Submitting events"). */
export async function submitEvents(call: SubmitCall) {
  const who = ownDevice(call);
  refuseDraining(who);
  const settings = await eventLogSettings(call.db, who.orgId);
  const given = call.body.events ?? [];
  const read = await readEach(given, (entry) => readEvent(entry, call.clock.now(), settings.minimumLevel));
  const events = read.filter((entry) => typeof entry === "object");
  const filtered = read.filter((entry) => entry === "filtered").length;
  const invalid = given.length - events.length - filtered;
  const count = await stored(call, who, { events, filtered, settings });
  return {
    success: true as const,
    count,
    filtered,
    ...(invalid > 0 ? { invalid } : {}),
    ...leftAtEnd(call, "events"),
  };
}

interface Submission {
  readonly events: readonly EventFacts[];
  readonly filtered: number;
  readonly settings: EventLogSettings;
}

async function stored(call: SubmitCall, who: AgentPrincipal, submission: Submission): Promise<number> {
  try {
    return await call.transaction((tx) => store(call, tx, who, submission));
  } catch (error) {
    if (error instanceof OverLimit) await tellOfRefusal(call, who, error);
    throw error;
  }
}

async function store(call: SubmitCall, tx: Tx, who: AgentPrincipal, { events, filtered, settings }: Submission) {
  await holdDevice(tx, call.services, who.deviceId);
  const limits = [
    [eventsOfOrganization(settings), who.orgId],
    [eventsOfDevice(settings), who.deviceId],
  ] as const;
  const change = (limit: Limit, subject: string, amount: number) =>
    call.asSystem("rate limit", (all) => call.services.limiter.takeWithin(all, limit, subject, amount));
  if (events.length > 0) {
    const [organization, device] = limits;
    const taken = {
      organization: await change(...organization, events.length),
      device: await change(...device, events.length),
    };
    if (!taken.organization.allowed || !taken.device.allowed) throw new OverLimit(call, taken, events.length);
  }
  const count = await insertNew(call, tx, who, events);
  // What was stored before takes no room of the hour.
  const known = events.length - count;
  if (known > 0) for (const [limit, subject] of limits) await change(limit, subject, -known);
  await noteSubmission(call, tx, who, { kind: "eventlogs", entries: count, filtered });
  return count;
}

async function insertNew(call: SubmitCall, tx: Tx, { orgId, deviceId }: AgentPrincipal, events: readonly EventFacts[]) {
  const createdAt = call.clock.now();
  let count = 0;
  for (let at = 0; at < events.length; at += GROUP) {
    const group = events.slice(at, at + GROUP);
    const { numInsertedOrUpdatedRows = 0n } = await tx
      .insertInto("deviceEventLogs")
      .values(
        group.map(({ details: fields, ...event }) => ({
          id: call.random.uuid(),
          orgId,
          deviceId,
          ...event,
          fields,
          createdAt,
        })),
      )
      .onConflict((conflict) => conflict.columns(["orgId", "deviceId", "source", "eventId"]).doNothing())
      .executeTakeFirst();
    count += Number(numInsertedOrUpdatedRows);
  }
  return count;
}
