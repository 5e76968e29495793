import { isDeepStrictEqual } from "node:util";
import type { Permission } from "#contract/core/permissions";
import { holds, type Principal, user } from "#server/access/principal";
import type { Json } from "#server/db/column-types";
import { problem } from "#server/problem";

type Caller = { readonly who: Principal };

/** Changing `settings.billing` takes `billing:manage` (docs/tenancy.md, "Billing settings"). */
export function refuseBillingChange(call: Caller, before: Json, after: Json): void {
  if (!isDeepStrictEqual(before["billing"] ?? null, after["billing"] ?? null)) refuseWithout(call, "billing:manage");
}

export function refuseWithout(call: Caller, permission: Permission): void {
  if (!holds(user(call), permission)) throw problem("PERMISSION_DENIED", { details: { required: permission } });
}
