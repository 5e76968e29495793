import { waitForPasswords } from "#server/access/enforcement";
import { type Writing, writeCredentials } from "#server/access/write-credentials";
import { changedFields } from "#server/audit/changed-fields";
import type { Announced } from "#server/db/tables/sign-in";
import type { Tx } from "#server/db/unit-of-work";
import { capPasswordSessions } from "#server/features/sign-in/core/cap-password-sessions";
import { revokeProviderSessions } from "#server/features/sign-in/core/revoke-provider-sessions";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import type { ProviderRow } from "./find-active-provider.ts";
import { findProvider } from "./reach.ts";
import { missingForActive } from "./rules.ts";
import { shownProvider } from "./view.ts";

type Change = Partial<Omit<ProviderRow, "id" | "orgId" | "partnerId" | "preset" | "createdBy" | "createdAt">>;

/**
 * Saves a change of a provider as it was read; one that was changed since refuses (409 `CONCURRENT_MODIFICATION`). The
 * configuration's generation grows, which ends the sign-ins under way. An active provider stays able to sign people in.
 */
export async function changeProvider(call: Call, tx: Tx, before: ProviderRow, change: Change) {
  const after = { ...before, ...change };
  const missing = after.status === "active" ? missingForActive(after) : [];
  if (missing.length > 0) throw problem("PROVIDER_INCOMPLETE", { details: { missing } });
  await write(call, before, { ...change, configVersion: before.configVersion + 1, updatedAt: call.clock.now() });
  if (enforces(after) && !enforces(before)) {
    await waitForPasswords(tx, call.services.store.dialect, before);
    await call.asSystem("sign-in", (all) => capPasswordSessions(all, before, call.clock.now()));
  }
  if (signsIn(before) && !signsIn(after)) await endItsSessions(call, before.id, "identity provider switched off");
  else if (speaksOtherwise(before, after)) await endItsSessions(call, before.id, "identity provider pointed elsewhere");
  return shownProvider(await findProvider(tx, before.id));
}

/** Not a change of the configuration: sign-ins under way go on. Refuses where the provider was changed meanwhile. */
export const keepAnnounced = (call: Writing, provider: ProviderRow, announced: Announced): Promise<void> =>
  write(call, provider, { announced });

async function write(call: Writing, { id, configVersion }: ProviderRow, change: Change): Promise<void> {
  const written = await writeCredentials(call, (all) => {
    const same = all.updateTable("ssoProviders").where("id", "=", id).where("configVersion", "=", configVersion);
    return same.set(change).executeTakeFirst();
  });
  if (written.numUpdatedRows !== 1n) throw problem("CONCURRENT_MODIFICATION");
}

/** As sign-in reads it: a SAML provider signs no one in and enforces nothing. */
const signsIn = ({ type, status }: Pick<ProviderRow, "type" | "status">) => type === "oidc" && status === "active";
const enforces = (provider: Pick<ProviderRow, "type" | "status" | "enforceSso">) =>
  signsIn(provider) && provider.enforceSso;

/**
 * Others say who somebody is. Whoever was let in by the old addresses is not kept: an administrator who takes back a
 * provider that was pointed at a stranger's would leave the stranger signed in as everybody.
 */
const speaksOtherwise = (before: ProviderRow, after: ProviderRow): boolean =>
  (["issuer", "tokenUrl", "userInfoUrl", "jwksUrl"] as const).some((name) => before[name] !== after[name]);

/** A provider that signs no one in any more vouches for no one either: what it began ends with it. */
export async function endItsSessions(call: Call, providerId: string, reason: string): Promise<void> {
  const ended = await call.asSystem("sign-in", (all) =>
    revokeProviderSessions(all, providerId, reason, call.clock.now()),
  );
  if (ended > 0) call.audit.note({ details: { endedSessions: ended } });
}

/** Names of the fields as the API has them; of a secret that it was set. */
export function changedNames(before: ProviderRow, after: ReturnType<typeof shownProvider>, secretSet: boolean) {
  const { configVersion: _, updatedAt: __, ...fields } = after;
  return [...changedFields(shownProvider(before), fields), ...(secretSet ? ["clientSecret"] : [])];
}
