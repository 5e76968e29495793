import type { Endpoint } from "#contract/core/endpoint";
import type { ssoDomains } from "#contract/resources/sign-in/sso-domains";
import { writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { writableDomain } from "./queries.ts";

type RemoveCall = typeof ssoDomains.remove extends Endpoint<infer T> ? Call<T> : never;

/** Forgets a domain with its proof; named again it needs a new record. */
export async function removeDomain(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const { id, domain, verifiedAt } = await writableDomain(call, call.params.id, tx);
    const gone = await writeCredentials(call, (all) =>
      all.deleteFrom("ssoDomains").where("id", "=", id).executeTakeFirst(),
    );
    if (gone.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    call.audit.note({ details: { domain, verified: verifiedAt !== null } });
    return { success: true as const };
  });
}
