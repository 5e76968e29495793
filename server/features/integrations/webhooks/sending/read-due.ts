import type { Kysely } from "kysely";
import { asSystem } from "#server/db/as-system";
import { word } from "#server/db/dialect/text";
import { type Given, preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Services } from "#server/services";
import type { DeliveryRow, WebhookRow } from "../queries.ts";

export const readWebhooks = (services: Services, orgId: string): Promise<WebhookRow[]> =>
  asSystem(services, "deliver webhooks").selectFrom("webhooks").selectAll().where("orgId", "=", orgId).execute();

/**
 * The first that wait for each of these webhooks, in one query: it is asked several times a second. Of one that is not
 * active its tests alone.
 */
export async function readWaiting(
  services: Services,
  webhooks: readonly WebhookRow[],
  limit: number,
): Promise<Map<string, DeliveryRow[]>> {
  const isActive = ({ status }: WebhookRow) => status === "active";
  const inOrder = [...webhooks.filter(isActive), ...webhooks.filter((one) => !isActive(one))];
  const asked: Given = { limit, ...Object.fromEntries(inOrder.map(({ id }, n) => [`webhook${n}`, id])) };
  const form = { all: inOrder.length, active: inOrder.filter(isActive).length };
  const rows = await waiting(asSystem(services, "deliver webhooks"), asked, form);
  const found = new Map<string, DeliveryRow[]>(inOrder.map(({ id }) => [id, []]));
  for (const row of rows) found.get(row.webhookId)?.push(row);
  for (const own of found.values()) own.sort(inTime);
  return found;
}

/** Those that may go at once first, as the databases order them. */
const inTime = (one: DeliveryRow, other: DeliveryRow): number => {
  const [a, b] = [one.nextAttemptAt ?? "", other.nextAttemptAt ?? ""];
  return a === b ? (one.id < other.id ? -1 : 1) : a < b ? -1 : 1;
};

const waiting = preparedRows((db, asked: Given, { all, active }: { all: number; active: number }) => {
  const own = Array.from({ length: all }, (_, n) => {
    const { [`webhook${n}`]: id, limit } = asked as Record<string, string> & { limit: number };
    return ofOne(db, { id: id as string, limit, testsOnly: n >= active });
  });
  return own.reduce((query, one) => query.unionAll(one));
});

const ofOne = (db: Kysely<Database>, { id, limit, testsOnly }: { id: string; limit: number; testsOnly: boolean }) =>
  db
    .selectFrom((eb) => {
      const rows = eb
        .selectFrom("webhookDeliveries")
        .selectAll()
        .where("webhookId", "=", id)
        .where("status", "in", [word("pending"), word("retrying")]);
      return (testsOnly ? rows.where("origin", "=", "test") : rows)
        .orderBy("nextAttemptAt")
        .orderBy("id")
        .limit(limit)
        .as("first");
    })
    .selectAll();
