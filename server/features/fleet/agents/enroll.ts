import { takeAttempt } from "#server/access/attempts";
import { isForeignKeyViolation, isUniqueViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import { claimUse } from "#server/features/credentials/enrollment-keys/claim-use";
import { replaceHardware, replaceInterfaces } from "#server/features/fleet/devices/inventory";
import { comesOnline } from "#server/features/fleet/devices/presence";
import { toldOfDevice } from "#server/features/fleet/devices/told-of-device";
import { clientBlock } from "#server/platform/ip-address";
import { problem } from "#server/problem";
import { claimAwaited } from "./claim-awaited.ts";
import {
  createDevice,
  type EnrolledDevice,
  findPresented,
  type Presented,
  rekey,
  rekeyPresented,
} from "./enroll-device.ts";
import { admit, type EnrollCall } from "./enrollment-key.ts";
import { findRepeat } from "./enrollment-proof.ts";
import { ignoredFields } from "./ignored-fields.ts";
import { intervals } from "./intervals.ts";
import { newTokenPair, type TokenPair } from "./tokens.ts";

/**
 * Enrolls a device in an organization (docs/fleet.md, "Enrollment"). Everything happens in one transaction, including
 * the use of the key: a refused enrollment leaves only its audit entry.
 */
export async function enrollAgent(call: EnrollCall) {
  const { services, config } = call;
  await takeAttempt(
    services,
    { name: "agent-enroll", max: config.agentEnrollRateLimit, windowSeconds: 60 },
    clientBlock(call.ip),
  );
  const work = call.transaction(() =>
    call.asSystem("enroll device", async (tx) => {
      const known = await findRepeat(call, tx);
      if (known) {
        const pair = newTokenPair(call.random);
        const device = await rekey(call, tx, { device: known, pair, siteId: known.siteId as string, more: {} });
        return finish(call, tx, { device, presented: known, pair });
      }
      const key = await admit(call, tx);
      const pair = newTokenPair(call.random);
      if (key.device !== null) {
        const device = await claimAwaited(call, tx, { key, pair });
        return finish(call, tx, { device, presented: undefined, awaited: true, pair });
      }
      if (!(await claimUse(tx, key, call.clock.now()))) throw problem("ENROLLMENT_KEY_EXHAUSTED");
      const presented = await findPresented(call, tx, key);
      const device = presented
        ? await rekeyPresented(call, tx, { key, pair, device: presented })
        : await createDevice(call, tx, { key, pair });
      return finish(call, tx, { device, presented, pair });
    }),
  );
  // The site was deleted meanwhile, or the same request is being answered: the agent tries again.
  return work.catch((error: unknown) => {
    throw isForeignKeyViolation(error) || isUniqueViolation(error)
      ? problem("CONCURRENT_MODIFICATION", { cause: error })
      : error;
  });
}

interface Enrolled {
  readonly device: EnrolledDevice;
  readonly presented: Presented | undefined;
  /** Its row was there before it came. */
  readonly awaited?: true;
  readonly pair: TokenPair;
}

async function finish(call: EnrollCall, tx: Tx, { device, presented, awaited, pair }: Enrolled) {
  await keepInventory(call, tx, device);
  record(call, device, { presented, awaited });
  await tell(call, tx, device.id, presented);
  const { id: deviceId, ...placed } = device;
  return { ...placed, deviceId, ...pair, config: intervals, ...ignoredFields(call) };
}

async function keepInventory(call: EnrollCall, tx: Tx, device: EnrolledDevice): Promise<void> {
  const { hardware, network } = call.body;
  if (hardware !== undefined) await replaceHardware(tx, device, hardware, call.clock.now());
  if (network !== undefined) await replaceInterfaces(tx, device, network, call.random);
}

async function tell(call: EnrollCall, tx: Tx, id: string, presented: Presented | undefined): Promise<void> {
  const { place, name } = await toldOfDevice(tx, id);
  call.emit("device.enrolled", { ...place, data: { ...name, again: presented !== undefined } });
  if (presented && comesOnline(presented.status))
    call.emit("device.online", { ...place, data: { ...name, previousStatus: presented.status } });
}

function record(
  call: EnrollCall,
  device: EnrolledDevice,
  { presented, awaited }: Pick<Enrolled, "presented" | "awaited">,
): void {
  const rekeyed = presented !== undefined;
  const about = {
    resource: { type: "device", id: device.id, name: call.body.hostname },
    owner: { orgId: device.orgId },
    actor: { type: "agent" as const, id: device.id },
    siteIds: [device.siteId, presented?.siteId ?? null],
  };
  call.audit.note({ ...about, details: { siteId: device.siteId, agentVersion: call.body.agentVersion, rekeyed } });
  if (!rekeyed && !awaited)
    call.audit.also({ ...about, action: "device.create", details: { via: "enroll", siteId: device.siteId } });
}
