import { asSystem } from "#server/db/as-system";
import { word } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import { tellDevice } from "#server/features/fleet/device-commands/signals";
import { after } from "#server/platform/clock";
import type { Services } from "#server/services";
import type { HeldElevation } from "./columns.ts";
import { cancelActuation, isSevered, queueEnding, wasClaimed } from "./commands.ts";
import { eachByItself } from "./each-by-itself.ts";
import { expire } from "./expire.ts";
import { holdElevation, holdMachine } from "./hold.ts";
import { waitsMs } from "./tool-action.ts";

const BATCH = 200;

export interface Found {
  readonly id: string;
  readonly orgId: string;
  readonly deviceId: string | null;
}

/** Tells a device, once the transaction has committed. */
export type Wake = (deviceId: string) => void;

/** Goes through what is due, each in a transaction of its own, which looks again. Returns how many changed; throws behind the last if one failed. */
export async function eachDue(
  services: Services,
  find: (db: Pick<Tx, "selectFrom">, past: string) => Promise<Found[]>,
  work: (tx: Tx, found: Found, wake: Wake) => Promise<boolean>,
): Promise<number> {
  const db = asSystem(services, "decide elevations");
  let total = 0;
  let past = "";
  const failures: unknown[] = [];
  for (let due = await find(db, past); due.length > 0; due = await find(db, past)) {
    const step = eachByItself(due, async (found) => {
      const told: string[] = [];
      const changed = await db.transaction().execute((tx) => work(tx, found, (deviceId) => void told.push(deviceId)));
      if (changed) total += 1;
      for (const deviceId of told) tellDevice(services, deviceId);
    });
    await step.catch((error: unknown) => void failures.push(error));
    // By id: what is left as it was is not found again in this run.
    past = due[due.length - 1]?.id ?? past;
    if (due.length < BATCH) break;
  }
  if (total > 0) services.wakeAuditWriter();
  if (total > 0) services.wakeEvents();
  if (failures.length > 0) throw failures[0];
  return total;
}

const found = (db: Pick<Tx, "selectFrom">, past: string) => {
  const query = db.selectFrom("elevationRequests").select(["id", "orgId", "deviceId"]).orderBy("id").limit(BATCH);
  return past === "" ? query : query.where("id", ">", past);
};

/** Requests that nobody decided within `PAM_PENDING_TTL_MINUTES` (docs/elevation-requests.md, "Ending"). */
export const expireStale = (services: Services): Promise<number> =>
  expireOlder(services, ["uac_intercept", "tech_jit_admin"]);

/** Calls of tools that nobody decided within `TOOL_EXECUTION_TTL_SECONDS`. */
export const expireCalls = (services: Services): Promise<number> => expireOlder(services, ["ai_tool_action"]);

type Flow = HeldElevation["flowType"];

function expireOlder(services: Services, flows: readonly [Flow, ...Flow[]]): Promise<number> {
  const before = after(services.clock.now(), -waitsMs(services.config, { flowType: flows[0] }));
  const due = (db: Pick<Tx, "selectFrom">, past: string) =>
    found(db, past)
      .where("status", "=", word("pending"))
      .where("requestedAt", "<=", before)
      .where("flowType", "in", flows)
      .execute();
  return eachDue(services, due, async (tx, one) => {
    const elevation = await holdElevation(tx, services, one);
    if (elevation?.status !== "pending" || elevation.requestedAt > before) return false;
    return (await expire(tx, services, { elevation, cause: "stale", enforcementStatus: "none" })) !== undefined;
  });
}

/** Windows that are over: what may have begun on the device is ended there. */
export const expireWindows = (services: Services): Promise<number> => {
  const now = services.clock.now();
  const due = (db: Pick<Tx, "selectFrom">, past: string) =>
    found(db, past)
      .where("status", "in", [word("approved"), word("auto_approved"), word("actuating")])
      .where("expiresAt", "<=", now)
      .execute();
  return eachDue(services, due, (tx, one, wake) => closeWindow(tx, services, one, wake));
};

async function closeWindow(tx: Tx, services: Services, { id, orgId, deviceId }: Found, wake: Wake): Promise<boolean> {
  const machine = deviceId === null ? undefined : await holdMachine(tx, services, deviceId);
  const elevation = await holdElevation(tx, services, { id, orgId });
  if (!elevation || (elevation.expiresAt ?? "") > services.clock.now()) return false;
  const begun = await mayHaveBegun(tx, elevation);
  const enforcementStatus = begun ? "cleanup_pending" : "none";
  const ended = await expire(tx, services, { elevation, cause: "window", enforcementStatus });
  if (!ended) return false;
  await cancelActuation(tx, services, id);
  if (begun && machine && !isSevered(machine) && machine.status !== "quarantined") {
    await queueEnding(tx, services, { elevation: ended, machine, cause: "expired" });
    wake(machine.id);
  }
  return true;
}

/** An order that was never handed out has done nothing; one that failed or timed out may have. */
async function mayHaveBegun(tx: Tx, { id, enforcementStatus }: HeldElevation): Promise<boolean> {
  if (enforcementStatus === "none" || enforcementStatus === "pending_dispatch") return false;
  return enforcementStatus !== "failed" || (await wasClaimed(tx, id));
}
