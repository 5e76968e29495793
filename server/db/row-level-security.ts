import { type Kysely, sql } from "kysely";
import { snakeCase } from "./naming.ts";
import { APP_ROLE, SYSTEM_ROLE } from "./roles.ts";
import type { Ownership, RowChange, TableDeclaration } from "./table-declaration.ts";
import { tableNames, tables } from "./tables.ts";

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
  "tenant-shared": `${byTenant} or (org_id is null and partner_id = (select rmm_partner_of_org()))`,
  member:
    "exists (select 1 from organization_users m where m.user_id = users.id and m.accepted_at is not null) " +
    "or exists (select 1 from partner_users m where m.user_id = users.id and m.accepted_at is not null)",
  system: "false",
};

/** Where the row has its organization's partner, by a foreign key: a look-up of each organization costs a list half of its time. */
const byPartner = "org_id = (select rmm_org()) or partner_id = (select rmm_partner())";

/** Where a row may be seen that may not be written so. */
const written: Partial<Record<Ownership, string>> = {
  // Built-in rows are everybody's to read, and nobody's to change or take.
  "tenant-or-builtin": byTenant,
  // Organizations read what their partner shares, and change nothing of it.
  "tenant-shared": byTenant,
  // An organization's own connection does not hand it to another partner.
  organizations: `partner_id = (select rmm_partner()) or (id = (select rmm_org()) and partner_id = (select rmm_partner_of_org()))`,
};

/** Statements that put the policies of the ownership map on every table that exists so far. */
export async function rowLevelSecurity(db: Kysely<never> | Kysely<unknown>): Promise<string[]> {
  const { rows } = await sql<{ name: string; consent: boolean }>`
    select table_name as name, bool_or(column_name = 'accepted_at') as consent
    from information_schema.columns where table_schema = 'public' group by table_name`.execute(db as Kysely<unknown>);
  const existing = new Set(rows.map((row) => row.name));
  // While an older installation is being brought up to date, memberships have no acceptance yet.
  const consents = rows.some((row) => row.consent);
  return tableNames.flatMap((name) => {
    const { owner, lifted, partnerKept }: TableDeclaration<never> = tables[name];
    const table = snakeCase(name);
    const known = existing.has(table) && (owner !== "member" || consents);
    if (!known) return [];
    return policies(
      table,
      partnerKept ? { readable: byPartner } : { readable: visible[owner], writable: written[owner] },
      lifted,
    );
  });
}

interface Rows {
  readonly readable: string;
  /** As far as it is not what may be read. */
  readonly writable?: string | undefined;
}

function policies(table: string, rows: Rows, lifted: readonly RowChange[] = []): string[] {
  const readable = `${system} or ${rows.readable}`;
  const writable = `${system} or ${rows.writable ?? rows.readable}`;
  const write = (command: RowChange) => {
    const rows = lifted.includes(command) ? system : writable;
    const existing = command === "insert" ? "" : ` using (${rows})`;
    const written = command === "delete" ? "" : ` with check (${rows})`;
    return `create policy tenant_${command} on ${table} for ${command} to ${APP_ROLE}${existing}${written}`;
  };
  const plain = lifted.length === 0 && readable === writable;
  return [
    `alter table ${table} enable row level security`,
    ...policyNames.map((policy) => `drop policy if exists ${policy} on ${table}`),
    `create policy system_work on ${table} to ${SYSTEM_ROLE} using (true) with check (true)`,
    `create policy tenant_wall on ${table} for ${plain ? "all" : "select"} to ${APP_ROLE} using (${readable})`,
    ...(plain ? [] : [write("insert"), write("update"), write("delete")]),
  ];
}

const policyNames = ["system_work", "tenant_wall", "tenant_insert", "tenant_update", "tenant_delete"];
