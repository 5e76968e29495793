import { takeAttempt } from "#server/access/attempts";
import type { AgentPrincipal } from "#server/access/principal";
import { ownDevice, refuseDraining } from "#server/features/fleet/agents/own-device";
import type { Call } from "#server/http/call";

/** Per device and kind of report. */
export const reportLimit = { name: "agent-report", max: 12, windowSeconds: 3_600 };

type ReportCall = Pick<Call, "who" | "services"> & { readonly params: { id: string } };

type Kind = "inventory" | "software" | "security" | "patches";

export const reportSubject = ({ deviceId }: { deviceId: string }, kind: Kind): string => `${deviceId} ${kind}`;

/** The device that reports, unless it is draining or has done so too often. */
export async function takeReport(call: ReportCall, kind: Kind): Promise<AgentPrincipal> {
  const who = ownDevice(call);
  refuseDraining(who);
  await takeAttempt(call.services, reportLimit, reportSubject(who, kind));
  return who;
}
