import type { Tx } from "#server/db/unit-of-work";
import { endUninstalls } from "#server/features/fleet/device-commands/end-uninstalls";
import type { Call } from "#server/http/call";

/**
 * Begins the slow end of an organization, in the transaction that sets its status: people and keys lose access, devices
 * are told to uninstall (docs/tenancy.md, "Winding down an organization"). Returns what the rooms say for the entry.
 */
export const beginWindingDown = (call: Call, orgId: string): Promise<Record<string, unknown>> =>
  call.asSystem("revoke access", (tx) =>
    call.services.hooks.onOrganizationDraining({ tx, services: call.services, orgId, now: call.clock.now() }),
  );

/** Takes back what no device has collected yet; devices that have uninstalled stay out of service. */
export const abortWindingDown = (call: Call, orgId: string): Promise<number> =>
  call.asSystem("work commands", (tx: Tx) =>
    endUninstalls(tx, call.services, { orgId, only: "pending", reason: "offboarding_aborted", now: call.clock.now() }),
  );

/** Columns of the wind-down while it runs, and after it. */
export const windingDown = (now: string) => ({ offboardingStartedAt: now, offboardingTarget: "churned" as const });
export const notWindingDown = { offboardingStartedAt: null, offboardingTarget: null };
