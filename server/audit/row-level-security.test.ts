import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { auditTables } from "../db/migrations/audit-schema.ts";
import { makeRoles } from "../db/roles.ts";
import { entriesOf } from "../test/audit-world.ts";
import { type AuditContent, contentFields, contentHash } from "./chain.ts";
import { pruneChain } from "./prune-chain.ts";
import { withPostgresChain } from "./prune-postgres.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const tables = ["audit_logs", "audit_chain", "audit_anchors", "audit_prunes", "audit_unsigned_prunes"];

describe("audit tables under row-level security, owned by a role that is no superuser", () => {
  const owner = `owner_${randomBytes(5).toString("hex")}`;
  const password = randomBytes(8).toString("hex");
  let url: string;
  let app: pg.Client;
  let boss: pg.Client;

  beforeAll(async () => {
    url = await createDatabase({ label: "audit_rls" });
    boss = await connect(url);
    await boss.query(makeRoles);
    await boss.query(`create role ${owner} login password '${password}' nobypassrls`);
    await boss.query(`alter database "${new URL(url).pathname.slice(1)}" owner to ${owner}`);
    await boss.query(`grant rmm_app, rmm_system, rmm_retention to ${owner}`);
    const asOwner = new URL(url);
    asOwner.username = owner;
    asOwner.password = password;
    app = await connect(asOwner.href);
    for (const statement of auditTables.postgres) await app.query(statement);
    for (const table of tables) {
      const own = table === "audit_logs" ? `or org_id::text = current_setting('rmm.scope', true)` : "";
      await app.query(`alter table ${table} enable row level security`);
      await app.query(`create policy wall on ${table} using (current_setting('rmm.scope', true) = 'system' ${own})`);
    }
    await app.query("set role rmm_system");
  });
  afterAll(async () => {
    await app.end();
    await boss.end();
    await dropDatabase(url);
  });

  const insert = (entry: AuditContent) => {
    const columns = contentFields.map(
      (field) => `"${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`,
    );
    return app.query(
      `insert into audit_logs (${columns.join(", ")}, checksum) values (${columns.map((_, i) => `$${i + 1}`).join(", ")}, $17)`,
      [...contentFields.map((field) => entry[field]), contentHash(entry)],
    );
  };
  const sealed = async () =>
    (await boss.query("select chain_seq from audit_chain order by chain_seq")).rows.map((row) => Number(row.chain_seq));

  it("seals whatever tenant the connection is walled to, and shows nothing where no tenant is set", async () => {
    await app.query("set rmm.scope = 'system'");
    await insert(entriesOf(1)[0]!);
    await app.query(`set rmm.scope = '${ORG}'`);
    await insert(entriesOf(1)[0]!);
    expect(await sealed()).toEqual([1, 2]);
    expect((await app.query("select * from audit_chain")).rows).toEqual([]);
    await app.query("reset rmm.scope");
    await expect(insert(entriesOf(1)[0]!)).rejects.toThrow(/row-level security/);
    for (const table of tables) expect((await app.query(`select * from ${table}`)).rows).toEqual([]);
  });

  it("refuses rather than forks if the policies were forced on the owner", async () => {
    for (const table of tables) await boss.query(`alter table ${table} force row level security`);
    const before = await sealed();
    await app.query(`set rmm.scope = '${ORG}'`);
    await expect(insert(entriesOf(1)[0]!)).rejects.toThrow(/row-level security|duplicate key/);
    expect(await sealed()).toEqual(before);
    await app.query("set rmm.scope = 'system'");
    await insert(entriesOf(1)[0]!);
    expect(await sealed()).toEqual([...before, before.length + 1]);
    for (const table of tables) await boss.query(`alter table ${table} no force row level security`);
  });

  it("prunes as the owner", async () => {
    const before = await sealed();
    await app.query("reset role");
    const task = { chain: { kind: "organization", id: ORG }, before: "2030-01-01T00:00:00.000Z" } as const;
    const { record } = await withPostgresChain(app, { chain: task.chain, key: undefined }, (prunable) =>
      pruneChain(prunable, { ...task, now: "2030-01-02T00:00:00.000Z" }),
    );
    await app.query("set role rmm_system");
    expect(record).toMatchObject({ prunedCount: before.length });
    await app.query("set rmm.scope = 'system'");
    await insert(entriesOf(1)[0]!);
    expect(await sealed()).toEqual([before.at(-1)! + 1]);
  });
});

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}
