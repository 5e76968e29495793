import type { Endpoint } from "#contract/core/endpoint";
import type { ssoDomains } from "#contract/resources/sign-in/sso-domains";
import { writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { isPublished } from "./published.ts";
import { writableDomain } from "./queries.ts";

type VerifyCall = typeof ssoDomains.verify extends Endpoint<infer T> ? Call<T> : never;

/**
 * Looks for the record. A verified domain stays verified, whatever happens to the record
 * (docs/single-sign-on.md, "Email domains").
 */
export async function verifyDomain(call: VerifyCall) {
  const domain = await writableDomain(call, call.params.id, call.db);
  const found = await isPublished(call.services, domain);
  return call.transaction(async (tx) => {
    const { verifiedAt } = await writableDomain(call, domain.id, tx);
    const now = call.clock.now();
    const verified = found || verifiedAt !== null;
    const seen = found ? { verifiedAt: verifiedAt ?? now, seenAt: now } : {};
    await writeCredentials(call, (all) =>
      all
        .updateTable("ssoDomains")
        .set({ lastCheckedAt: now, updatedAt: now, ...seen })
        .where("id", "=", domain.id)
        .execute(),
    );
    call.audit.note({ details: { domain: domain.domain, verified } });
    return verified ? { verified } : { verified, reason: "txt_not_found" as const };
  });
}
