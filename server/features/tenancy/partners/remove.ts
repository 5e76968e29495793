import type { Endpoint } from "#contract/core/endpoint";
import type { partners } from "#contract/resources/tenancy/partners";
import { lockRow } from "#server/db/dialect/locks";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getPartner } from "./queries.ts";

type RemoveCall = typeof partners.remove extends Endpoint<infer T> ? Call<T> : never;

/**
 * Soft delete: status `churned`, sessions and keys revoked, organizations kept (docs/tenancy.md, "Deleting a partner").
 */
export async function removePartner(call: RemoveCall) {
  return call.transaction(async (tx) => {
    await lockRow(tx, call.services.store.dialect, "partners", call.params.id);
    const partner = await getPartner(tx, call.params.id);
    call.audit.note({ resource: { id: partner.id, name: partner.name }, owner: { partnerId: partner.id } });
    const now = call.clock.now();
    const removed = await tx
      .updateTable("partners")
      .set({ deletedAt: now, status: "churned", updatedAt: now })
      .where("id", "=", partner.id)
      .where("deletedAt", "is", null)
      .executeTakeFirst();
    if (removed.numUpdatedRows !== 1n) throw problem("NOT_FOUND");
    // Its agents are refused from now on by the partner's `deletedAt`, its enrollment keys by its status.
    const closed = { partnerId: partner.id, reason: "partner deleted", now };
    const { hooks } = call.services;
    const taken = await call.asSystem("revoke access", (all) => hooks.onPartnerClosed({ tx: all, ...closed }));
    call.audit.note({ details: { previousStatus: partner.status, ...taken } });
    return { success: true as const };
  });
}
