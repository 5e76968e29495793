import { type FeatureSettings, type FeatureType, policyFeatures } from "#contract/core/generated/policy-features";
import type { policyLevels } from "#contract/core/policy-words";
import type { Reader } from "#server/db/unit-of-work";
import { type Carrier, carriersOf, carriersOfOrganization } from "./carriers.ts";
import { admits, closest } from "./closest.ts";

/** Settings that hold, and which policy says so. */
export type Effective<T extends FeatureType> =
  | {
      readonly settings: FeatureSettings<T>;
      readonly sourcePolicyId: string;
      readonly sourcePolicyName: string;
      readonly sourceLevel: (typeof policyLevels)[number];
      readonly sourceTargetId: string;
    }
  | {
      /** Null: where no policy carries the type, there are none. */
      readonly settings: (typeof policyFeatures)[T]["fallback"];
      readonly sourcePolicyId: null;
      readonly sourcePolicyName: null;
      readonly sourceLevel: "default";
      readonly sourceTargetId: null;
    };

export type EffectiveFeatures<T extends FeatureType> = { readonly [Type in T]: Effective<Type> };

/**
 * What holds for a device as of now (docs/configuration-policies.md, "Which policy holds"): read anew in the caller's
 * transaction, so a decision rests on what is there and on no memory of it. Of a device that the handle does not reach,
 * the defaults.
 */
export async function effectiveFeatures<T extends FeatureType>(
  db: Reader,
  { device, types }: { readonly device: { readonly id: string }; readonly types: readonly T[] },
): Promise<EffectiveFeatures<T>> {
  const found = await carriersOf(db, { deviceId: device.id }, { types });
  return chosen(
    found.filter((carrier) => admits(carrier, carrier)),
    types,
  );
}

/** One of them. */
export async function effectiveFeature<T extends FeatureType>(
  db: Reader,
  { device }: { readonly device: { readonly id: string } },
  type: T,
): Promise<Effective<T>> {
  return (await effectiveFeatures(db, { device, types: [type] }))[type];
}

/**
 * What holds for an organization as a whole: said by what is assigned to it or to its partner without a filter
 * (docs/configuration-policies.md, "Settings of an organization").
 */
export async function organizationFeature<T extends FeatureType>(
  db: Reader,
  orgId: string,
  type: T,
): Promise<Effective<T>> {
  const found = await carriersOfOrganization(db, { orgId }, { types: [type] });
  return chosen(
    found.filter(({ roleFilter, osFilter }) => roleFilter === null && osFilter === null),
    [type],
  )[type];
}

function chosen<T extends FeatureType>(carriers: readonly Carrier[], types: readonly T[]): EffectiveFeatures<T> {
  const entries = types.map((type) => {
    const carrier = closest(carriers.filter((one) => one.type === type));
    return [type, carrier ? saidBy(carrier) : byDefault(type)];
  });
  return Object.fromEntries(entries) as EffectiveFeatures<T>;
}

const saidBy = ({ settings, policyId, policyName, level, targetId }: Carrier) => ({
  settings,
  sourcePolicyId: policyId,
  sourcePolicyName: policyName,
  sourceLevel: level,
  sourceTargetId: targetId,
});

const byDefault = (type: FeatureType) => ({
  settings: policyFeatures[type].fallback,
  sourcePolicyId: null,
  sourcePolicyName: null,
  sourceLevel: "default" as const,
  sourceTargetId: null,
});
