import type { AgentPrincipal } from "#server/access/principal";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/** The calling device; its token says which one, so a path that names another is 404 (contract 1 H1). */
export function ownDevice(call: Pick<Call, "who"> & { readonly params: { id: string } }): AgentPrincipal {
  const { who } = call;
  if (who.kind !== "agent") throw new Error("the endpoint let a caller through that is no agent");
  const named = call.params.id.toLowerCase();
  if (named !== who.agentId && named !== who.deviceId) throw problem("NOT_FOUND");
  return who;
}

/** The organization is being wound down: devices report and uninstall themselves, nothing else (contract 1 H6). */
export const isDraining = (who: AgentPrincipal): boolean => who.orgStatus === "offboarding";

export function refuseDraining(who: AgentPrincipal): void {
  if (isDraining(who)) throw problem("TENANT_OFFBOARDING");
}
