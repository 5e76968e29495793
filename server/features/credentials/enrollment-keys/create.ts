import type { Endpoint } from "#contract/core/endpoint";
import type { enrollmentKeys } from "#contract/resources/credentials/enrollment-keys";
import { orgForCreate, refuseSuspended } from "#server/access/org-access";
import { user } from "#server/access/principal";
import { refuseForeignSite } from "#server/access/site-access";
import type { Call } from "#server/http/call";
import { expiryFor } from "./expiry.ts";
import { getEnrollmentKey } from "./get-enrollment-key.ts";
import { insertEnrollmentKey } from "./insert.ts";

type CreateCall = typeof enrollmentKeys.create extends Endpoint<infer T> ? Call<T> : never;

/**
 * Creates a key that lets agents join (docs/credentials.md, "Enrollment keys"). Callers confined to sites can only
 * create keys that pin devices to one of their sites. Only this answer shows the raw key.
 */
export async function createEnrollmentKey(call: CreateCall) {
  return call.transaction(async (tx) => {
    const { name, maxUsage, siteId = null } = call.body;
    const org = await orgForCreate(call, call.body.orgId, tx);
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name }, owner: { orgId: org.id } });
    refuseSuspended(org);
    await refuseForeignSite(call, tx, { orgId: org.id, siteId, code: "SITE_NOT_IN_ORG" });
    call.audit.note({ siteIds: [siteId] });
    const expiresAt = expiryFor(call, org, call.body.expiresAt);
    const chosen = { id, orgId: org.id, siteId, name, maxUsage, expiresAt };
    const creator = { createdBy: user(call).userId, createdByPrincipalId: null };
    const key = await insertEnrollmentKey(call, { ...chosen, ...creator, enrollmentSecretHash: null });
    call.audit.note({ details: { siteId, maxUsage, expiresAt } });
    return { ...(await getEnrollmentKey(call, tx, id)), key };
  });
}
