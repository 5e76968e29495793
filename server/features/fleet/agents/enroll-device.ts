import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { refuseOverDeviceCap } from "#server/features/fleet/devices/caps";
import { insertDevice } from "#server/features/fleet/devices/insert-device";
import { aliveStatus, appendAvailability, comesOnline } from "#server/features/fleet/devices/presence";
import { rekeyDevice } from "#server/features/fleet/devices/rekey-device";
import { after, MINUTE } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { namedSite, siteForNewDevice } from "./enroll-site.ts";
import type { AdmittingKey, EnrollCall } from "./enrollment-key.ts";
import { proofOf } from "./enrollment-proof.ts";
import { refuseQuarantinedNamesake } from "./quarantined-namesake.ts";
import { rememberReplaced } from "./replaced-tokens.ts";
import { hashesOf, type TokenPair } from "./tokens.ts";

const GRACE_MS = 10 * MINUTE;

export interface EnrolledDevice {
  readonly id: string;
  readonly orgId: string;
  readonly siteId: string;
  readonly agentId: string;
}

/** What every enrollment writes, whether the row is new or not. */
const reported = (call: EnrollCall, pair: TokenPair) => {
  const { hostname, osType, osVersion, osBuild, architecture, agentVersion } = call.body;
  const now = call.clock.now();
  return {
    hostname,
    osType,
    osVersion,
    osBuild: osBuild ?? null,
    architecture,
    agentVersion,
    isVirtual: call.body.isVirtual ?? false,
    lastSeenAt: now,
    lastSeenIp: call.ip,
    ...hashesOf(pair),
    tokensIssuedAt: now,
    updatedAt: now,
  };
};

/** The device whose current agent token the caller presents, if it is of the key's organization. */
export async function findPresented(call: EnrollCall, tx: Tx, key: AdmittingKey) {
  const token = /^Bearer (agt_[0-9a-f]{64})$/i.exec(call.header("authorization") ?? "")?.[1];
  if (token === undefined) return undefined;
  const query = tx
    .selectFrom("devices")
    .select(["id", "orgId", "siteId", "agentId", "status", "deviceRoleSource", "agentTokenHash", "watchdogTokenHash"])
    .where("agentTokenHash", "=", sha256(token))
    .where("orgId", "=", key.orgId)
    .where("status", "<>", "decommissioned");
  return held(query, call.services.store.dialect).executeTakeFirst();
}

export type Presented = NonNullable<Awaited<ReturnType<typeof findPresented>>>;

/**
 * Gives a device that proves itself new tokens; the old ones last ten more minutes. It keeps its id, its agent id and,
 * unless the key or the device names one, its site. Maintenance survives, quarantine refuses.
 */
export async function rekeyPresented(
  call: EnrollCall,
  tx: Tx,
  { key, pair, device }: { key: AdmittingKey; pair: TokenPair; device: Presented },
): Promise<EnrolledDevice> {
  const siteId = (await namedSite(call, tx, key)) ?? device.siteId ?? (await siteForNewDevice(call, tx, key));
  return rekey(call, tx, { device, pair, siteId, more: proofOf(call, key) });
}

export const newAgentId = ({ random }: EnrollCall) => random.bytes(32).toString("hex");

interface Rekeying {
  readonly device: Presented;
  readonly pair: TokenPair;
  readonly siteId: string;
  /** What else the row takes with it. */
  readonly more: Partial<Parameters<typeof rekeyDevice>[2]>;
}

export async function rekey(
  call: EnrollCall,
  tx: Tx,
  { device, pair, siteId, more }: Rekeying,
): Promise<EnrolledDevice> {
  if (device.status === "quarantined") throw problem("DEVICE_QUARANTINED");
  const { deviceRole } = call.body;
  const status = aliveStatus[device.status];
  const rekeyed = await rekeyDevice(tx, device, {
    ...reported(call, pair),
    ...more,
    previousAgentTokenHash: device.agentTokenHash,
    previousWatchdogTokenHash: device.watchdogTokenHash,
    previousTokensExpireAt: after(call.clock.now(), GRACE_MS),
    siteId,
    status,
    ...(deviceRole !== undefined && device.deviceRoleSource === "auto" ? { deviceRole } : {}),
  });
  if (!rekeyed) throw problem("CONCURRENT_MODIFICATION");
  const now = call.clock.now();
  await rememberReplaced(tx, device, device, now);
  const { services } = call;
  if (siteId !== device.siteId)
    await services.hooks.onDeviceResited({ tx, services, now, deviceId: device.id, orgId: device.orgId });
  if (comesOnline(device.status)) {
    await appendAvailability(tx, call, "online", [device]);
  }
  return { id: device.id, orgId: device.orgId, siteId, agentId: device.agentId as string };
}

/** Makes the row, within the caps. A second device of the same name is welcome unless one is quarantined. */
export async function createDevice(
  call: EnrollCall,
  tx: Tx,
  { key, pair }: { key: AdmittingKey; pair: TokenPair },
): Promise<EnrolledDevice> {
  const siteId = await siteForNewDevice(call, tx, key);
  await refuseOverDeviceCap(tx, call.services, key.orgId);
  await refuseQuarantinedNamesake(call, tx, key.orgId);
  const device = {
    id: call.random.uuid(),
    orgId: key.orgId,
    siteId,
    agentId: newAgentId(call),
  };
  const now = call.clock.now();
  await insertDevice(tx, {
    ...reported(call, pair),
    ...proofOf(call, key),
    previousAgentTokenHash: null,
    previousWatchdogTokenHash: null,
    previousTokensExpireAt: null,
    ...device,
    deviceRole: call.body.deviceRole ?? "unknown",
    status: "online",
    enrolledAt: now,
    createdAt: now,
  });
  await appendAvailability(tx, call, "online", [device]);
  return device;
}
