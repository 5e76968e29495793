import { type Kysely, sql } from "kysely";
import { snakeCase } from "./naming.ts";
import { type Ownership, ownership } from "./tables.ts";

/** The role every request runs as on Postgres. It owns nothing and cannot bypass a policy. */
export const APP_ROLE = "rmm_app";

/** Functions are wrapped in `(select …)` so that the planner runs them once a query, not once a row. */
const system = "(select rmm_is_system())";
const reachable = "select id from organizations where partner_id = (select rmm_partner())";
const byOrg = `org_id = (select rmm_org()) or org_id in (${reachable})`;
const byTenant = `(org_id is not null and (${byOrg})) or (org_id is null and partner_id = (select rmm_partner()))`;

/** The rows that a wall lets through, per owner: the second wall behind the tenant-scope plugin. */
const visible: Record<Ownership, string> = {
  partners: "id = (select rmm_partner())",
  organizations: "id = (select rmm_org()) or partner_id = (select rmm_partner())",
  org: byOrg,
  "org+site": byOrg,
  "org+site?": byOrg,
  sites: byOrg,
  partner: "partner_id = (select rmm_partner())",
  tenant: byTenant,
  "tenant-or-builtin": `${byTenant} or (org_id is null and partner_id is null)`,
  member:
    "id in (select user_id from organization_users where accepted_at is not null) " +
    "or id in (select user_id from partner_users where accepted_at is not null)",
  system: "false",
};

/** Statements that put the policy of the ownership map on every table that exists so far. */
export async function rowLevelSecurity(db: Kysely<never> | Kysely<unknown>): Promise<string[]> {
  const { rows } = await sql<{ name: string; consent: boolean }>`
    select table_name as name, bool_or(column_name = 'accepted_at') as consent
    from information_schema.columns where table_schema = 'public' group by table_name`.execute(db as Kysely<unknown>);
  const existing = new Set(rows.map((row) => row.name));
  // While an older installation is being brought up to date, memberships have no acceptance yet.
  const consents = rows.some((row) => row.consent);
  return Object.entries(ownership).flatMap(([name, owner]) => {
    const table = snakeCase(name);
    if (!existing.has(table) || (owner === "member" && !consents)) return [];
    const writable = owner === "tenant-or-builtin" ? byTenant : visible[owner];
    return [
      `alter table ${table} enable row level security`,
      `drop policy if exists tenant_wall on ${table}`,
      `create policy tenant_wall on ${table} using (${system} or ${visible[owner]}) with check (${system} or ${writable})`,
    ];
  });
}
