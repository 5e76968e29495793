import type { Endpoint } from "#contract/core/endpoint";
import type { enrollmentKeys } from "#contract/resources/credentials/enrollment-keys";
import { writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getEnrollmentKey } from "./get-enrollment-key.ts";

type RemoveCall = typeof enrollmentKeys.remove extends Endpoint<infer T> ? Call<T> : never;

/** Hard delete, whatever the organization's state (docs/conventions.md, "Read-only organizations"). */
export async function removeEnrollmentKey(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const key = await getEnrollmentKey(call, tx, call.params.id);
    call.audit.note({ resource: { id: key.id, name: key.name }, owner: { orgId: key.orgId }, siteIds: [key.siteId] });
    const removed = await writeCredentials(call, (all) =>
      all.deleteFrom("enrollmentKeys").where("id", "=", key.id).executeTakeFirst(),
    );
    if (removed.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    const { usageCount, maxUsage, expiresAt } = key;
    call.audit.note({ details: { usageCount, maxUsage, expiresAt } });
    return { success: true as const };
  });
}
