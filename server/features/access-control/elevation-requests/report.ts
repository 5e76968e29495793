import canonicalize from "canonicalize";
import { rateLimited } from "#server/access/attempts";
import type { AgentPrincipal } from "#server/access/principal";
import type { Limit } from "#server/access/rate-limit";
import { word } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import { ownDevice, refuseDraining } from "#server/features/fleet/agents/own-device";
import { refusalOf } from "#server/features/fleet/device-commands/rules";
import { leftMeanwhile } from "#server/features/fleet/devices/hold-device";
import { after, MINUTE } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { decideAndStore, type ReportCall } from "./decide-and-store.ts";
import { holdMachine, isInUse } from "./hold.ts";

/** Reports of a device; the limit of its other requests does not count them. */
export const reportLimit: Limit = { name: "elevation-report", max: 600, windowSeconds: 60 };
/** Requests of a device that wait at once. */
export const PENDING_MAX = 200;
const AGAIN_MS = 10 * MINUTE;

/**
 * Takes a prompt as its agent saw it, whole, and decides it in the transaction that stores it
 * (docs/elevation-requests.md, "A report").
 */
export async function reportElevation(call: ReportCall) {
  const who = ownDevice(call);
  refuseDraining(who);
  const allowance = await call.services.limiter.takeLeased(reportLimit, who.deviceId);
  if (!allowance.allowed) throw rateLimited(call.services, allowance.resetAtMs);
  return call.transaction(() => call.asSystem("decide elevations", (tx) => take(call, tx, who)));
}

async function take(call: ReportCall, tx: Tx, who: AgentPrincipal) {
  const inUse = await isInUse(tx, call.services, who.orgId);
  const machine = await holdMachine(tx, call.services, who.deviceId);
  if (machine?.orgId !== who.orgId) throw leftMeanwhile();
  // Shut away or let go since its token was read, which ended what was open: nothing opens after that.
  if (refusalOf(machine.status) !== undefined) throw leftMeanwhile();
  const mine = { orgId: who.orgId, deviceId: who.deviceId };
  const reportDigest = digestOf(call.body);
  const known = reportDigest && (await findSame(tx, mine, { reportDigest, since: after(call.clock.now(), -AGAIN_MS) }));
  if (known) {
    call.audit.skip();
    return known;
  }
  await refuseTooMany(tx, mine);
  return decideAndStore(call, tx, { machine, inUse, reportDigest });
}

/** Of a report that tells one prompt from another. */
function digestOf(body: ReportCall["body"]): string | null {
  if (body.pid === undefined || body.observed_at === undefined) return null;
  return sha256(canonicalize(body) as string);
}

interface Mine {
  readonly orgId: string;
  readonly deviceId: string;
}

/** The agent did not get the answer and asks again. */
const findSame = (tx: Tx, mine: Mine, { reportDigest, since }: { reportDigest: string; since: string }) =>
  tx
    .selectFrom("elevationRequests")
    .select(["id", "status"])
    .where("orgId", "=", mine.orgId)
    .where("deviceId", "=", mine.deviceId)
    .where("reportDigest", "=", reportDigest)
    .where("requestedAt", ">=", since)
    .executeTakeFirst();

async function refuseTooMany(tx: Tx, mine: Mine): Promise<void> {
  const { count } = await tx
    .selectFrom("elevationRequests")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("orgId", "=", mine.orgId)
    .where("deviceId", "=", mine.deviceId)
    .where("status", "=", word("pending"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= PENDING_MAX)
    throw problem("RATE_LIMITED", { details: { limit: "pending", max: PENDING_MAX }, retryAfterSeconds: 60 });
}
