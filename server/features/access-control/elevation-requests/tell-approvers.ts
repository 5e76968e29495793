import { escapeControls, withoutInvisible } from "#contract/core/characters";
import { word } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import { notify } from "#server/features/people/notifications/notify";
import { after, MINUTE } from "#server/platform/clock";
import type { EventServices } from "#server/room-hooks";
import type { HeldMachine } from "./hold.ts";
import { CRITICAL } from "./rules.ts";

/** Where a request is decided; notices of it lead there. */
export const linkTo = (id: string): string => `/pam/elevation-requests/${id}`;

/**
 * Tells whoever may approve at the device's site that requests wait: once a minute and device, of all that came since
 * (docs/elevation-requests.md, "Who is told"). The device is held by this transaction.
 */
export async function tellApprovers(
  tx: Tx,
  services: Pick<EventServices, "store" | "clock" | "random">,
  machine: Pick<HeldMachine, "id" | "orgId" | "siteId" | "hostname" | "displayName">,
): Promise<void> {
  const { id: deviceId, orgId, siteId } = machine;
  const now = services.clock.now();
  const told = await tx
    .selectFrom("elevationRequests")
    .select("id")
    .where("orgId", "=", orgId)
    .where("deviceId", "=", deviceId)
    .where("announcedAt", ">", after(now, -MINUTE))
    .limit(1)
    .executeTakeFirst();
  if (told) return;
  const waiting = await tx
    .updateTable("elevationRequests")
    .set({ announcedAt: now })
    .where("orgId", "=", orgId)
    .where("deviceId", "=", deviceId)
    .where("status", "=", word("pending"))
    .where("announcedAt", "is", null)
    .returning(["id", "subjectUsername", "subjectUserId", "riskTier", "requestedAt", "toolName", "requestedByName"])
    .execute();
  const [newest, ...others] = waiting.toSorted((one, other) => (one.requestedAt < other.requestedAt ? 1 : -1));
  if (!newest) return;
  const urgent = waiting.some(({ riskTier }) => riskTier === CRITICAL);
  const more = others.length === 0 ? "" : ` So do ${others.length} more of this device.`;
  const { toolName } = newest;
  // A machine wrote it, and it is kept as it came.
  const subject = escapeControls(
    withoutInvisible(toolName === null ? newest.subjectUsername : `${newest.requestedByName}`),
  );
  await notify(tx, services, {
    about: { orgId, siteId },
    to: { holding: "pam:approve", except: others.length === 0 ? newest.subjectUserId : null },
    type: "security",
    priority: urgent ? "urgent" : "high",
    title: `${toolName === null ? "Elevated rights" : `The tool ${toolName}`} asked for on ${machine.displayName ?? machine.hostname}`,
    message: `A request of ${subject || "a technician"} waits for a decision.${more}`,
    link: linkTo(newest.id),
    metadata: { elevationRequestId: newest.id, deviceId, more: others.length },
  });
}
