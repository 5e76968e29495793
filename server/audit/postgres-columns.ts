import pg from "pg";
import { type ColumnType, contentNames } from "./copied-canonical.ts";
import { linkColumns, linkNothing } from "./copied-link.ts";

const { UUID, INT8, BYTEA, TEXT, VARCHAR, TIMESTAMPTZ } = pg.types.builtins;
const known: Readonly<Record<number, ColumnType | "bigint" | "bytea">> = {
  ...{ [UUID]: "uuid", [INT8]: "bigint", [BYTEA]: "bytea" },
  ...{ [TEXT]: "text", [VARCHAR]: "text", [TIMESTAMPTZ]: "timestamptz" },
};

/**
 * The types that columns have now: whoever owns a table can change them, binary values do not name theirs, and a type of
 * the owner's own has casts that say what he likes.
 */
async function typesOf(client: pg.Client, table: "audit_logs" | "audit_chain", names: readonly string[]) {
  const columns = names.map((name) => pg.escapeIdentifier(name)).join(", ");
  const { fields } = await client.query(`select ${columns} from public.${table} limit 0`);
  return fields.map(({ dataTypeID }) => known[dataTypeID] ?? "other");
}

/** Links as `linkAt` reads them; a column of another type has nothing to say. */
export async function linkSelect(client: pg.Client): Promise<string> {
  const names = Object.keys(linkColumns) as (keyof typeof linkColumns)[];
  const types = await typesOf(client, "audit_chain", names);
  const columns = names.map((name, index) => {
    const nothing = linkNothing[name] ?? `null::${linkColumns[name]}`;
    return types[index] === linkColumns[name] ? `coalesce(${name}, ${nothing})` : nothing;
  });
  return `select ${columns.join(", ")} from public.audit_chain`;
}

/** Of rows; a checksum counts beside the partner whose lists show the row. */
export async function contentTypes(client: pg.Client): Promise<ColumnType[]> {
  const [reader, ...types] = await typesOf(client, "audit_logs", ["reader_partner_id", ...contentNames]);
  return types.map((type) => (reader !== "uuid" || type === "bigint" || type === "bytea" ? "other" : type));
}

/** In the order that `canonicalSpeller` reads. */
export const contentColumns = (types: readonly ColumnType[], checksum: string): string =>
  contentNames
    .map((name, index) => {
      if (types[index] === "other") return "null::text";
      const column = name === "checksum" ? checksum : pg.escapeIdentifier(name);
      return types[index] === "text" ? `(${column})::text` : column;
    })
    .join(", ");
