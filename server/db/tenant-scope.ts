import {
  AliasNode,
  AndNode,
  type ColumnNode,
  type DeleteQueryNode,
  FromNode,
  IdentifierNode,
  type InsertQueryNode,
  type JoinNode,
  type KyselyPlugin,
  type MergeQueryNode,
  type OnConflictNode,
  type OperationNode,
  OperationNodeTransformer,
  ParensNode,
  type QueryId,
  type RawNode,
  SelectAllNode,
  SelectionNode,
  type SelectQueryNode,
  TableNode,
  type UpdateQueryNode,
  UsingNode,
  WhereNode,
  type WithNode,
} from "kysely";
import { checkInsert } from "./insert-check.ts";
import type { Scope } from "./scope.ts";
import { type Ownership, ownership, type TableName } from "./tables.ts";
import { type Met, scopePredicate, writePredicate } from "./tenant-predicate.ts";

export interface Narrowing {
  /** How the query meets its rows, where that is known (`tenant-predicate.ts`). */
  readonly by?: Met;
}

/**
 * Narrows every query to what the caller may reach (server/README.md, "Five locks on tenancy"). Each table in FROM,
 * JOIN and USING becomes a filtered subquery under the same name; UPDATE, DELETE and upserts get the same condition;
 * inserted rows are checked; the columns that say who owns a row cannot be updated. Raw fragments are refused unless
 * they carry no table (they exist only under `server/db`).
 */
export function tenantScope(scope: Scope, { by }: Narrowing = {}): KyselyPlugin {
  // Made when a query is first built: requests that run only prepared queries need none.
  let transformer: TenantTransformer | undefined;
  return {
    transformQuery({ node, queryId }) {
      transformer ??= new TenantTransformer(scope, by);
      return transformer.transformNode(node, queryId);
    },
    transformResult: async ({ result }) => result,
  };
}

/** A table in a raw fragment could not be narrowed; the functions that read a JSON parameter are no tables. */
const namesTable = /\b(from|join|into|update)\b(?!\s+(json_each|jsonb_array_elements_text)\()/i;

/** Columns that decide the owner of a row. */
const ownerColumns = new Set(["orgId", "partnerId", "org_id", "partner_id"]);

/** The one move between organizations runs through `asSystem`; here ownership is fixed. */
class TenantTransformer extends OperationNodeTransformer {
  readonly #scope: Scope;
  readonly #by: Met | undefined;
  readonly #targets = new WeakSet<OperationNode>();
  #ctes: Set<string>[] = [];

  constructor(scope: Scope, by: Met | undefined) {
    super();
    this.#scope = scope;
    this.#by = by;
  }

  override transformNodeImpl<T extends OperationNode>(node: T, queryId?: QueryId): T {
    const names = cteNames((node as { with?: WithNode }).with);
    if (names.size === 0) return super.transformNodeImpl(node, queryId);
    this.#ctes.push(names);
    try {
      return super.transformNodeImpl(node, queryId);
    } finally {
      this.#ctes.pop();
    }
  }

  protected override transformFrom(node: FromNode, queryId?: QueryId): FromNode {
    if (this.#targets.has(node)) return node;
    const done = super.transformFrom(node, queryId);
    return FromNode.create(done.froms.map((item) => this.#scoped(item)));
  }

  protected override transformUsing(node: UsingNode, queryId?: QueryId): UsingNode {
    const done = super.transformUsing(node, queryId);
    return UsingNode.create(done.tables.map((item) => this.#scoped(item)));
  }

  protected override transformJoin(node: JoinNode, queryId?: QueryId): JoinNode {
    const done = super.transformJoin(node, queryId);
    return { ...done, table: this.#scoped(done.table) };
  }

  protected override transformMergeQuery(_node: MergeQueryNode): MergeQueryNode {
    throw new Error("MERGE is not used: the tenant scope does not narrow it");
  }

  protected override transformRaw(node: RawNode, queryId?: QueryId): RawNode {
    if (namesTable.test(node.sqlFragments.join(" "))) {
      throw new Error("raw SQL that names a table needs asSystem");
    }
    return super.transformRaw(node, queryId);
  }

  protected override transformUpdateQuery(node: UpdateQueryNode, queryId?: QueryId): UpdateQueryNode {
    refuseOwnerUpdates(node.updates);
    const done = super.transformUpdateQuery(node, queryId);
    return this.#narrowed(done, required(done.table));
  }

  protected override transformDeleteQuery(node: DeleteQueryNode, queryId?: QueryId): DeleteQueryNode {
    const [target, ...more] = node.from.froms;
    if (!target || more.length > 0) throw new Error("DELETE takes one table");
    this.#targets.add(node.from);
    const done = super.transformDeleteQuery(node, queryId);
    return this.#narrowed(done, target);
  }

  protected override transformInsertQuery(node: InsertQueryNode, queryId?: QueryId): InsertQueryNode {
    const table = this.#ownedTable(required(node.into));
    checkInsert(this.#scope, table, node);
    const done = super.transformInsertQuery(node, queryId);
    if (!done.onConflict?.updates) return done;
    refuseOwnerUpdates(done.onConflict.updates);
    return { ...done, onConflict: this.#narrowedUpsert(done.onConflict, table) };
  }

  #narrowedUpsert(node: OnConflictNode, table: TableName): OnConflictNode {
    const predicate = writePredicate(table, { scope: this.#scope, alias: table });
    return predicate ? { ...node, updateWhere: and(node.updateWhere, predicate) } : node;
  }

  #narrowed<N extends UpdateQueryNode | DeleteQueryNode>(node: N, target: OperationNode): N {
    const { table, alias } = tableOf(target);
    const name = this.#declared(table);
    const predicate = writePredicate(name, { scope: this.#scope, alias });
    return predicate ? { ...node, where: and(node.where, predicate) } : node;
  }

  /** `devices as d` becomes `(select * from devices where …) as d`. */
  #scoped(item: OperationNode): OperationNode {
    if (!TableNode.is(item) && !(AliasNode.is(item) && TableNode.is(item.node))) return item;
    const { table, alias } = tableOf(item);
    if (this.#ctes.some((names) => names.has(table))) return item;
    const name = this.#declared(table);
    const predicate = scopePredicate(name, { scope: this.#scope, alias: name, by: this.#by });
    if (!predicate) return item;
    const select: SelectQueryNode = {
      kind: "SelectQueryNode",
      from: FromNode.create([TableNode.create(name)]),
      selections: [SelectionNode.create(SelectAllNode.create())],
      where: WhereNode.create(predicate),
    };
    return AliasNode.create(select, IdentifierNode.create(alias));
  }

  #ownedTable(node: TableNode): TableName {
    return this.#declared(node.table.identifier.name);
  }

  #declared(table: string): TableName {
    // A query built from a scoped handle and used inside another passes here twice, the second time in snake case.
    const name = table.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const owner = (ownership as Record<string, Ownership | undefined>)[name];
    if (!owner) throw new Error(`table ${table} is not declared in the ownership map`);
    if (owner === "system") throw new Error(`table ${table} is reachable through asSystem alone`);
    return name as TableName;
  }
}

function refuseOwnerUpdates(updates: UpdateQueryNode["updates"]): void {
  for (const update of updates ?? []) {
    const name = (update.column as ColumnNode).column?.name ?? columnOfReference(update.column);
    if (name === undefined || ownerColumns.has(name)) throw new Error("the owner of a row cannot be updated");
  }
}

function columnOfReference(node: OperationNode): string | undefined {
  const inner = (node as { column?: OperationNode }).column;
  return (inner as ColumnNode | undefined)?.column?.name;
}

function tableOf(node: OperationNode): { table: string; alias: string } {
  if (TableNode.is(node)) return { table: node.table.identifier.name, alias: node.table.identifier.name };
  if (AliasNode.is(node) && TableNode.is(node.node) && IdentifierNode.is(node.alias)) {
    return { table: node.node.table.identifier.name, alias: node.alias.name };
  }
  throw new Error(`the tenant scope does not know how to narrow ${node.kind}`);
}

function cteNames(node: WithNode | undefined): Set<string> {
  const names = new Set((node?.expressions ?? []).map((cte) => cte.name.table.table.identifier.name));
  for (const name of names)
    if (name in ownership) throw new Error(`a common table expression may not be called ${name}`);
  return names;
}

function and(where: WhereNode | undefined, predicate: OperationNode): WhereNode {
  return WhereNode.create(
    where ? AndNode.create(ParensNode.create(where.where), ParensNode.create(predicate)) : predicate,
  );
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the query names no table");
  return value;
}
