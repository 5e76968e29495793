import type { Endpoint } from "#contract/core/endpoint";
import type { organizations } from "#contract/resources/tenancy/organizations";
import { lockRow } from "#server/db/dialect/locks";
import { storeOrganizationOrder } from "#server/features/tenancy/partners/store-organization-order";
import { type Call, user } from "#server/http/call";

type OrderCall = typeof organizations.order extends Endpoint<infer T> ? Call<T> : never;

/**
 * Stores the partner's order: known ids as given, then the others by creation
 * (docs/tenancy.md, "Order of organizations").
 */
export async function orderOrganizations(call: OrderCall) {
  const partnerId = user(call).partnerId as string;
  return call.transaction(async (tx) => {
    await lockRow(tx, call.services.store.dialect, "partners", partnerId);
    const rows = await tx.selectFrom("organizations").select("id").orderBy("createdAt").orderBy("id").execute();
    const organizationOrder = mergeOrder(
      call.body.orderedIds,
      rows.map((row) => row.id),
    );
    const name = await storeOrganizationOrder(tx, partnerId, organizationOrder, call.clock.now());
    call.audit.note({
      resource: { type: "partner", id: partnerId, name },
      owner: { partnerId },
      details: { count: organizationOrder.length },
    });
    return { organizationOrder };
  });
}

/** The wanted ids that exist, once each, followed by the rest. */
export function mergeOrder(wanted: readonly string[], existing: readonly string[]): string[] {
  const known = new Set(existing);
  const first = [...new Set(wanted)].filter((id) => known.has(id));
  const placed = new Set(first);
  return [...first, ...existing.filter((id) => !placed.has(id))];
}
