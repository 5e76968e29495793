import type { deviceRoles, osTypes } from "#contract/core/device-words";
import { policyLevels } from "#contract/core/policy-words";

/** An assignment of an active policy to something that a device is part of. */
export interface Candidate {
  readonly level: (typeof policyLevels)[number];
  readonly priority: number;
  readonly createdAt: string;
  readonly id: string;
  readonly roleFilter: readonly (typeof deviceRoles)[number][] | null;
  readonly osFilter: readonly (typeof osTypes)[number][] | null;
}

export interface Described {
  readonly deviceRole: (typeof deviceRoles)[number];
  readonly osType: (typeof osTypes)[number];
}

/** Whether the filters of an assignment admit a device. */
export const admits = ({ roleFilter, osFilter }: Candidate, { deviceRole, osType }: Described): boolean =>
  (roleFilter?.includes(deviceRole) ?? true) && (osFilter?.includes(osType) ?? true);

/** The closest of them (docs/configuration-policies.md, "Which policy holds"): level, priority, age, id. */
export const closest = <C extends Candidate>(candidates: readonly C[]): C | undefined =>
  candidates.toSorted(
    (a, b) =>
      policyLevels.indexOf(a.level) - policyLevels.indexOf(b.level) ||
      a.priority - b.priority ||
      compare(a.createdAt, b.createdAt) ||
      compare(a.id, b.id),
  )[0];

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
