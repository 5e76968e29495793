import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { plainElevation } from "#fixtures/nouns/access-control/elevation-requests";
import { seedWorld, type World } from "#fixtures/world";
import { examineDatabase } from "../doctor.ts";
import { type Hardened, hardenedDatabase } from "../test/hardened.ts";
import { startTestServer, type TestServer } from "../test/harness.ts";
import { openPostgres } from "./dialect/postgres.ts";
import { enterScope, type ScopedConnection } from "./dialect/postgres-scope.ts";
import { snakeCase } from "./naming.ts";
import { type ServerKey, serverKey } from "./server-key.ts";
import { ownership } from "./tables.ts";

/**
 * What whoever holds a tenant's connection, or the password of its login, gets. Each attempt is made as that login, and
 * then the rows are looked at from behind.
 */
let base: Hardened;
let server: TestServer;
let world: World;
let key: ServerKey;
const tables = Object.keys(ownership).map(snakeCase);

beforeAll(async () => {
  base = await hardenedDatabase();
  server = await startTestServer("postgres", base.env);
  world = await seedWorld(server.db, server.services);
  key = serverKey(base.encryptionKey);
});
afterAll(async () => {
  await server?.stop();
  await base?.drop();
});

const refused = (client: pg.Client, statement: string, values: unknown[] = []) =>
  expect(
    client.query(statement, values).then(() => undefined),
    statement,
  ).rejects;
const ids = async (client: pg.Client, table: string) =>
  (await client.query<{ id: string }>(`select id from ${table} order by id`)).rows.map(({ id }) => id);

it("neither the server's keys nor the scopes of connections are reached by any of its logins", async () => {
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
    thief = await base.connect("tenant");
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
  const place = { databaseUrl: base.urls.tenant, systemDatabaseUrl: base.urls.system, dataDir: "/nowhere" };
  const held = { bypassesRowSecurity: false, ownsTables: false };
  expect((await examineDatabase(place)).walls).toEqual({
    tenant: { ...held, name: expect.stringMatching(/^rmm_tenant_/), maySystem: false },
    system: { ...held, name: expect.stringMatching(/^rmm_system_/), maySystem: true },
    scopeIsForgeable: false,
  });
  expect((await examineDatabase({ ...place, databaseUrl: base.urls.system })).walls?.tenant).toMatchObject({
    maySystem: true,
  });
  expect((await examineDatabase({ ...place, systemDatabaseUrl: base.urls.owner })).walls?.system).toMatchObject({
    ownsTables: true,
  });
});

it("serves with its own key alone, and says so where the database does not know it", async () => {
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

describe("a tenant's connection, taken over with everything it was ever told", () => {
  let thief: pg.Client;
  let scoped: ScopedConnection;
  const told: { wall: string; signature: Buffer }[] = [];
  /** The server's own steps on a connection whose every word is overheard. */
  const overheard = (): ServerKey => ({
    ...key,
    sign(message) {
      const signature = key.sign(message);
      told.push({ wall: message.split(" ")[1] as string, signature });
      return signature;
    },
  });
  const enter = async (wall: string) => {
    scoped = await enterScope(thief, scoped, { wall, key: overheard() });
  };
  const replay = async (client: pg.Client) => {
    expect(told.length).toBeGreaterThan(1);
    for (const { wall, signature } of told)
      await refused(client, "select rmm_enter($1, $2, $3)", [wall, key.id, signature]).toThrow(/not signed|currval/);
  };
  let own: string;
  let theirs: string;

  beforeEach(async () => {
    own = `partner:${world.a.partnerId}`;
    theirs = `partner:${world.b.partnerId}`;
    told.length = 0;
    thief = await base.connect("tenant");
    scoped = await enterScope(thief, undefined, { wall: "none", key: overheard() });
    await enter(theirs);
    await enter(own);
  });

  it("sees and writes the tenant that the server left it with, and no other", async () => {
    expect(await ids(thief, "organizations")).toContain(world.a.orgId);
    expect(await ids(thief, "organizations")).not.toContain(world.b.orgId);
    await thief.query("update organizations set name = 'reached'");
    expect(
      await base.look(`select name from organizations where id = '${world.b.orgId}' and name = 'reached'`),
    ).toEqual([]);
    await thief.query("select set_config('rmm.scope', $1, false)", [theirs]);
    await refused(thief, "select * from organizations").toThrow(/not set by the server/);
  });

  it("repeats no signature: on itself, after a rollback, or on another connection", async () => {
    await replay(thief);
    const other = await base.connect("tenant");
    await replay(other);
    await other.query("select rmm_open_connection()");
    await replay(other);
    // Each attempt used up a turn, so the server would open the connection anew.
    scoped.turn = undefined;
    await thief.query("begin");
    await enter(theirs);
    await thief.query("rollback");
    await replay(thief);
    await thief.query("begin");
    await thief.query("savepoint before");
    scoped = await enterScope(thief, undefined, { wall: theirs, key: overheard() });
    await thief.query("rollback to before");
    await thief.query("rollback");
    await replay(thief);
    // Neither the tenant of the transaction that was rolled back, nor the one from before it.
    for (const wall of [theirs, own]) {
      await thief.query("select set_config('rmm.scope', $1, false)", [wall]);
      await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    }
    expect(await ids(other, "organizations")).toEqual([]);
  });

  it("turns no signature into one for another scope", async () => {
    const { pid, turn, database } = scoped;
    const signature = key.sign(["rmm-scope", own, pid, turn, database].join(" "));
    await refused(thief, "select rmm_enter($1, $2, $3)", [theirs, key.id, signature]).toThrow(/not signed/);
  });

  it("keeps the system's scope not a moment longer than the transaction it was signed for", async () => {
    const lift = async () => {
      const { pid, turn, database } = scoped;
      const signature = overheard().sign(["rmm-scope", "system", pid, turn, database].join(" "));
      scoped.turn = (
        await thief.query<{ turn: string }>("select rmm_enter('system', $1, $2)::text as turn", [key.id, signature])
      ).rows[0]?.turn;
    };
    for (const end of ["commit", "rollback"]) {
      await thief.query("begin");
      await lift();
      expect(await ids(thief, "organizations")).toEqual(expect.arrayContaining([world.a.orgId, world.b.orgId]));
      await thief.query(end);
      expect(await ids(thief, "organizations")).not.toContain(world.b.orgId);
      await thief.query("select set_config('rmm.scope', 'system', false)");
      await refused(thief, "select * from organizations").toThrow(/not set by the server/);
      await thief.query("select set_config('rmm.scope', $1, false)", [own]);
      await replay(thief);
      scoped = await enterScope(thief, undefined, { wall: own, key: overheard() });
    }
    await thief.query("begin");
    await lift();
    await thief.query("select rmm_leave()");
    await thief.query("select set_config('rmm.scope', 'system', true)");
    await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    await thief.query("rollback");
  });

  it("ends five minutes after the server set it, in an open transaction too", async () => {
    const clock = "pg_catalog.statement_timestamp()";
    const [{ text } = { text: "" }] = await base.look<{ text: string }>(
      "select pg_get_functiondef('rmm_scope_holds'::regproc) as text",
    );
    expect(text).toContain(clock);
    const at = (seconds: number) => base.look(text.replace(clock, `(${clock} + '${seconds} seconds'::interval)`));
    await thief.query("begin");
    try {
      await at(290);
      expect(await ids(thief, "organizations")).toContain(world.a.orgId);
      await at(302);
      await refused(thief, "select * from organizations").toThrow(/has ended/);
      await thief.query("rollback");
      await refused(thief, "select * from organizations").toThrow(/has ended/);
    } finally {
      await at(0);
    }
    const { rows } = await thief.query<{ ends: string }>(
      "select split_part(current_setting('rmm.scope'), ' ', 2) as ends",
    );
    const ends = rows[0]?.ends;
    expect(Number(ends)).toBeGreaterThan(Date.now() / 1_000);
    for (const later of [Number(ends) + 60, Number(ends) + 10 ** 9]) {
      await thief.query("select set_config('rmm.scope', $1, false)", [`${own} ${later}`]);
      await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    }
  });

  it("is bound to its session: what another one was given, or it had before, does not count", async () => {
    const scopeOf = async () =>
      (await thief.query<{ scope: string }>("select current_setting('rmm.scope') as scope")).rows[0]?.scope;
    const mine = await scopeOf();
    const other = await base.connect("tenant");
    await other.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(other, "select * from organizations").toThrow(/currval/);
    await other.query("select rmm_open_connection()");
    await other.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(other, "select * from organizations").toThrow(/not set by the server/);
    await enter(theirs);
    await thief.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    // Forgetting everything of the session leaves nothing to believe.
    await thief.query("discard all");
    expect(await ids(thief, "organizations")).toEqual([]);
    await thief.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(thief, "select * from organizations").toThrow(/currval/);
  });

  it("makes nobody a member, and so sees nobody whose id it happens to know", async () => {
    const stranger = (await server.signIn({ role: "Partner Admin", partnerId: world.b.partnerId })).userId;
    const [role] = await base.look<{ id: string }>("select id from roles where name = 'Partner Admin'");
    const member = (accepted: string) =>
      `insert into partner_users (id, partner_id, user_id, role_id, org_access, accepted_at, created_at, updated_at)
       values (gen_random_uuid(), '${world.a.partnerId}', '${stranger}', '${role?.id}', 'all', ${accepted}, now(), now())`;
    await refused(thief, member("now()")).toThrow(/accepted by its person alone/);
    await refused(thief, member("null")).toThrow(/row-level security/);
    // One that waits for its person.
    await base.look(member("null"));
    for (const step of ["select 1", "reset role"]) {
      await thief.query(step);
      for (const statement of [
        `update partner_users set accepted_at = now() where user_id = '${stranger}'`,
        `update partner_users set user_id = '${stranger}' where accepted_at is not null`,
      ])
        expect((await thief.query(statement)).rowCount, `${step}: ${statement}`).toBe(0);
    }
    expect((await thief.query(`select * from users where id = '${stranger}'`)).rows).toEqual([]);
    expect(
      await base.look(
        `select id from partner_users where partner_id = '${world.a.partnerId}' and user_id = '${stranger}' and accepted_at is not null`,
      ),
    ).toEqual([]);
  });

  it("writes no person, no built-in role, no other partner's list, and shortens no retention", async () => {
    const before = await state();
    for (const statement of [
      `update users set password_hash = 'x', is_platform_admin = true`,
      `delete from users`,
      `update roles set name = 'stolen' where org_id is null and partner_id is null`,
      `update roles set partner_id = '${world.a.partnerId}', name = 'stolen' where org_id is null and partner_id is null`,
      `delete from roles where org_id is null and partner_id is null`,
      `update audit_retention set retention_days = 1`,
      `delete from audit_retention`,
    ])
      expect((await thief.query(statement)).rowCount, statement).toBe(0);
    await refused(thief, `update organizations set partner_id = '${world.b.partnerId}'`).toThrow(
      /row-level security|violates/,
    );
    await enter(`org:${world.a.orgId}`);
    await refused(thief, `update organizations set partner_id = '${world.b.partnerId}'`).toThrow(/row-level security/);
    expect(await state()).toEqual(before);
  });

  it("hands no device over, takes none, and reads nothing that one left behind when it moved", async () => {
    const { a, b } = world;
    const devices = "select id, org_id, site_id, status, provision_key_hash from devices order by id";
    const before = await base.look(devices);
    const handOver = (orgId: string) =>
      `update devices set org_id = '${orgId}', site_id = null, status = 'decommissioned' where id = '${a.deviceId}'`;
    const takeOver = `update devices set org_id = '${a.orgId}', site_id = '${a.siteId}' where id = '${b.deviceId}'`;
    await refused(thief, handOver(b.orgId)).toThrow(/row-level security/);
    expect((await thief.query(takeOver)).rowCount).toBe(0);
    await enter(`org:${a.orgId}`);
    await refused(thief, handOver(a.secondOrgId)).toThrow(/row-level security/);
    await refused(thief, handOver(b.orgId)).toThrow(/row-level security/);
    expect((await thief.query(takeOver)).rowCount).toBe(0);
    expect(await base.look(devices)).toEqual(before);
    await base.look(`insert into device_metrics values ('${a.secondOrgId}', '${a.deviceId}', now(), 1, 2, 3, '{}')`);
    await base.look(
      `insert into device_availability values (gen_random_uuid(), '${a.secondOrgId}', null, 'online', now(), 'left')`,
    );
    for (const table of ["device_metrics", "device_availability"])
      expect((await thief.query(`select * from ${table} where org_id <> '${a.orgId}'`)).rows, table).toEqual([]);
  });

  it("is told titles of software of its own devices alone", async () => {
    const { a, b } = world;
    for (const [orgId, deviceId, name] of [
      [a.orgId, a.deviceId, "Shared editor"],
      [b.orgId, b.deviceId, "Shared editor"],
      [a.orgId, a.deviceId, "Editor of a"],
      [b.orgId, b.deviceId, "Editor of b"],
    ])
      await base.look(
        `insert into device_software (id, org_id, device_id, name) values (gen_random_uuid(), '${orgId}', '${deviceId}', '${name}')`,
      );
    const titles = async () =>
      (await thief.query<{ title: string }>("select unnest(rmm_titles_with('%', '.')) as title order by 1")).rows.map(
        ({ title }) => title,
      );
    expect(await titles()).toEqual(["Editor of a", "Shared editor"]);
    await enter(`org:${a.orgId}`);
    expect(await titles()).toEqual(["Editor of a", "Shared editor"]);
    // Of the same partner, and without any software.
    await enter(`org:${a.secondOrgId}`);
    expect(await titles()).toEqual([]);
    await enter("none");
    expect(await titles()).toEqual([]);
    await thief.query("select set_config('rmm.scope', $1, false)", [theirs]);
    await refused(thief, "select rmm_titles_with('%', '.')").toThrow(/not set by the server/);
    for (const table of ["partner_titles", "software_titles"])
      await refused(thief, `select * from rmm_private.${table}`).toThrow(/permission denied/);
  });

  it("reads its own tenant's events, and tells, changes or takes back none", async () => {
    const columns = "(id, kind, org_id, subject_type, subject_id, data, occurred_at)";
    const forged = (orgId: string) =>
      `insert into events ${columns} values (gen_random_uuid(), 'site.created', '${orgId}', 'site', gen_random_uuid(), '{}', now())`;
    for (const { orgId } of [world.a, world.b]) await base.look(forged(orgId));
    // The server gives positions meanwhile.
    const events = "select seq, id, kind, org_id, subject_type, subject_id, data, occurred_at from events order by seq";
    const before = await base.look(events);
    const { rows } = await thief.query<{ org_id: string }>("select org_id from events");
    expect(rows.map((row) => row.org_id)).toEqual([world.a.orgId]);
    await refused(thief, forged(world.a.orgId)).toThrow(/row-level security/);
    await refused(thief, forged(world.b.orgId)).toThrow(/row-level security/);
    for (const statement of [
      "update events set kind = 'site.deleted'",
      "update events set position = null",
      "delete from events",
      "update event_cursors set position = 0",
      "delete from event_cursors",
    ])
      expect((await thief.query(statement)).rowCount, statement).toBe(0);
    await refused(thief, "select setval('events_seq_seq', 1)").toThrow(/permission denied/);
    expect(await base.look(events)).toEqual(before);
  });

  it("approves no request of its own tenant, and lets no call of a tool run", async () => {
    const { orgId, deviceId, apiKeyId } = world.a;
    const { random, clock } = server.services;
    const [id, executionId] = [random.uuid(), random.uuid()];
    const asked = plainElevation(clock.now(), { id, orgId, deviceId, flowType: "ai_tool_action", riskTier: 3 });
    await server.db.insertInto("elevationRequests").values(asked).execute();
    const row = { id: executionId, orgId, elevationRequestId: id, apiKeyId, status: "pending" as const };
    const never = { claimedUntil: null, outcome: null, createdAt: clock.now(), updatedAt: clock.now() };
    await server.db
      .insertInto("toolExecutions")
      .values({ ...row, ...never })
      .execute();
    const seen = async () => [
      await base.look("select id, status, expires_at from elevation_requests order by id"),
      await base.look("select * from tool_executions order by id"),
    ];
    const before = await seen();
    for (const wall of [own, `org:${orgId}`]) {
      await enter(wall);
      expect(await ids(thief, "tool_executions")).toEqual([executionId]);
      for (const statement of [
        "update tool_executions set status = 'approved'",
        "delete from tool_executions",
        "update elevation_requests set status = 'approved', approved_at = now(), expires_at = now() + interval '1 day'",
      ])
        expect((await thief.query(statement)).rowCount, statement).toBe(0);
      await refused(
        thief,
        `insert into tool_executions (id, org_id, elevation_request_id, api_key_id, status, created_at, updated_at)
         select gen_random_uuid(), org_id, id, '${apiKeyId}', 'approved', now(), now() from elevation_requests`,
      ).toThrow(/row-level security/);
    }
    expect(await seen()).toEqual(before);
  });

  /** What lets somebody in or says how far, with what a thief would have it say. */
  const credentials: Readonly<Record<string, string>> = {
    api_keys: "issued_by = null, key_hash = repeat('a', 64), status = 'active'",
    service_principals: `status = 'active', scopes = '["devices:execute"]'`,
    partner_service_principals: "status = 'active', org_access = 'all', source_cidrs = '[]', expires_at = null",
    partner_service_principal_orgs: "principal_id = principal_id",
    partner_service_principal_keys: "key_hash = repeat('a', 64), status = 'active', expires_at = null",
    enrollment_keys: "key_hash = repeat('a', 64), max_usage = null, expires_at = now() + interval '1 year'",
    replaced_agent_tokens: "token_hash = repeat('a', 64)",
    sso_providers: "issuer = 'https://thief.example', token_url = issuer, jwks_url = issuer, status = 'active'",
    sso_domains: "verified_at = now(), seen_at = now()",
    partner_users: "role_id = (select id from roles where name = 'Partner Admin'), org_access = 'all'",
    partner_user_orgs: "org_id = org_id",
    organization_users: "role_id = (select id from roles where name = 'Org Admin'), site_ids = null",
    webhooks: "written_by = 'system', status = 'active'",
    roles: "parent_role_id = (select id from roles where name = 'Partner Admin'), force_mfa = false",
  };

  /** A row of each that the world has none of. */
  const missing = ({ partnerId, orgId, partnerPrincipalId, deviceId }: World["a"]) => [
    `insert into partner_service_principal_orgs values ('${partnerId}', '${partnerPrincipalId}', '${orgId}')`,
    `insert into partner_user_orgs (partner_id, membership_id, org_id)
     select partner_id, id, '${orgId}' from partner_users where partner_id = '${partnerId}' limit 1`,
    `insert into replaced_agent_tokens (token_hash, org_id, device_id, replaced_at)
     values (repeat('c', 64), '${orgId}', '${deviceId}', now())`,
    `insert into roles select (jsonb_populate_record(roles, jsonb_build_object('id', gen_random_uuid(),
       'name', 'Own', 'is_system', false, 'partner_id', '${partnerId}'))).* from roles where name = 'Partner Viewer'`,
  ];

  it.each(Object.entries(credentials))("makes, changes and takes away nothing of %s", async (table, forged) => {
    const { orgId, partnerId } = world.a;
    const all = `select * from ${table} order by 1, 2, 3`;
    for (const statement of missing(world.a)) if (statement.includes(`into ${table} `)) await base.look(statement);
    const before = await base.look(all);
    const { rows: seen } = await thief.query<{ row: object }>(
      `select to_jsonb(${table}) as row from ${table} where ${table === "roles" ? "partner_id is not null" : "true"}`,
    );
    expect(seen.length).toBeGreaterThan(0);
    for (const wall of [own, `org:${orgId}`]) {
      await enter(wall);
      for (const statement of [`update ${table} set ${forged}`, `delete from ${table}`])
        expect((await thief.query(statement)).rowCount, statement).toBe(0);
      const copy = JSON.stringify({ ...seen[0]?.row, key_hash: "b".repeat(64), org_id: orgId, partner_id: partnerId });
      await refused(thief, `insert into ${table} select * from jsonb_populate_record(null::${table}, $1)`, [
        copy,
      ]).toThrow(/row-level security|accepted by its person alone/);
    }
    expect(await base.look(all)).toEqual(before);
  });

  it("gives no device a token or a key, nor makes one last longer", async () => {
    const { orgId, deviceId } = world.a;
    const hashes = "agent_token_hash, watchdog_token_hash, previous_agent_token_hash, previous_watchdog_token_hash";
    const rest = "previous_tokens_expire_at, enrollment_proof, enrollment_proof_until, enrollment_secret_hash";
    const columns = `${hashes}, ${rest}, provision_key_hash, provision_key_expires_at`;
    const devices = `select id, ${columns} from devices order by id`;
    const before = await base.look(devices);
    for (const wall of [own, `org:${orgId}`]) {
      await enter(wall);
      for (const column of columns.split(", ")) {
        const forged = /expire|until/.test(column) ? "now() + interval '1 year'" : "repeat('a', 64)";
        for (const statement of [
          `update devices set ${column} = ${forged} where id = '${deviceId}'`,
          `insert into devices (id, org_id, ${column}) values (gen_random_uuid(), '${orgId}', ${forged})`,
        ])
          await refused(thief, statement).toThrow(/given tokens by the server alone/);
      }
    }
    expect(await base.look(devices)).toEqual(before);
  });

  it("makes no token or key of a device count again, nor longer, by what stands beside it", async () => {
    const { deviceId } = world.a;
    const devices = "select id, status, tokens_issued_at, enrollment_secret_hash from devices order by id";
    const be = (status: string) => base.look(`update devices set status = '${status}' where id = '${deviceId}'`);
    const [{ status } = { status: "" }] = await base.look<{ status: string }>(
      `select status from devices where id = '${deviceId}'`,
    );
    await base.look(`update devices set tokens_issued_at = now(), enrollment_secret_hash = repeat('a', 64)`);
    try {
      for (const [from, change] of [
        ["decommissioned", "status = 'online'"],
        ["decommissioned", "status = 'pending'"],
        ["offline", "status = 'pending'"],
        ["online", "tokens_issued_at = now() + interval '1 year'"],
        ["online", "tokens_issued_at = null"],
        ["pending", "enrollment_secret_hash = null"],
      ] as const) {
        await be(from);
        const before = await base.look(devices);
        const statement = `update devices set ${change} where id = '${deviceId}'`;
        await refused(thief, statement).toThrow(/given tokens by the server alone/);
        expect(await base.look(devices)).toEqual(before);
      }
      await be("online");
      expect((await thief.query(`update devices set status = 'offline' where id = '${deviceId}'`)).rowCount).toBe(1);
    } finally {
      await be(status);
    }
  });

  const state = async () => [
    await base.look("select id, password_hash, is_platform_admin from users order by id"),
    await base.look("select id, name, org_id, partner_id from roles order by id"),
    await base.look("select org_id, retention_days from audit_retention order by org_id"),
    await base.look("select id, partner_id from organizations order by id"),
  ];
});
