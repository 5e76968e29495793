import type { Insertable } from "kysely";
import { word } from "#server/db/dialect/text";
import type { Database } from "#server/db/tables";
import type { Tx } from "#server/db/unit-of-work";
import { emitEvents } from "#server/events/emit";
import type { EventServices } from "#server/room-hooks";

type Row = Insertable<Database["incidents"]>;

type Tracked = Pick<Row, "title" | "severity" | "classification" | "sourceType" | "sourceRef"> &
  Partial<Pick<Row, "orgId" | "partnerId" | "deviceId">>;

/**
 * Opens an incident, unless one of the same subject is open, however often it is found again (docs/alerting.md,
 * "Incidents"). That of an organization is told. The handle is unscoped.
 */
export async function trackIncident(tx: Tx, services: EventServices, tracked: Tracked): Promise<void> {
  const now = services.clock.now();
  const opened = await tx
    .insertInto("incidents")
    .values({
      ...{ orgId: null, partnerId: null, deviceId: null, ...tracked },
      ...{ id: services.random.uuid(), status: "detected", detectedAt: now, closedAt: null },
      ...{ createdAt: now, updatedAt: now },
    })
    .onConflict((conflict) =>
      conflict.columns(["sourceType", "sourceRef"]).where("status", "<>", word("closed")).doNothing(),
    )
    .returning(["id", "orgId", "title", "severity", "classification"])
    .executeTakeFirst();
  if (!opened || opened.orgId === null) return;
  const { id: incidentId, orgId, title: incidentName, severity, classification } = opened;
  const data = { incidentId, incidentName, severity, classification };
  await emitEvents(tx, services, "incident.created", [{ orgId, siteId: null, data }]);
}

/** What it was about is over; a new one of the same subject is another incident. */
export async function closeIncident(
  tx: Tx,
  now: string,
  { sourceType, sourceRef }: Pick<Row, "sourceType" | "sourceRef">,
): Promise<void> {
  await tx
    .updateTable("incidents")
    .set({ status: "closed", closedAt: now, updatedAt: now })
    .where("sourceType", "=", sourceType)
    .where("sourceRef", "=", sourceRef)
    .where("status", "<>", "closed")
    .execute();
}
