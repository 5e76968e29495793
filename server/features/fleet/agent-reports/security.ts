import type { Endpoint } from "#contract/core/endpoint";
import type { agentReports } from "#contract/resources/fleet/agent-reports";
import type { Tx } from "#server/db/unit-of-work";
import { ignoredFields } from "#server/features/fleet/agents/ignored-fields";
import { noteSourceIp } from "#server/features/fleet/agents/source-ip";
import { holdDevice } from "#server/features/fleet/devices/hold-device";
import { toldOfDevice } from "#server/features/fleet/devices/told-of-device";
import { storeStatus } from "#server/features/security/security-posture/store-status";
import { type NewThreat, storeThreats } from "#server/features/security/threats/store-threats";
import type { Call } from "#server/http/call";
import { takeReport } from "./take-report.ts";

type SecurityCall = typeof agentReports.security extends Endpoint<infer T> ? Call<T> : never;

/** What protects the device, as a whole, and what was found on it, one by one (docs/security.md, "Reports"). */
export async function reportSecurity(call: SecurityCall) {
  const who = await takeReport(call, "security");
  const { threats, ...facts } = call.body;
  const device = { id: who.deviceId, orgId: who.orgId };
  await call.transaction(async (tx) => {
    await holdDevice(tx, call.services, device.id);
    await noteSourceIp(call, tx, who);
    const stored =
      threats && (await storeThreats(tx, call, device, { threats, providerId: facts.provider?.id ?? null }));
    await storeStatus(tx, call.clock.now(), device, { facts, threatCount: stored?.inEffect });
    if (stored && stored.added.length > 0) await tell(call, tx, device.id, stored.added);
  });
  return { success: true as const, count: 1 + (threats?.length ?? 0), ...ignoredFields(call) };
}

async function tell(call: SecurityCall, tx: Tx, deviceId: string, added: readonly NewThreat[]): Promise<void> {
  const { place, name } = await toldOfDevice(tx, deviceId);
  for (const { id: threatId, name: threatName, category, severity, status, detectedAt } of added) {
    const data = { ...name, threatId, threatName, category, severity, status, detectedAt };
    call.emit("security.threat_detected", { ...place, data });
  }
}
