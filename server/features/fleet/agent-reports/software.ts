import type { Endpoint } from "#contract/core/endpoint";
import type { agentReports } from "#contract/resources/fleet/agent-reports";
import type { AgentPrincipal } from "#server/access/principal";
import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";
import { ignoredFields } from "#server/features/fleet/agents/ignored-fields";
import { noteSourceIp } from "#server/features/fleet/agents/source-ip";
import { holdDevice } from "#server/features/fleet/devices/hold-device";
import { rowChanges } from "#server/features/fleet/devices/row-changes";
import type { Call } from "#server/http/call";
import { takeReport } from "./take-report.ts";

type SoftwareCall = typeof agentReports.software extends Endpoint<infer T> ? Call<T> : never;
type Reported = NonNullable<SoftwareCall["body"]["software"]>;

/** Replaces what is installed; programs that stay keep their id (docs/fleet.md, "Software"). */
export async function reportSoftware(call: SoftwareCall) {
  const who = await takeReport(call, "software");
  const { software } = call.body;
  if (software) await call.transaction((tx) => replace(call, tx, who, software));
  return { success: true as const, count: software?.length ?? 0, ...ignoredFields(call) };
}

async function replace(call: SoftwareCall, tx: Tx, who: AgentPrincipal, report: Reported) {
  const device = { id: who.deviceId, orgId: who.orgId };
  await holdDevice(tx, call.services, device.id);
  await noteSourceIp(call, tx, who);
  const mine = { orgId: device.orgId, deviceId: device.id };
  await tx
    .insertInto("deviceSoftwareReports")
    .values({ ...mine, firstReportedAt: call.clock.now() })
    .onConflict((conflict) => conflict.columns(["orgId", "deviceId"]).doNothing())
    .execute();
  const stored = await tx
    .selectFrom("deviceSoftware")
    .select(["id", "name", "version", "vendor", "installDate", "installLocation", "uninstallString"])
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .execute();
  const { added, changed, gone } = rowChanges(stored, report.map(factsOf), keyOf);
  for (const ids of chunks(gone)) await tx.deleteFrom("deviceSoftware").where("id", "in", ids).execute();
  for (const { id, row } of changed) await tx.updateTable("deviceSoftware").set(row).where("id", "=", id).execute();
  const rows = added.map((row) => ({ id: call.random.uuid(), ...mine, ...row }));
  for (const some of chunks(rows)) await tx.insertInto("deviceSoftware").values(some).execute();
}

const factsOf = (program: Reported[number]) => ({
  name: program.name,
  version: program.version ?? null,
  vendor: program.vendor ?? null,
  installDate: program.installDate ?? null,
  installLocation: program.installLocation ?? null,
  uninstallString: program.uninstallString ?? null,
});

const keyOf = ({ name, vendor }: ReturnType<typeof factsOf>): string =>
  JSON.stringify([name.toLowerCase(), vendor?.toLowerCase() ?? null]);
