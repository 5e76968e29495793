import type { Insertable } from "kysely";
import { lockRow } from "#server/db/dialect/locks";
import type { OrganizationsTable } from "#server/db/tables/tenancy";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem, taken } from "#server/problem";
import { slugIsTaken } from "./queries.ts";

type Chosen = Pick<
  Insertable<OrganizationsTable>,
  "name" | "slug" | "type" | "status" | "maxDevices" | "settings" | "contractStart" | "contractEnd" | "billingContact"
>;

/**
 * Writes an organization with what the rooms give a new one (`onOrganizationCreated`). The partner's cap and the slug are
 * checked under a lock, so parallel creates can neither pass the cap nor share a slug.
 */
export async function insertOrganization(call: Call, tx: Tx, partnerId: string, chosen: Chosen): Promise<string> {
  await lockRow(tx, call.services.store.dialect, "partners", partnerId);
  await call.asSystem("count against caps", async (all) => {
    await refuseOverCap(all, partnerId);
    if (await slugIsTaken(all, partnerId, chosen.slug)) throw taken("SLUG_TAKEN", chosen.slug);
  });
  const id = call.random.uuid();
  const now = call.clock.now();
  await tx
    .insertInto("organizations")
    .values({
      id,
      partnerId,
      ...chosen,
      ssoConfig: {},
      offboardingStartedAt: null,
      offboardingTarget: null,
      archivedAt: null,
      retentionMode: null,
      purgeAt: null,
      mergedIntoOrgId: null,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    })
    .execute();
  if (call.scope.kind === "partner") call.scope.known.add(id);
  await call.services.hooks.onOrganizationCreated({ tx, orgId: id, now });
  const { name, status } = chosen;
  call.emit("organization.created", { orgId: id, data: { organizationId: id, organizationName: name, status } });
  return id;
}

async function refuseOverCap(tx: Tx, partnerId: string): Promise<void> {
  const partner = await tx
    .selectFrom("partners")
    .select("maxOrganizations")
    .where("id", "=", partnerId)
    .where("deletedAt", "is", null)
    .executeTakeFirst();
  if (!partner) throw problem("NOT_FOUND");
  if (partner.maxOrganizations === null) return;
  const { count } = await tx
    .selectFrom("organizations")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("partnerId", "=", partnerId)
    .where("deletedAt", "is", null)
    .executeTakeFirstOrThrow();
  if (Number(count) >= partner.maxOrganizations) {
    throw problem("ORG_LIMIT_REACHED", { details: { current: Number(count), max: partner.maxOrganizations } });
  }
}
