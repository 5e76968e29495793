import type { SchemaChange } from "../schema-change.ts";

/** Devices of a partner that satisfy filters are counted in one index, which begins with the filters (docs/fleet.md, "Listing devices"). */
export const migration: SchemaChange = {
  statements: () => [
    `create index devices_partner_filters on devices
      (partner_id, status, os_type, device_role, org_id, site_id, id)`,
  ],
};
