/**
 * Who owns a table's rows. The tenant-scope plugin, row-level security and the schema test are all
 * made from this; a table without an owner does not compile (server/README.md, "Five locks on tenancy").
 *
 * - `partners`, `organizations`: the hierarchy itself, by its own id.
 * - `org`: by `orgId`. `org+site`: by `orgId`, and by `siteId` for callers confined to sites.
 * - `org+site?`: the same, and rows of the whole organization (`siteId` null) are seen by callers confined to sites.
 * - `partner`: by `partnerId`.
 * - `tenant`: by `orgId`, or by `partnerId` where `orgId` is null; neither = system scope only.
 * - `tenant-or-builtin`: as `tenant`, and rows without an owner are readable by all.
 * - `tenant-shared`: as `tenant`, and rows of a whole partner are readable by callers of its organizations.
 * - `member`: users, by their memberships.
 * - `system`: reachable through `asSystem` alone.
 */
export type Ownership =
  | "partners"
  | "organizations"
  | "org"
  | "org+site"
  | "org+site?"
  | "sites"
  | "partner"
  | "tenant"
  | "tenant-or-builtin"
  | "tenant-shared"
  | "member"
  | "system";

export type RowChange = "insert" | "update" | "delete";

/** What is said of a table once, beside its columns. */
export interface TableDeclaration<Row> {
  readonly owner: Ownership;
  /**
   * The one room whose files insert, update and delete rows (`scripts/check/writers.ts` holds it): a folder of
   * `server/features` such as `tenancy/sites`, else a folder of `server` such as `jobs`. Everybody may read.
   */
  readonly writtenBy: string;
  /**
   * What a tenant's connection may not do with rows that it sees (Postgres): the server does it with its scope lifted,
   * through `asSystem`.
   */
  readonly lifted?: readonly RowChange[];
  /** The database itself keeps the partner of the row's organization in `partnerId`, and on Postgres holds it by a foreign key. */
  readonly partnerKept?: true;
  /** Columns that hold booleans or parsed JSON, which SQLite keeps as numbers and text (`dialect/codec.ts`). */
  readonly booleans?: readonly (keyof Row & string)[];
  readonly json?: readonly (keyof Row & string)[];
}

/** The declarations of an area's tables, each of them required. */
export type Declared<Tables> = { readonly [T in keyof Tables]: TableDeclaration<Tables[T]> };
