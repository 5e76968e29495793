import type { Reader } from "#server/db/unit-of-work";
import { policyOver } from "#server/features/access-control/approver-devices/policy-over";
import type { Proven as ProvenDevice } from "#server/features/access-control/approver-devices/prove-assertion";
import { isEnforcing, requiredLevel } from "#server/features/access-control/approver-devices/rules";
import { activeDevicesOf } from "#server/features/people/core/approver-devices";
import { problem } from "#server/problem";
import type { ShownElevation } from "./queries.ts";
import { tierOnDevice } from "./risk-of-device.ts";
import { CRITICAL, HIGH } from "./rules.ts";

/** What an approver has proven. */
export interface Proven {
  /** That signed; undefined: the session alone approves. */
  readonly device: ProvenDevice | undefined;
  readonly reauthenticated: boolean;
}

/** What an approval has to meet at this moment. */
export interface Standing {
  readonly tier: number | null;
  /** The level it should reach. */
  readonly required: number;
  /** Below it, it is refused. */
  readonly enforcing: boolean;
  /** Devices of the approver that count. */
  readonly deviceIds: readonly string[];
}

type Asked = Pick<ShownElevation, "flowType" | "riskTier" | "deviceId" | "orgId">;

interface Approval {
  readonly elevation: Asked;
  /** Of the approver. */
  readonly userId: string;
  readonly now: string;
}

/** Needs an unscoped handle: the policy is that of the partner above the organization, whoever approves. */
export async function readStanding(db: Reader, { elevation, userId, now }: Approval): Promise<Standing> {
  const tier = await tierToday(db, elevation, now);
  const policy = await policyOver(db, elevation.orgId);
  const devices = await activeDevicesOf(db, userId);
  return {
    tier,
    required: requiredLevel(tier, policy),
    enforcing: isEnforcing(policy, now),
    deviceIds: devices.map(({ id }) => id),
  };
}

/** 1 by a session, 3 by a device, 4 by a device whose key stays on its machine and a person who proved who they are. */
export const levelOf = ({ device, reauthenticated }: Proven): number =>
  device === undefined ? 1 : device.isPlatformBound && reauthenticated ? 4 : 3;

/** Approved with less than the tier asks for, which nobody enforces. */
export const isGrace = ({ required }: Standing, proven: Proven): boolean => levelOf(proven) < required;

/**
 * 403 `STEP_UP_REQUIRED`: below the level that a partner enforces; or without a signature at a high risk, of somebody who
 * has a device to sign with. A device that was removed meanwhile has signed nothing.
 */
export function refuseUnderAssured(standing: Standing, proven: Proven): void {
  const { tier, required, enforcing, deviceIds } = standing;
  if (proven.device && !deviceIds.includes(proven.device.deviceId)) throw problem("ASSERTION_FAILED");
  const leavesOut = proven.device === undefined && deviceIds.length > 0 && (tier ?? 0) >= HIGH;
  if (leavesOut || (enforcing && isGrace(standing, proven)))
    throw problem("STEP_UP_REQUIRED", { details: { requiredLevel: required, achievedLevel: levelOf(proven) } });
  // It may have become critical after the proof was judged.
  if (tier === CRITICAL && !proven.reauthenticated) throw problem("reauth_required");
}

/** As it was asked, or higher where the device has become a server since. */
async function tierToday(db: Reader, { flowType, riskTier, deviceId, orgId }: Asked, now: string) {
  if (flowType !== "tech_jit_admin" || deviceId === null) return riskTier;
  const device = await db
    .selectFrom("devices")
    .select(["id", "deviceRole", "osVersion"])
    .where("id", "=", deviceId)
    .where("orgId", "=", orgId)
    .executeTakeFirst();
  return device ? Math.max(riskTier ?? 0, await tierOnDevice(db, device, now)) : riskTier;
}
