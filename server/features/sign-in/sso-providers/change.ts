import { changedFields } from "#server/audit/changed-fields";
import type { Tx } from "#server/db/unit-of-work";
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
  const updated = await tx
    .updateTable("ssoProviders")
    .set({ ...change, configVersion: before.configVersion + 1, updatedAt: call.clock.now() })
    .where("id", "=", before.id)
    .where("configVersion", "=", before.configVersion)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) throw problem("CONCURRENT_MODIFICATION");
  return shownProvider(await findProvider(tx, before.id));
}

/** Names of the fields as the API has them; of a secret that it was set. */
export function changedNames(before: ProviderRow, after: ReturnType<typeof shownProvider>, secretSet: boolean) {
  const { configVersion: _, updatedAt: __, ...fields } = after;
  return [...changedFields(shownProvider(before), fields), ...(secretSet ? ["clientSecret"] : [])];
}
