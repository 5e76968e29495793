import type { Endpoint } from "#contract/core/endpoint";
import type { partnerApi } from "#contract/resources/credentials/partner-api";
import { getNamedOrg } from "#server/access/org-access";
import { partnerPrincipal } from "#server/access/principal";
import { refuseForeignSite } from "#server/access/site-access";
import { restricts } from "#server/access/source-address";
import { expiryFor } from "#server/features/credentials/enrollment-keys/expiry";
import { getEnrollmentKey } from "#server/features/credentials/enrollment-keys/get-enrollment-key";
import { insertEnrollmentKey } from "#server/features/credentials/enrollment-keys/insert";
import type { Call } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { takeMint } from "./budgets.ts";
import { recordedWrite } from "./record-write.ts";

type CreateCall = typeof partnerApi.createEnrollmentKey extends Endpoint<infer T> ? Call<T> : never;

/**
 * Mints a key that lets devices join. The principal needs an expiry and a source list, so that a stolen key works
 * neither indefinitely nor from everywhere (docs/credentials.md, "Partner writes").
 */
export async function createEnrollmentKey(call: CreateCall) {
  const { principalId, expiresAt: end, sourceCidrs } = partnerPrincipal(call);
  if (end === null || !restricts(sourceCidrs)) throw problem("partner_provisioning_principal_restrictions_required");
  const { orgId, name, siteId = null, maxUsage, issueEnrollmentSecret } = call.body;
  const wanted = wantedEnd(call);
  return recordedWrite(call, "enrollment-keys", async (tx) => {
    const org = await getNamedOrg(call, orgId, tx);
    await refuseForeignSite(call, tx, { orgId: org.id, siteId, code: "SITE_NOT_IN_ORG" });
    await takeMint(call);
    const expiresAt = expiryFor(call, org, wanted, call.config.partnerApiMaxTtlMinutes);
    const enrollmentSecret = issueEnrollmentSecret ? call.random.bytes(32).toString("hex") : undefined;
    const id = call.random.uuid();
    const key = await insertEnrollmentKey(call, {
      id,
      orgId: org.id,
      siteId,
      name,
      maxUsage,
      expiresAt,
      enrollmentSecretHash: enrollmentSecret === undefined ? null : sha256(enrollmentSecret),
      createdBy: null,
      createdByPrincipalId: principalId,
    });
    const data = await getEnrollmentKey(call, tx, id);
    const details = { siteId, maxUsage, expiresAt };
    return {
      answer: {
        schemaVersion: "1" as const,
        data,
        key,
        ...(enrollmentSecret === undefined ? {} : { enrollmentSecret }),
      },
      written: { action: "enrollment_key.create", orgId: org.id, id, name, siteIds: [siteId], details },
    };
  });
}

/** `ttlMinutes` or `expiresAt`; the contract refuses both. */
function wantedEnd(call: CreateCall): string | undefined {
  const { ttlMinutes, expiresAt } = call.body;
  return ttlMinutes === undefined ? expiresAt : after(call.clock.now(), ttlMinutes * MINUTE);
}
