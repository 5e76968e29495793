import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { auditTables } from "../db/migrations/audit-schema.ts";
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
    await boss.query(
      "do $$ begin create role rmm_app nologin; exception when duplicate_object or unique_violation then null; end $$",
    );
    await boss.query(`create role ${owner} login password '${password}' nobypassrls`);
    await boss.query(`alter database "${new URL(url).pathname.slice(1)}" owner to ${owner}`);
    await boss.query(`grant rmm_app to ${owner}; grant usage on schema public to rmm_app`);
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
    await app.query("set role rmm_app");
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

  it("prunes through a login that may read the tables and execute audit_prune, and does nothing else", async () => {
    const login = `retention_${randomBytes(5).toString("hex")}`;
    await boss.query(`create role ${login} login password '${password}' nobypassrls`);
    await boss.query(`grant select on ${tables.join(", ")} to ${login}`);
    await boss.query(`grant execute on function audit_prune(jsonb) to ${login}`);
    const as = new URL(url);
    as.username = login;
    as.password = password;
    const retention = await connect(as.href);
    const before = await sealed();
    const task = { chain: { kind: "organization", id: ORG }, before: "2026-01-02T03:04:00.000Z" } as const;
    const prune = (cutoff: string) =>
      withPostgresChain(retention, task.chain, (prunable) =>
        pruneChain(prunable, { ...task, before: cutoff, now: "2026-02-01T00:00:00.000Z" }),
      );
    expect(await prune(task.before)).toEqual({ record: null, stop: null });
    const first = (await boss.query("select min(chain_seq) as seq from audit_chain")).rows[0].seq;
    // Past the code: the database itself looks at the age of what goes.
    const record = {
      chainKind: "organization",
      chainId: ORG,
      anchorSeq: 1,
      prevAnchorHash: null,
      prunedThroughSeq: Number(first),
    };
    const hash = (
      await boss.query(`select encode(chain_hash, 'hex') as hash from audit_chain where chain_seq = ${first}`)
    ).rows[0].hash;
    const young = {
      ...record,
      prunedThroughHash: hash,
      prunedCount: 1,
      cutoff: task.before,
      prunedAt: "2026-02-01T00:00:00.000Z",
    };
    await expect(retention.query("select audit_prune($1)", [JSON.stringify(young)])).rejects.toThrow(
      /older than the cutoff/,
    );
    await expect(retention.query("delete from audit_logs")).rejects.toThrow(/permission denied/);
    expect(await sealed()).toEqual(before);
    const { record: made } = await prune("2026-01-15T00:00:00.000Z");
    expect(made).toMatchObject({ anchorSeq: 1, prunedCount: before.length });
    expect(await sealed()).toEqual([]);
    await retention.end();
    await insert(entriesOf(1)[0]!);
  });

  it("prunes as the owner", async () => {
    const before = await sealed();
    await app.query("reset role");
    const task = { chain: { kind: "organization", id: ORG }, before: "2030-01-01T00:00:00.000Z" } as const;
    const { record } = await withPostgresChain(app, task.chain, (prunable) =>
      pruneChain(prunable, { ...task, now: "2030-01-02T00:00:00.000Z" }),
    );
    await app.query("set role rmm_app");
    expect(record).toMatchObject({ prunedCount: before.length });
    await insert(entriesOf(1)[0]!);
    expect(await sealed()).toEqual([before.at(-1)! + 1]);
  });
});

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}
