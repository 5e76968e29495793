import type { Endpoint } from "#contract/core/endpoint";
import type { agentReports } from "#contract/resources/fleet/agent-reports";
import { PATCHES_MAX } from "#contract/resources/software/patches";
import { ignoredFields } from "#server/features/fleet/agents/ignored-fields";
import { noteSourceIp } from "#server/features/fleet/agents/source-ip";
import { holdDevice, leftMeanwhile } from "#server/features/fleet/devices/hold-device";
import { storeReport } from "#server/features/software/patches/store-report";
import type { Call } from "#server/http/call";
import { takeReport } from "./take-report.ts";

type PatchesCall = typeof agentReports.patches extends Endpoint<infer T> ? Call<T> : never;

/** What waits and what is installed (docs/software.md, "Reports of patches"). */
export async function reportPatches(call: PatchesCall) {
  const who = await takeReport(call, "patches");
  const { pending, installed } = call.body;
  // A list that was cut does not say what else there is no more.
  const full = call.body.full === true && !isCut(call.sentBody);
  const left = await call.transaction(async (tx) => {
    await holdDevice(tx, call.services, who.deviceId);
    await noteSourceIp(call, tx, who);
    const { siteId, ...device } = await tx
      .selectFrom("devices")
      .select(["id", "orgId", "siteId", "osType", "hostname", "displayName"])
      .where("id", "=", who.deviceId)
      .executeTakeFirstOrThrow();
    if (siteId === null) throw leftMeanwhile();
    return storeReport(call, tx, { ...device, siteId }, { pending, installed, full });
  });
  const count = (pending?.length ?? 0) + (installed?.length ?? 0) - left;
  return { success: true as const, count, ...ignoredFields(call) };
}

const isCut = (sent: unknown): boolean =>
  ((sent as { pending?: readonly unknown[] } | undefined)?.pending?.length ?? 0) > PATCHES_MAX;
