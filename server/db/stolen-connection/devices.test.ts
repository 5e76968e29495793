import { describe, expect, it } from "vitest";
import { refused, stolenConnection } from "../../test/stolen-connection.ts";

const stolen = stolenConnection();

describe("a tenant's connection, taken over with everything it was ever told", () => {
  it("hands no device over, takes none, and reads nothing that one left behind when it moved", async () => {
    const { base, world, thief, enter } = stolen;
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
    const { base, world, thief, theirs, enter } = stolen;
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

  it("gives no device a token or a key, nor makes one last longer", async () => {
    const { base, world, thief, own, enter } = stolen;
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
    const { base, world, thief } = stolen;
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
});
