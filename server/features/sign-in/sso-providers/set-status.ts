import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import type { Call } from "#server/http/call";
import { changeProvider } from "./change.ts";
import { writableProvider } from "./reach.ts";

type StatusCall = typeof ssoProviders.setStatus extends Endpoint<infer T> ? Call<T> : never;

/** Switches a provider. From this commit on a sign-in that began before is refused at its callback. */
export async function setProviderStatus(call: StatusCall) {
  return call.transaction(async (tx) => {
    const before = await writableProvider(call, call.params.id, tx);
    const { status } = call.body;
    call.audit.note({ details: { fromStatus: before.status, toStatus: status } });
    return changeProvider(call, tx, before, { status });
  });
}
