import type pg from "pg";
import { beforeEach, describe, expect, it } from "vitest";
import { examineDatabase } from "../../doctor.ts";
import { hardenedServer, ids, refused } from "../../test/stolen-connection.ts";
import { openPostgres } from "../dialect/postgres.ts";
import { enterScope } from "../dialect/postgres-scope.ts";
import { snakeCase } from "../naming.ts";
import { serverKey } from "../server-key.ts";
import { ownership } from "../tables.ts";

/** What whoever has the password of a login gets. */
const place = hardenedServer();
const tables = Object.keys(ownership).map(snakeCase);

it("neither the server's keys nor the scopes of connections are reached by any of its logins", async () => {
  const { base } = place;
  for (const login of ["tenant", "system", "retention"] as const) {
    const thief = await base.connect(login);
    for (const statement of [
      "select * from rmm_private.scope_keys",
      "insert into rmm_private.scope_keys values ('mine', '', '', now())",
      "delete from rmm_private.scope_keys",
      ...["turns", "scope_mark", "system_mark"].flatMap((name) => [
        `select nextval('rmm_private.${name}')`,
        `select setval('rmm_private.${name}', 1)`,
        `select currval('rmm_private.${name}')`,
        `select * from rmm_private.${name}`,
      ]),
      "select rmm_private.digest('system')",
    ])
      await refused(thief, statement).toThrow(/permission denied/);
  }
});

describe("the password of the tenants' login", () => {
  let thief: pg.Client;
  beforeEach(async () => {
    thief = await place.base.connect("tenant");
  });

  it("opens no table, but for the built-in roles, their permissions not among them", async () => {
    for (const table of tables) {
      const { rows } = await thief.query(`select * from ${table}`).catch((error: pg.DatabaseError) => {
        expect(error.code, table).toBe("42501");
        return { rows: [] };
      });
      expect(
        rows.filter((row) => table !== "roles" || row.org_id || row.partner_id),
        table,
      ).toEqual([]);
    }
  });

  it("claims no scope: not the system's, not a tenant's, with or without a connection opened for scopes", async () => {
    const { base, world } = place;
    for (const open of [false, true]) {
      if (open) await thief.query("select rmm_open_connection()");
      for (const scope of ["system", `partner:${world.a.partnerId}`, `org:${world.a.orgId}`]) {
        await thief.query("select set_config('rmm.scope', $1, false)", [scope]);
        for (const table of ["organizations", "users", "devices"])
          await refused(thief, `select * from ${table}`).toThrow(/not set by the server|permission denied/);
        await refused(thief, "update organizations set name = 'stolen'").toThrow(/not set by the server/);
      }
      await thief.query("select set_config('rmm.scope', 'none', false)");
    }
    expect(await base.look("select id from organizations where name = 'stolen'")).toEqual([]);
  });

  it("forges no signature, with a key of its own or with a known key's name", async () => {
    const { world, key } = place;
    const own = serverKey("the thief's");
    await expect(enterScope(thief, undefined, { wall: `org:${world.a.orgId}`, key: own })).rejects.toThrow(
      /not signed/,
    );
    const named = { ...own, id: key.id };
    await expect(enterScope(thief, undefined, { wall: `org:${world.a.orgId}`, key: named })).rejects.toThrow(
      /not signed/,
    );
    for (const signature of [null, Buffer.alloc(0), Buffer.alloc(32)]) {
      await thief.query("select rmm_open_connection()");
      await refused(thief, "select rmm_enter($1, $2, $3)", ["system", key.id, signature]).toThrow(/not signed/);
    }
    expect(await ids(thief, "organizations")).toEqual([]);
  });

  it("takes no turn of the audit writer", async () => {
    for (const statement of ["select audit_claim_outbox()", "select audit_fold_outbox_counts()"])
      await refused(thief, statement).toThrow(/permission denied/);
  });

  it("becomes nobody else, and makes nothing that another could run into", async () => {
    for (const statement of [
      "set role rmm_system",
      "set session authorization postgres",
      "create table public.mine (a int)",
      "create temp table organizations (a int)",
      "create schema mine",
      "create function public.rmm_org() returns uuid language sql as 'select null::uuid'",
      "alter table organizations disable row level security",
      "drop policy tenant_wall on organizations",
      "alter table audit_logs disable trigger all",
      "set session_replication_role = replica",
      "grant rmm_system to current_user",
    ])
      await refused(thief, statement).toThrow(/permission denied|must be owner|admin option|does not exist/i);
    await thief.query("reset role");
    await thief.query("set row_security = off");
    await refused(thief, "select * from organizations").toThrow(/row-level security/);
  });
});

it("is no surprise: the doctor says what each login could do, and which wall stands", async () => {
  const { base } = place;
  const settings = { databaseUrl: base.urls.tenant, systemDatabaseUrl: base.urls.system, dataDir: "/nowhere" };
  const held = { bypassesRowSecurity: false, ownsTables: false };
  expect((await examineDatabase(settings)).walls).toEqual({
    tenant: { ...held, name: expect.stringMatching(/^rmm_tenant_/), maySystem: false },
    system: { ...held, name: expect.stringMatching(/^rmm_system_/), maySystem: true },
    scopeIsForgeable: false,
  });
  expect((await examineDatabase({ ...settings, databaseUrl: base.urls.system })).walls?.tenant).toMatchObject({
    maySystem: true,
  });
  expect((await examineDatabase({ ...settings, systemDatabaseUrl: base.urls.owner })).walls?.system).toMatchObject({
    ownsTables: true,
  });
});

it("serves with its own key alone, and says so where the database does not know it", async () => {
  const { base, server, world } = place;
  const store = (login: "tenant" | "owner", secret: string) =>
    openPostgres({ url: base.urls[login], systemUrl: base.urls.system, serverKey: serverKey(secret) });
  const stranger = store("tenant", "another server's");
  await expect(stranger.migrate()).rejects.toThrow(/does not know the key of this server: run `rmm server migrate`/);
  await expect(stranger.connection(`org:${world.a.orgId}`).selectFrom("sites").select("id").execute()).rejects.toThrow(
    /not signed by the server/,
  );
  await stranger.close();
  const swapped = openPostgres({ url: base.urls.system, systemUrl: base.urls.tenant });
  await expect(swapped.connection("system").selectFrom("leases").select("name").execute()).rejects.toThrow(
    /SYSTEM_DATABASE_URL .* is not a member of rmm_system/,
  );
  await swapped.close();
  // A key that is changed: the old one counts until the next change, so that servers can be restarted one by one.
  for (const secret of ["changed once", base.encryptionKey]) {
    const owner = store("owner", secret);
    expect(await owner.migrate()).toEqual([]);
    await owner.close();
  }
  const sites = await server.request("GET", "/orgs/sites", {
    token: (await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId })).token,
  });
  expect(sites.status).toBe(200);
  const keys = await base.look("select id from rmm_private.scope_keys");
  expect(keys).toHaveLength(2);
});
