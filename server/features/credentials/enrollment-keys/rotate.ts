import type { Endpoint } from "#contract/core/endpoint";
import type { enrollmentKeys } from "#contract/resources/credentials/enrollment-keys";
import { getWritableOrg } from "#server/access/org-access";
import { holdCredential, writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { expiryFor } from "./expiry.ts";
import { getEnrollmentKey } from "./get-enrollment-key.ts";
import { newEnrollmentKey } from "./key-hash.ts";

type RotateCall = typeof enrollmentKeys.rotate extends Endpoint<infer T> ? Call<T> : never;

/**
 * New material, count back to 0; `maxUsage` and `expiresAt` stay unless given (docs/credentials.md, "Enrollment keys").
 * The old key enrolls no device after this commit, so rotating is also allowed for a suspended organization.
 */
export async function rotateEnrollmentKey(call: RotateCall) {
  return call.transaction(async (tx) => {
    const found = await getEnrollmentKey(call, tx, call.params.id);
    call.audit.note({
      resource: { id: found.id, name: found.name },
      owner: { orgId: found.orgId },
      siteIds: [found.siteId],
    });
    const org = await getWritableOrg(call, found.orgId, tx);
    await holdCredential(call, "enrollmentKeys", found.id);
    const before = await getEnrollmentKey(call, tx, found.id);
    const maxUsage = call.body.maxUsage === undefined ? before.maxUsage : call.body.maxUsage;
    const asked = call.body.expiresAt;
    const expiresAt = asked === undefined ? before.expiresAt : expiryFor(call, org, asked);
    const { key, keyHash } = newEnrollmentKey(call.config, call.random);
    const now = call.clock.now();
    const rotated = await writeCredentials(call, (all) =>
      all
        .updateTable("enrollmentKeys")
        .set({ keyHash, usageCount: 0, maxUsage, expiresAt, keyIssuedAt: now, updatedAt: now })
        .where("id", "=", found.id)
        .executeTakeFirst(),
    );
    if (rotated.numUpdatedRows !== 1n) throw problem("NOT_FOUND");
    call.audit.note({
      details: {
        previousUsageCount: before.usageCount,
        previousMaxUsage: before.maxUsage,
        nextMaxUsage: maxUsage,
        previousExpiresAt: before.expiresAt,
        nextExpiresAt: expiresAt,
      },
    });
    return { ...(await getEnrollmentKey(call, tx, found.id)), key };
  });
}
