import type { Generated } from "kysely";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { addedBy, membershipActions, membershipReasons } from "#contract/resources/fleet/device-groups";
import type { groupTypes } from "#contract/resources/fleet/devices";
import type { Fixed } from "../column-types.ts";

/** Devices that are named together (docs/device-groups.md). */
export interface DeviceGroupsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  /** Null: of the whole organization. */
  siteId: string | null;
  name: string;
  /** As it compares without case. */
  nameKey: string;
  description: string | null;
  type: Fixed<(typeof groupTypes)[number]>;
  filterConditions: FilterGroup | null;
  filterFieldsUsed: string[];
  /** Groups that its conditions name. */
  filterGroupIds: string[];
  /** One more with every change of what the members follow from. */
  filterVersion: number;
  /** Time alone may change what its conditions match. */
  byClock: boolean;
  parentId: string | null;
  /** When all devices were looked at last, and when that was last tried. */
  lastEvaluatedAt: string | null;
  attemptedAt: string | null;
  lastEvaluationError: string | null;
  createdBy: Fixed<string | null>;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface DeviceGroupMembersTable {
  orgId: Fixed<string>;
  groupId: Fixed<string>;
  deviceId: Fixed<string>;
  /** Stays whatever the conditions say. */
  isPinned: boolean;
  addedAt: Fixed<string>;
  addedBy: Fixed<(typeof addedBy)[number]>;
}

export interface DeviceGroupLogTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  groupId: Fixed<string>;
  /** Null once the device has left the organization; its names stay. */
  deviceId: string | null;
  hostname: Fixed<string>;
  displayName: Fixed<string | null>;
  action: Fixed<(typeof membershipActions)[number]>;
  reason: Fixed<(typeof membershipReasons)[number]>;
  createdAt: Fixed<string>;
}

/** What the conditions of an organization's groups speak of; `groupId:<id>` where they name a group. */
export interface DeviceGroupFieldsTable {
  orgId: Fixed<string>;
  field: Fixed<string>;
}

/** What has changed since groups looked at it; triggers write it too. */
export interface DeviceGroupDueTable {
  seq: Generated<number>;
  orgId: Fixed<string>;
  /** Null: all devices. */
  deviceId: Fixed<string | null>;
  /** Null: all groups whose conditions speak of the field. */
  groupId: Fixed<string | null>;
  /** `*`: of whatever they speak. */
  field: Fixed<string>;
  origin: Fixed<string>;
  /** Somebody looks at it. */
  claimedAt: string | null;
}
