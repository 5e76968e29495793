import type { RmmClient } from "#sdk/client";
import { askKey } from "../../access/ask-key.ts";
import { CliError } from "../../errors/cli-error.ts";
import { type Plan, stepsOf } from "../plan.ts";
import { lacking } from "./read-live.ts";

const scopes = {
  organization: "organizations:write",
  site: "sites:write",
  enrollmentKey: "enrollment-keys:write",
} as const;

/** Throws before the first change where the key's principal lacks a scope, or what minting asks of it. */
export async function checkPartnerAccess(rmm: RmmClient, plan: Plan, signal: AbortSignal): Promise<void> {
  const kinds = new Set(plan.organizations.flatMap(stepsOf).map(({ kind }) => kind));
  const needed = Object.entries(scopes).filter(([kind]) => kinds.has(kind as keyof typeof scopes));
  const asked = askKey(rmm, "partnerKey", signal);
  const missing: string[] = [];
  for (const [, scope] of needed) {
    const held = await asked.holds(scope);
    if (held === false && asked.restricted !== false) missing.push(scope);
  }
  if (missing.length > 0) throw lacking(missing);
  if (kinds.has("enrollmentKey") && asked.restricted === false) {
    throw new CliError("The key's principal may mint no enrollment keys: it needs an end and a source allowlist", {
      exit: "forbidden",
      code: "partner_provisioning_principal_restrictions_required",
      hint: "Nothing was changed. A user sets both: `rmm partner-service-principals update <principal> --expires-at +90d --source-cidrs 198.51.100.7/32`",
    });
  }
}
