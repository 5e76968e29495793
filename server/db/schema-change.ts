import type { DialectName } from "./dialect/index.ts";

/** A change of the schema, written once for both databases (see `schemaText`). */
export interface SchemaChange {
  statements(dialect: DialectName): readonly string[];
}

/** The same under the name of its file, by which databases remember that it ran. */
export interface NamedChange extends SchemaChange {
  readonly name: string;
}

const types = {
  sqlite: {
    uuid: "text",
    ts: "text",
    json: "text",
    bool: "integer",
    int: "integer",
    bigint: "integer",
    float: "real",
    ring: "text",
    serial: "integer primary key autoincrement",
    strict: "strict",
    updated: "strict",
  },
  postgres: {
    uuid: "uuid",
    ts: "timestamptz(3)",
    json: "jsonb",
    bool: "boolean",
    int: "integer",
    bigint: "bigint",
    float: "double precision",
    ring: "integer[]",
    serial: "bigserial primary key",
    strict: "",
    // Rows that are updated far more often than added: room on the page keeps the indexes out of it.
    updated: "with (fillfactor = 50)",
  },
} as const;

/** Splits a script at `;` line ends and puts each database's type for `{uuid}`, `{ts}`, `{json}`, `{bool}` … */
export function schemaText(script: string): (dialect: DialectName) => string[] {
  return (dialect) =>
    script
      .replace(/\{(\w+)\}/g, (_, name: keyof (typeof types)["sqlite"]) => types[dialect][name])
      .split(/;\s*$/m)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== "");
}
