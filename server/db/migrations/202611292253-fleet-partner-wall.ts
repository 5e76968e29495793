import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: a device has the partner of its organization, and the schema holds it, so that the policy of devices asks for
 * no organization (`row-level-security.ts`). Its trigger fills the column in; SQLite has no policies.
 */
export const migration: SchemaChange = {
  statements: (dialect) =>
    dialect === "postgres"
      ? [
          `alter table devices add constraint devices_partner_of_org
  foreign key (partner_id, org_id) references organizations (partner_id, id) match full`,
        ]
      : [],
};
