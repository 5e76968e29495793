import { partnerApi } from "#contract/resources/credentials/partner-api";
import { enrollmentKeyState } from "#server/features/credentials/enrollment-keys/secret-state";
import { implement, judgingSecret } from "#server/http/implement";
import { exportAssignments, exportPolicies } from "./configuration-policies.ts";
import { createEnrollmentKey } from "./create-enrollment-key.ts";
import { createOrganization } from "./create-organization.ts";
import { createSite } from "./create-site.ts";
import { exportFields, exportValues } from "./custom-fields.ts";
import { exportInventory } from "./device-inventory.ts";
import { exportRelationships } from "./device-relationships.ts";
import { exportSoftware } from "./device-software.ts";
import { exportDevices } from "./devices.ts";
import { exportOrganizations } from "./organizations.ts";
import { recordedWhenReplayed } from "./record-write.ts";
import { exportSites } from "./sites.ts";

export const routes = implement(partnerApi, {
  organizations: exportOrganizations,
  sites: exportSites,
  devices: exportDevices,
  deviceInventory: exportInventory,
  deviceSoftware: exportSoftware,
  deviceRelationships: exportRelationships,
  customFields: exportFields,
  customFieldValues: exportValues,
  configurationPolicies: exportPolicies,
  configurationAssignments: exportAssignments,
  createOrganization: recordedWhenReplayed(createOrganization, "organization"),
  createSite: recordedWhenReplayed(createSite, "site"),
  createEnrollmentKey: judgingSecret(
    recordedWhenReplayed(createEnrollmentKey, "enrollment_key"),
    (call, { data: { id }, key }) => enrollmentKeyState(call, id, key),
  ),
});
