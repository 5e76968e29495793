import type { Endpoint } from "#contract/core/endpoint";
import type { deviceLogs } from "#contract/resources/fleet/device-logs";
import { rateLimited } from "#server/access/attempts";
import type { AgentPrincipal } from "#server/access/principal";
import { attempt } from "#server/db/attempt";
import type { Tx } from "#server/db/unit-of-work";
import { ownDevice, refuseDraining } from "#server/features/fleet/agents/own-device";
import { holdDevice } from "#server/features/fleet/devices/hold-device";
import type { Call } from "#server/http/call";
import { leftAtEnd } from "./left-at-end.ts";
import { logEntries, logKilobytes } from "./limits.ts";
import { noteSubmission } from "./note-submission.ts";
import { readEach } from "./read-entries.ts";
import { type LogFacts, readLog } from "./rules.ts";

type SubmitCall = typeof deviceLogs.submit extends Endpoint<infer T> ? Call<T> : never;

const GROUP = 100;

/** What the agent logged, in groups that are stored in order until one is not (docs/device-logs.md, "Submitting"). */
export async function submitLogs(call: SubmitCall) {
  const who = ownDevice(call);
  refuseDraining(who);
  const given = call.body.logs ?? [];
  const beside = leftAtEnd(call, "logs");
  if (given.length === 0) {
    call.audit.skip();
    call.answerWith(200);
    return { received: 0, ...beside };
  }
  const entries = await readEach(given, (entry) => readLog(entry, call.clock.now()));
  const received = await call.transaction((tx) => storeInGroups(call, tx, who, entries));
  const invalid = entries.slice(0, received).filter((entry) => entry === undefined).length;
  const left = invalid > 0 ? { invalid } : {};
  if (received === entries.length) return { received, ...left, ...beside };
  call.answerWith(207);
  return { received, total: entries.length, partial: true as const, ...left, ...beside };
}

type Read = LogFacts | undefined;

async function storeInGroups(call: SubmitCall, tx: Tx, who: AgentPrincipal, entries: readonly Read[]) {
  await holdDevice(tx, call.services, who.deviceId);
  await takeOrRefuse(call, who, entries);
  let [received, stored] = [0, 0];
  for (let at = 0; at < entries.length; at += GROUP) {
    const group = entries.slice(at, at + GROUP);
    const rows = rowsOf(call, who, group);
    if (rows.length > 0) {
      const done = await attempt(tx, () => tx.insertInto("deviceLogs").values(rows).execute());
      if ("error" in done) {
        if (received === 0) throw done.error;
        call.log.error("device_logs.group_not_stored", { deviceId: who.deviceId, received, error: done.error });
        break;
      }
    }
    received += group.length;
    stored += rows.length;
  }
  await noteSubmission(call, tx, who, { kind: "logs", entries: stored, filtered: received - stored });
  return received;
}

function rowsOf(call: SubmitCall, { orgId, deviceId }: AgentPrincipal, entries: readonly Read[]) {
  const createdAt = call.clock.now();
  return entries.flatMap((entry) =>
    entry === undefined ? [] : [{ id: call.random.uuid(), orgId, deviceId, ...entry, createdAt }],
  );
}

/** A refused submission costs nothing. */
async function takeOrRefuse(call: SubmitCall, { deviceId }: AgentPrincipal, entries: readonly Read[]): Promise<void> {
  const counted = [
    [logEntries, entries.length],
    [logKilobytes, Math.ceil(entries.reduce((sum, entry) => sum + sizeOf(entry), 0) / 1_024)],
  ] as const;
  for (const [limit, amount] of counted) {
    const { limiter } = call.services;
    const taken = await call.asSystem("rate limit", (all) => limiter.takeWithin(all, limit, deviceId, amount));
    if (!taken.allowed && amount > 0) throw rateLimited(call.services, taken.resetAtMs);
  }
}

const sizeOf = (entry: Read): number =>
  entry ? entry.message.length + (entry.fields ? JSON.stringify(entry.fields).length : 0) : 0;
