import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectGolden } from "../test/golden/golden.ts";
import { databases, startTestServer, type TestServer } from "../test/harness.ts";
import { booleanColumns, jsonColumns } from "./dialect/codec.ts";
import { snakeCase } from "./naming.ts";
import { ownership, tablesByArea } from "./tables.ts";

type Schema = Record<string, Record<string, { nullable: boolean }>>;

/** Generated columns included, which Kysely's introspection of SQLite leaves out; indexes of searches are no tables of ours. */
const catalogue = {
  sqlite: `select m.name as "table", c.name as "column", c."notnull" = 0 and c.pk = 0 as "nullable"
    from sqlite_master m, pragma_table_xinfo(m.name) c where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'kysely_%'
      and m.name not like 'search_%' and m.name <> 'software_titles'`,
  postgres: `select table_name as "table", column_name as "column", is_nullable = 'YES' as "nullable"
    from information_schema.columns where table_schema = 'public' and table_name not like 'kysely_%'`,
};

async function schemaOf(server: TestServer): Promise<Schema> {
  const { store } = server.services;
  const { rows } = await sql
    .raw<{ table: string; column: string; nullable: unknown }>(catalogue[store.dialect])
    .execute(store.connection("system"));
  const schema: Schema = {};
  for (const { table, column, nullable } of rows.toSorted((a, b) =>
    `${a.table}.${a.column}`.localeCompare(`${b.table}.${b.column}`),
  )) {
    schema[table] = { ...schema[table], [column]: { nullable: Boolean(nullable) } };
  }
  return schema;
}

describe("the schema", () => {
  const servers = {} as Record<(typeof databases)[number], TestServer>;
  beforeAll(async () => {
    for (const database of databases) servers[database] = await startTestServer(database);
  });
  afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));

  it("is the same on both databases, and the one that was agreed", async () => {
    const postgres = await schemaOf(servers.postgres);
    expect(await schemaOf(servers.sqlite)).toEqual(postgres);
    for (const [area, tables] of Object.entries(tablesByArea)) {
      const names = Object.keys(tables).map(snakeCase).sort();
      expectGolden(`${area}/schema.json`, Object.fromEntries(names.map((name) => [name, postgres[name]])));
    }
  });

  it("has an owner for every table, and a table for every owner", async () => {
    const tables = Object.keys(await schemaOf(servers.postgres)).filter((name) => !name.startsWith("kysely_"));
    expect(tables.sort()).toEqual(Object.keys(ownership).map(snakeCase).sort());
  });

  it("knows every boolean and JSON column by name, and no other column by those names", async () => {
    const { rows } = await sql<{ column: string; type: string }>`
      select column_name as "column", data_type as "type" from information_schema.columns
      where table_schema = 'public' and table_name not like 'kysely_%'`.execute(
      servers.postgres.services.store.connection("system"),
    );
    const named = (type: string) => new Set(rows.filter((row) => row.type === type).map((row) => row.column));
    expect(named("boolean")).toEqual(new Set(booleanColumns));
    expect(named("jsonb")).toEqual(new Set(jsonColumns));
    for (const row of rows.filter((item) => booleanColumns.has(item.column)))
      expect(row.type, row.column).toBe("boolean");
    for (const row of rows.filter((item) => jsonColumns.has(item.column))) expect(row.type, row.column).toBe("jsonb");
  });

  it("stores no reference across tenants", async () => {
    for (const database of databases) {
      const { db, services } = servers[database];
      const { seedWorld } = await import("#fixtures/world");
      const { a, b } = await seedWorld(db, services);
      const move = (site: string) =>
        db.updateTable("devices").set({ siteId: site }).where("id", "=", a.deviceId).execute();
      await expect(move(b.siteId)).rejects.toThrow(/foreign key/i);
      await expect(
        db.updateTable("contacts").set({ siteId: b.siteId }).where("id", "=", a.contactId).execute(),
      ).rejects.toThrow(/foreign key/i);
      await expect(
        db.updateTable("apiKeys").set({ principalId: b.servicePrincipalId }).where("id", "=", a.apiKeyId).execute(),
      ).rejects.toThrow(/foreign key/i);
      await move(a.secondSiteId);
      if (database === "sqlite") continue;
      // The policy of devices believes their partner.
      const handedOver = db.updateTable("organizations").set({ partnerId: b.partnerId } as never);
      await expect(handedOver.where("id", "=", a.orgId).execute()).rejects.toThrow(/foreign key/i);
      const device = db.updateTable("devices").set({ partnerId: b.partnerId } as never);
      await device.where("id", "=", a.deviceId).execute();
      const kept = db.selectFrom("devices").select("partnerId").where("id", "=", a.deviceId);
      expect(await kept.executeTakeFirst()).toEqual({ partnerId: a.partnerId });
    }
  });

  it("is migrated once when many replicas start at the same moment", async () => {
    const { createDatabase, dropDatabase } = await import("#fixtures/postgres");
    const { openPostgres } = await import("./dialect/postgres.ts");
    const url = await createDatabase();
    const stores = Array.from({ length: 4 }, () => openPostgres({ url }));
    const applied = await Promise.all(stores.map((store) => store.migrate()));
    expect(applied.map((names) => names.length > 0).filter(Boolean)).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
    await dropDatabase(url);
  });
});
