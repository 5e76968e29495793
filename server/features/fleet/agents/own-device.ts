import type { AgentPrincipal } from "#server/access/principal";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/**
 * The calling device. Its token identifies it, so a path that names another device is 404
 * (docs/fleet.md, "Agent identity").
 */
export function ownDevice(call: Pick<Call, "who"> & { readonly params: { id: string } }): AgentPrincipal {
  const { who } = call;
  if (who.kind !== "agent") throw new Error("the endpoint let a caller through that is no agent");
  const named = call.params.id.toLowerCase();
  if (named !== who.agentId && named !== who.deviceId) throw problem("NOT_FOUND");
  return who;
}

/** The organization is offboarding: the device may only send heartbeats (docs/fleet.md, "Draining devices"). */
export const isDraining = (who: AgentPrincipal): boolean => who.orgStatus === "offboarding";

/** Nothing else is handed out, or taken, any more. */
export const mayOnlyUninstall = (who: AgentPrincipal): boolean => isDraining(who) || who.leaving;

export function refuseDraining(who: AgentPrincipal): void {
  if (isDraining(who)) throw problem("TENANT_OFFBOARDING");
  if (who.leaving) throw problem("DEVICE_DECOMMISSIONED", { toAgent: true });
}
