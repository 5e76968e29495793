import type { Endpoint } from "#contract/core/endpoint";
import type { organizations } from "#contract/resources/tenancy/organizations";
import { tellDevicesOf } from "#server/features/fleet/device-commands/signals";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getOrganization } from "./queries.ts";

type RemoveCall = typeof organizations.remove extends Endpoint<infer T> ? Call<T> : never;

/** Soft delete: status `churned`, access revoked, sites kept (docs/tenancy.md, "Deleting an organization"). */
export async function removeOrganization(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const org = await getOrganization(tx, call.params.id);
    call.audit.note({ resource: { id: org.id, name: org.name }, owner: { orgId: org.id } });
    const now = call.clock.now();
    const removed = await tx
      .updateTable("organizations")
      .set({ deletedAt: now, status: "churned", updatedAt: now })
      .where("id", "=", org.id)
      .where("deletedAt", "is", null)
      .executeTakeFirst();
    if (removed.numUpdatedRows !== 1n) throw problem("NOT_FOUND");
    // After the row is taken: a key that is being made holds it and is seen here once it exists.
    const closed = { orgId: org.id, reason: "organization deleted", now };
    const { hooks } = call.services;
    const taken = await call.asSystem("revoke access", (all) => hooks.onOrganizationClosed({ tx: all, ...closed }));
    call.audit.note({ details: { previousStatus: org.status, ...taken } });
    call.afterCommit(() => tellDevicesOf(call.services, org.id));
    call.emit("organization.deleted", {
      orgId: org.id,
      data: { organizationId: org.id, organizationName: org.name },
    });
    return { success: true as const };
  });
}
