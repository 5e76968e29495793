import type { AgentPrincipal } from "#server/access/principal";
import type { Limit } from "#server/access/rate-limit";
import type { Tx } from "#server/db/unit-of-work";
import { toldOfDevice } from "#server/features/fleet/devices/told-of-device";
import { notify } from "#server/features/people/notifications/notify";
import type { Call } from "#server/http/call";

/** What tells one machine from another, as it was and as it is. */
export type IdentityChange = Readonly<
  Partial<
    Record<"hostname" | "deviceRole" | "serialNumber", { readonly from: string | null; readonly to: string | null }>
  >
>;

/** As events name them. */
const fields = { hostname: "hostname", deviceRole: "deviceRole", serialNumber: "hardware.serialNumber" } as const;

/** Two machines that report as one change it with every report: these are told of a device, and then no more. */
export const changesTold: Limit = { name: "agent-identity", max: 10, windowSeconds: 86_400 };
const flappingTold: Limit = { name: "agent-flapping", max: 1, windowSeconds: 86_400 };

/** Tells that an agent reports to be another machine than before (docs/fleet.md, "Changes of identity"). */
export async function tellIdentity(call: Call, tx: Tx, who: AgentPrincipal, change: IdentityChange): Promise<void> {
  const changed = (Object.keys(fields) as (keyof IdentityChange)[]).filter((field) => change[field] !== undefined);
  if (changed.length === 0) return;
  const { deviceId, hostname } = who;
  const take = (limit: Limit) =>
    call.asSystem("rate limit", (all) => call.services.limiter.takeWithin(all, limit, deviceId));
  const told = await take(changesTold);
  if (!told.allowed) return;
  const flapping = told.remaining === 0;
  call.audit.also({
    action: "agent.heartbeat.state_change",
    resource: { type: "device", id: deviceId, name: hostname },
    details: { ...change, ...(flapping ? { flapping } : {}) },
  });
  const { place, name } = await toldOfDevice(tx, deviceId);
  call.emit("device.updated", { ...place, data: { ...name, changedFields: changed.map((field) => fields[field]) } });
  if (!flapping || !(await take(flappingTold)).allowed) return;
  await call.asSystem("tell of suspect agents", (all) =>
    notify(all, call.services, {
      about: place,
      to: { holding: "devices:delete" },
      type: "security",
      priority: "high",
      title: `${name.deviceName} keeps becoming another machine`,
      message: `Its hostname, role or serial number has changed ${changesTold.max} times within a day: two machines share its identity, or its agent lies. Further changes of this day are not recorded.`,
      link: `/devices/${deviceId}`,
      metadata: { deviceId, changedFields: changed.map((field) => fields[field]) },
    }),
  );
}
