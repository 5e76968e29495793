import {
  type ColumnNode,
  type InsertQueryNode,
  type PrimitiveValueListNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from "kysely";
import type { Scope } from "./scope.ts";
import { type Ownership, ownership, type TableName } from "./tables.ts";

/** Rows may be inserted only for owners that the scope reaches (server/README.md, "Five locks on tenancy"). */
export function checkInsert(scope: Scope, table: TableName, node: InsertQueryNode): void {
  const owner: Ownership = ownership[table];
  if (scope.kind === "system") return;
  const rows = insertedRows(node);
  for (const row of rows)
    if (!mayInsert(scope, owner, row)) throw new Error(`insert into ${table} outside the tenant scope`);
}

type Row = (column: string) => unknown;

function mayInsert(scope: Exclude<Scope, { kind: "system" }>, owner: Ownership, row: Row): boolean {
  if (scope.kind === "none") return false;
  const ownOrg = () =>
    scope.kind === "organization" ? row("orgId") === scope.orgId : scope.known.has(row("orgId") as string);
  const ownPartner = () => scope.kind === "partner" && row("partnerId") === scope.partnerId;
  const ownSite = (column: string) =>
    scope.kind !== "organization" || scope.siteIds === null || scope.siteIds.includes(row(column) as string);
  switch (owner) {
    case "org":
      return ownOrg();
    case "org+site":
    case "org+site?":
      return ownOrg() && ownSite("siteId");
    case "sites":
      return ownOrg() && (scope.kind !== "organization" || scope.siteIds === null);
    case "organizations":
    case "partner":
      return ownPartner();
    case "tenant":
    case "tenant-or-builtin":
    case "tenant-shared":
      return row("orgId") === null || row("orgId") === undefined ? ownPartner() : ownOrg();
    case "partners":
    case "member":
    case "system":
      return false;
  }
}

function insertedRows(node: InsertQueryNode): Row[] {
  if (!node.values || !ValuesNode.is(node.values)) throw new Error("INSERT takes literal rows under a tenant scope");
  const columns = (node.columns ?? []).map((column: ColumnNode) => column.column.name);
  return node.values.values.map((item) => {
    const values = ValueListNode.is(item)
      ? item.values.map((value) => (ValueNode.is(value) ? value.value : undefined))
      : (item as PrimitiveValueListNode).values;
    return (column) => values[columns.indexOf(column)];
  });
}
