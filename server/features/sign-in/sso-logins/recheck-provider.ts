import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { rejection } from "./rejection.ts";

/**
 * Again inside the transaction that signs in, and held until it ends: while the provider was asked, an administrator may
 * have switched it off or pointed it elsewhere.
 */
export async function recheckProvider(call: Pick<Call, "services">, tx: Tx, known: ProviderRow): Promise<void> {
  const { dialect } = call.services.store;
  const query = tx.selectFrom("ssoProviders").select(["status", "configVersion"]).where("id", "=", known.id);
  const now = await held(query, dialect).executeTakeFirst();
  if (!now) throw rejection("provider_not_found", "provider");
  if (now.status !== "active") throw rejection("sso_provider_inactive", "provider");
  if (now.configVersion !== known.configVersion) throw rejection("sso_config_changed", "provider");
}
