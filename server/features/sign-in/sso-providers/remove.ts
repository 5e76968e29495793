import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import { writeCredentials } from "#server/access/write-credentials";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { endItsSessions } from "./change.ts";
import { writableProvider } from "./reach.ts";

type RemoveCall = typeof ssoProviders.remove extends Endpoint<infer T> ? Call<T> : never;

/**
 * Deletes a provider with the sessions that it began. Identities linked to it and sign-ins under way go with it, by the
 * database's own references.
 */
export async function removeProvider(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const provider = await writableProvider(call, call.params.id, tx);
    const gone = await writeCredentials(call, (all) =>
      all.deleteFrom("ssoProviders").where("id", "=", provider.id).executeTakeFirst(),
    );
    if (gone.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    await endItsSessions(call, provider.id, "identity provider deleted");
    call.audit.note({ details: { type: provider.type, status: provider.status } });
    return { success: true as const };
  });
}
