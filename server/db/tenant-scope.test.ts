import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainMembership } from "#fixtures/nouns/people/users";
import { databases, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import type { Scope } from "./scope.ts";
import { UnitOfWork } from "./unit-of-work.ts";

describe.each(databases)("the tenant scope on %s", (database) => {
  let server: TestServer;
  let mine: string;
  let second: string;
  let theirs: string;
  let partnerId: string;
  let otherPartnerId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    const a = await seedPartner(server, "a", ["mine", "second"]);
    const b = await seedPartner(server, "b", ["theirs"]);
    [mine = "", second = ""] = a.orgIds;
    [theirs = ""] = b.orgIds;
    partnerId = a.partnerId;
    otherPartnerId = b.partnerId;
    for (const orgId of [mine, second, theirs]) {
      await server.db.insertInto("sites").values(site(orgId, "HQ")).execute();
      await server.db.insertInto("sites").values(site(orgId, "Branch")).execute();
    }
  });
  afterAll(() => server?.stop());

  const site = (orgId: string, name: string) => ({
    id: server.services.random.uuid(),
    orgId,
    name,
    timezone: "UTC",
    address: null,
    contact: null,
    settings: {},
    createdAt: server.clock.now(),
    updatedAt: server.clock.now(),
  });
  const partner = (): Scope => ({
    kind: "partner",
    partnerId,
    selected: null,
    userId: "u",
    known: new Set([mine, second]),
  });
  const unit = (scope: Scope) => new UnitOfWork(server.services, scope);
  const org = (orgId: string, siteIds: string[] | null = null): Scope => ({
    kind: "organization",
    orgId,
    siteIds,
    userId: null,
  });
  const write = <R>(scope: Scope, work: Parameters<UnitOfWork["transaction"]>[0]) =>
    unit(scope).transaction(work) as Promise<R>;

  it("narrows a select, even behind OR", async () => {
    const rows = await unit(partner())
      .reader.selectFrom("sites")
      .select("orgId")
      .where((eb) => eb.or([eb("orgId", "=", theirs), eb("name", "is not", null)]))
      .execute();
    expect(new Set(rows.map((row) => row.orgId))).toEqual(new Set([mine, second]));
  });

  it("narrows joins, aliases, subqueries, EXISTS and common table expressions", async () => {
    const db = unit(org(mine)).reader;
    const joined = await db
      .selectFrom("organizations as o")
      .innerJoin("sites as s", "s.orgId", "o.id")
      .select(["s.orgId"])
      .execute();
    expect(joined.map((row) => row.orgId)).toEqual([mine, mine]);
    const left = await db
      .selectFrom("organizations")
      .leftJoin("sites", (join) => join.on("sites.orgId", "=", theirs))
      .select("sites.id")
      .execute();
    expect(left).toEqual([{ id: null }]);
    const exists = await db
      .selectFrom("organizations")
      .select("id")
      .where((eb) => eb.exists(eb.selectFrom("sites").select("sites.id").where("sites.orgId", "=", theirs)))
      .execute();
    expect(exists).toEqual([]);
    const cte = await db
      .with("picked", (q) => q.selectFrom("sites").select("orgId"))
      .selectFrom("picked")
      .select("orgId")
      .execute();
    expect(cte.every((row) => row.orgId === mine)).toBe(true);
    const counted = await db
      .selectFrom("sites")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .executeTakeFirstOrThrow();
    expect(Number(counted.n)).toBe(2);
    const union = await db.selectFrom("sites").select("orgId").union(db.selectFrom("sites").select("orgId")).execute();
    expect(union).toEqual([{ orgId: mine }]);
  });

  it("refuses a common table expression that takes a table's name", async () => {
    await expect(async () =>
      unit(org(mine))
        .reader.with("sites", (q) => q.selectFrom("organizations").selectAll())
        .selectFrom("sites")
        .selectAll()
        .execute(),
    ).rejects.toThrow(/common table expression/);
  });

  it("narrows UPDATE and DELETE", async () => {
    await write(org(mine), async (tx) => {
      const touched = await tx.updateTable("sites").set({ timezone: "Europe/Paris" }).executeTakeFirst();
      expect(touched.numUpdatedRows).toBe(2n);
      const removed = await tx.deleteFrom("sites").where("orgId", "=", theirs).executeTakeFirst();
      expect(removed.numDeletedRows).toBe(0n);
      const or = await tx
        .deleteFrom("sites")
        .where((eb) => eb.or([eb("orgId", "=", theirs), eb("name", "=", "none")]))
        .executeTakeFirst();
      expect(or.numDeletedRows).toBe(0n);
    });
    const foreign = await server.db.selectFrom("sites").select("timezone").where("orgId", "=", theirs).execute();
    expect(foreign).toEqual([{ timezone: "UTC" }, { timezone: "UTC" }]);
  });

  it("refuses to insert for another tenant, in any row of the statement", async () => {
    for (const scope of [org(mine), partner()]) {
      await expect(write(scope, (tx) => tx.insertInto("sites").values(site(theirs, "x")).execute())).rejects.toThrow(
        /outside the tenant scope/,
      );
      await expect(
        write(scope, (tx) =>
          tx
            .insertInto("sites")
            .values([site(mine, "ok"), site(theirs, "x")])
            .execute(),
        ),
      ).rejects.toThrow(/outside/);
    }
    await expect(
      write(org(mine), (tx) =>
        tx
          .insertInto("sites")
          .columns(["id", "orgId", "name", "timezone", "settings", "createdAt", "updatedAt"] as never)
          .expression(unit(org(mine)).reader.selectFrom("sites").selectAll() as never)
          .execute(),
      ),
    ).rejects.toThrow(/literal rows/);
  });

  it("narrows an upsert to own rows", async () => {
    const foreign = await server.db
      .selectFrom("sites")
      .selectAll()
      .where("orgId", "=", theirs)
      .executeTakeFirstOrThrow();
    await write(org(mine), (tx) =>
      tx
        .insertInto("sites")
        .values({ ...site(mine, "stolen"), id: foreign.id })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ name: "stolen" }))
        .execute(),
    ).catch(() => undefined);
    const after = await server.db
      .selectFrom("sites")
      .select("name")
      .where("id", "=", foreign.id)
      .executeTakeFirstOrThrow();
    expect(after.name).toBe(foreign.name);
  });

  it("refuses to re-home a row", async () => {
    for (const change of [{ orgId: theirs }, { org_id: theirs }]) {
      await expect(
        write(org(mine), (tx) =>
          tx
            .updateTable("sites")
            .set(change as never)
            .execute(),
        ),
      ).rejects.toThrow(/owner of a row/);
    }
  });

  it("confines a caller to its sites", async () => {
    const [first] = await server.db.selectFrom("sites").select("id").where("orgId", "=", mine).orderBy("id").execute();
    const rows = await unit(org(mine, [first?.id as string]))
      .reader.selectFrom("sites")
      .select("id")
      .execute();
    expect(rows).toEqual([first]);
    expect(await unit(org(mine, [])).reader.selectFrom("sites").select("id").execute()).toEqual([]);
  });

  it("reaches selected organizations only, and none where access is none", async () => {
    const membershipId = server.services.random.uuid();
    const who = await server.signIn({ role: "Partner Technician", partnerId, orgAccess: "none" });
    await server.db
      .insertInto("partnerUsers")
      .values({
        id: membershipId,
        partnerId: otherPartnerId,
        userId: who.userId,
        roleId: (
          await server.db
            .selectFrom("roles")
            .select("id")
            .where("name", "=", "Partner Viewer")
            .executeTakeFirstOrThrow()
        ).id,
        orgAccess: "selected",
        ...plainMembership(server.clock.now()),
      })
      .execute();
    await server.db
      .insertInto("partnerUserOrgs")
      .values({ partnerId: otherPartnerId, membershipId, orgId: theirs })
      .execute();
    const seen = (selected: string) =>
      unit({ kind: "partner", partnerId: otherPartnerId, selected, userId: who.userId, known: new Set() })
        .reader.selectFrom("organizations")
        .select("id")
        .execute();
    expect(await seen(membershipId)).toEqual([{ id: theirs }]);
    expect(await seen("none")).toEqual([]);
    expect(await seen(server.services.random.uuid())).toEqual([]);
  });

  it("refuses system tables, undeclared tables, and raw SQL that names one", async () => {
    const db = unit(partner()).reader;
    await expect(async () => db.selectFrom("sessions").selectAll().execute()).rejects.toThrow(/asSystem/);
    await expect(async () =>
      db
        .selectFrom("sqlite_master" as never)
        .selectAll()
        .execute(),
    ).rejects.toThrow(/not declared/);
    await expect(async () =>
      db.selectFrom("sites").select(sql`(select count(*) from sessions)`.as("n")).execute(),
    ).rejects.toThrow(/raw SQL/);
  });

  it("shows nothing without a tenant", async () => {
    const db = unit({ kind: "none" }).reader;
    for (const table of ["partners", "organizations", "sites", "contacts", "users", "devices", "auditLogs"] as const) {
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    }
  });

  it("lifts the scope for asSystem only, and puts it back inside the same transaction", async () => {
    const work = unit(org(mine));
    await work.transaction(async (tx) => {
      const all = await work.asSystem("bootstrap", (system) => system.selectFrom("sites").select("orgId").execute());
      expect(new Set(all.map((row) => row.orgId)).size).toBe(3);
      const own = await tx.selectFrom("sites").select("orgId").execute();
      expect(new Set(own.map((row) => row.orgId))).toEqual(new Set([mine]));
    });
  });
});

describe("row-level security, the wall behind the scope", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("postgres");
  });
  afterAll(() => server?.stop());

  const raw = (wall: string, statement: string) =>
    sql.raw<Record<string, unknown>>(statement).execute(server.services.store.connection(wall));
  const tables = async () =>
    (
      await raw(
        "system",
        "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
      )
    ).rows
      .map((row) => row["name"] as string)
      .filter((name) => !name.startsWith("kysely_"));

  it("shows no row of any table while no tenant is set", async () => {
    await seedPartner(server, "walled", ["one"]);
    for (const table of await tables()) {
      const { rows } = await raw("none", `select * from ${table} limit 1`).catch((error: Error) => {
        expect(error.message, table).toContain("permission denied for table");
        return { rows: [] };
      });
      expect(table === "roles" ? [] : rows, table).toEqual([]);
    }
  });

  it("shows a tenant none of another's rows and lets it write none, whatever the SQL", async () => {
    const a = await seedPartner(server, "wall-a", ["a1"]);
    const b = await seedPartner(server, "wall-b", ["b1"]);
    for (const wall of [`org:${b.orgIds[0]}`, `partner:${b.partnerId}`]) {
      expect((await raw(wall, `select id from organizations where id = '${a.orgIds[0]}'`)).rows).toEqual([]);
      expect((await raw(wall, "select id from organizations")).rows).toEqual([{ id: b.orgIds[0] }]);
      expect(
        (await raw(wall, `update organizations set name = 'x' where id = '${a.orgIds[0]}' returning id`)).rows,
      ).toEqual([]);
      await expect(
        raw(
          wall,
          `insert into sites (id, org_id, name, timezone, settings, created_at, updated_at) values (gen_random_uuid(), '${a.orgIds[0]}', 'x', 'UTC', '{}', now(), now())`,
        ),
      ).rejects.toThrow(/row-level security/);
    }
  });

  it("runs as a role that can bypass nothing", async () => {
    const { rows } = await raw(
      "none",
      "select rolname, rolsuper, rolbypassrls from pg_roles where rolname = current_user",
    );
    expect(rows).toEqual([{ rolname: "rmm_app", rolsuper: false, rolbypassrls: false }]);
  });

  it("has a policy on every table", async () => {
    const { rows } = await raw("system", "select tablename as name from pg_policies where policyname = 'tenant_wall'");
    expect(new Set(rows.map((row) => row["name"]))).toEqual(new Set(await tables()));
  });
});
