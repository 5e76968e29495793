import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import { endOpenCommands } from "./end-open-commands.ts";

/** Ends the uninstalls of an organization that are open, or those alone that nobody has collected. Returns how many. */
export const endUninstalls = (
  tx: Tx,
  services: EventServices,
  which: { orgId: string; only: "pending" | undefined; reason: string; now: string },
): Promise<number> => {
  const { only: status, ...rest } = which;
  return endOpenCommands(tx, services, { ...rest, only: "self_uninstall", ...(status && { status }) });
};
