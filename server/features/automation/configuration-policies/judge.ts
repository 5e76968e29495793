import { type FeatureType, policyFeatures } from "#contract/core/generated/policy-features";
import type { Permission } from "#contract/core/permissions";
import { holds } from "#server/access/principal";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

/** A policy as somebody wants it. */
export interface Wanted {
  readonly features: readonly { readonly type: FeatureType; readonly settings: object }[];
  readonly assignments: readonly WantedAssignment[];
}

export interface WantedAssignment {
  readonly level: "device" | "device_group" | "site" | "organization" | "partner";
  readonly targetId?: string | undefined;
  readonly priority: number;
  readonly roleFilter: readonly string[] | null;
  readonly osFilter: readonly string[] | null;
}

/** Whoever writes a policy holds what the types that it has, or gets, take (docs/configuration-policies.md, "Writing"). */
export function refuseUnpermitted(call: Pick<Call, "who">, types: Iterable<FeatureType>): void {
  for (const type of types)
    for (const required of policyFeatures[type].needs as readonly Permission[])
      if (!holds(user(call), required)) throw problem("PERMISSION_DENIED", { details: { required } });
}

/** Whether a device would gain by coming under the policy by itself (docs/configuration-policies.md, "Allowlists"). */
export const favoursDevices = ({ features }: Pick<Wanted, "features">): boolean =>
  features.some(({ type, settings }) => {
    const { favours } = policyFeatures[type] as { favours?: (settings: object) => boolean };
    return favours?.(settings) ?? false;
  });
