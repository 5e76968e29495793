import { beforeAll, describe, expect, it } from "vitest";
import type { World } from "#fixtures/world";
import { refused, stolenConnection } from "../../test/stolen-connection.ts";

const stolen = stolenConnection();
beforeAll(async () => {
  // The partner's one member.
  await stolen.server.signIn({ role: "Partner Admin", partnerId: stolen.world.a.partnerId });
});

/** Who there is, and what nobody but the server changes. */
const state = async ({ base }: Pick<typeof stolen, "base">) => [
  await base.look("select id, password_hash, is_platform_admin from users order by id"),
  await base.look("select id, name, org_id, partner_id from roles order by id"),
  await base.look("select org_id, retention_days from audit_retention order by org_id"),
  await base.look("select id, partner_id from organizations order by id"),
];

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

describe("a tenant's connection, taken over with everything it was ever told", () => {
  it("makes nobody a member, and so sees nobody whose id it happens to know", async () => {
    const { base, server, world, thief } = stolen;
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
    const { world, thief, enter } = stolen;
    const before = await state(stolen);
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
    expect(await state(stolen)).toEqual(before);
  });

  it.each(Object.entries(credentials))("makes, changes and takes away nothing of %s", async (table, forged) => {
    const { base, world, thief, own, enter } = stolen;
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
});
