import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { serverKey } from "../db/server-key.ts";
import { pruneByRetention } from "../features/audit/audit-retention/prune-by-retention.ts";
import { DAY } from "../platform/clock.ts";
import { type Hardened, hardenedDatabase, type LoginName } from "../test/hardened.ts";
import { type SignedInUser, startTestServer, type TestServer } from "../test/harness.ts";
import { auditHandle } from "./handle.ts";
import { anchorGrowth } from "./keeper.ts";
import { missingFromOutbox } from "./outbox.ts";

/**
 * What whoever has the password of one of the server's logins can do to the audit record: nothing that goes unseen.
 * Each attempt is made as that login, and then the record is looked at from behind.
 */
let base: Hardened;
let server: TestServer;
let world: World;
let admin: SignedInUser;

beforeAll(async () => {
  base = await hardenedDatabase();
  server = await startTestServer("postgres", base.env);
  world = await seedWorld(server.db, server.services);
  admin = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
});
afterAll(async () => {
  await server?.stop();
  await base?.drop();
});

/** One change, and so one entry. */
const change = async () => {
  const name = `Named ${randomUUID()}`;
  const path = `/orgs/organizations/${world.a.orgId}`;
  expect((await server.request("PATCH", path, { token: admin.token, body: { name } })).status).toBe(200);
};
const logged = async () => (await base.look("select id from audit_logs where action = 'organization.update'")).length;
const waiting = () => base.look<{ audit_id: string }>("select audit_id from audit_outbox order by id");
const missing = () => missingFromOutbox(auditHandle(server.db));

/** Each statement is refused with the message; a transaction that is open goes on. */
async function refused(client: pg.Client, message: RegExp, statements: string[]): Promise<void> {
  for (const statement of statements) {
    await client.query("savepoint attempt").catch(() => undefined);
    const outcome = await client.query(statement).then(
      ({ rowCount }) => `succeeded, ${rowCount} rows`,
      (error: Error) => error.message,
    );
    expect(outcome, statement).toMatch(message);
    await client.query("rollback to attempt").catch(() => undefined);
  }
}

const append = /permission denied|append-only/;

describe.each(["tenant", "system", "retention"] as const satisfies LoginName[])("the login for %s work", (login) => {
  it("changes and removes no entry, no link, no anchor and no prune record, and writes no link", async () => {
    await change();
    await server.settled();
    const thief = await base.connect(login);
    const tables = ["audit_logs", "audit_chain", "audit_anchors", "audit_prunes", "audit_unsigned_prunes"];
    const all = async () => {
      const rows: object[] = [];
      for (const table of tables) rows.push(await base.look(`select * from ${table}`));
      return rows;
    };
    const before = await all();
    await refused(
      thief,
      append,
      tables
        .flatMap((table) => [`delete from ${table}`, `truncate ${table}`, `update ${table} set chain_kind = 'system'`])
        .map((statement) => statement.replace("audit_logs set chain_kind", "audit_logs set action")),
    );
    await refused(thief, /permission denied/, [
      `insert into audit_chain select chain_kind, chain_id, chain_seq + 1000, gen_random_uuid(), content_hash, prev_hash, chain_hash, now() from audit_chain`,
      `insert into audit_anchors (chain_kind, chain_id, anchor_seq, head_chain_seq, entry_count, anchored_at)
       values ('organization', '${world.a.orgId}', 9007199254740991, 0, 0, now())`,
      "select audit_seal()",
    ]);
    await refused(thief, /must be owner|permission denied/, [
      "alter table audit_logs disable trigger all",
      "alter table audit_outbox disable trigger all",
      "drop trigger audit_outbox_moved on audit_outbox",
      "set session_replication_role = replica",
    ]);
    expect(await all()).toEqual(before);
  });
});

describe("the login for tenant work", () => {
  it("puts no entry into the log or the outbox, takes none out, and reads none that waits", async () => {
    const thief = await base.connect("tenant");
    await refused(thief, /permission denied|row-level security/, [
      `insert into audit_logs (id, "timestamp", actor_type, action, details, result, checksum) values (gen_random_uuid(), now(), 'user', 'x', '{}', 'success', '')`,
      `insert into audit_outbox (audit_id, entry) values (gen_random_uuid(), '[]')`,
      "select * from audit_outbox",
      "delete from audit_outbox",
      "select * from audit_chain",
      "select * from audit_outbox_counts",
    ]);
    expect(await missing()).toBe(0);
  });

  it("does not stop the writer by a lock that anybody may take", async () => {
    const thief = await base.connect("tenant");
    const before = await logged();
    await thief.query("select pg_advisory_lock(7140001)");
    await change();
    await server.settled();
    expect(await logged()).toBe(before + 1);
  });
});

describe("the login for system work", () => {
  it("takes no entry out of the outbox that the log does not hold, also while it keeps the writer from its turn", async () => {
    const thief = await base.connect("system");
    await server.settled();
    const before = await logged();
    await thief.query("begin");
    expect((await thief.query("select audit_claim_outbox() as claimed")).rows).toEqual([{ claimed: true }]);
    await change();
    const [entry] = await waiting();
    await refused(thief, /leaves the outbox for the log alone/, [
      "delete from audit_outbox",
      "with gone as (delete from audit_outbox returning *) select count(*) from gone",
      `delete from audit_outbox where audit_id = '${entry?.audit_id}'`,
    ]);
    await refused(thief, /permission denied/, [
      "truncate audit_outbox",
      "update audit_outbox set entry = '[]'",
      "update audit_outbox set audit_id = gen_random_uuid()",
      "update audit_outbox_counts set entries = 0",
      "delete from audit_outbox_counts",
      "insert into audit_outbox_counts values (1, -1)",
    ]);
    expect(await waiting()).toEqual([entry]);
    await thief.query("rollback");
    await server.settled();
    expect(await logged()).toBe(before + 1);
    expect(await missing()).toBe(0);
  });

  it("puts nothing else into the log in an entry's place", async () => {
    const thief = await base.connect("system");
    const before = await logged();
    await thief.query("begin");
    await thief.query("select audit_claim_outbox()");
    await change();
    const [entry] = await waiting();
    const forged = `insert into audit_logs (id, "timestamp", actor_type, action, details, result, checksum)
      select '${entry?.audit_id}', '2026-01-01', 'user', 'nothing.happened', '{}', 'success', encode(sha256(convert_to(array_to_json(
        array['al1', '${entry?.audit_id}', null, null, '1767225600000', 'user', null, null, 'nothing.happened', null, null, null, '{}', null, null, 'success', null])::text, 'UTF8')), 'hex')`;
    await thief.query("set timezone = 'UTC'");
    await thief.query(forged);
    await refused(thief, /leaves the outbox for the log alone/, ["delete from audit_outbox"]);
    await thief.query("rollback");
    await server.settled();
    expect(await logged()).toBe(before + 1);
  });

  it("writes no anchor: not without the server's signature, not with one it has seen, not over an entry that is not there", async () => {
    const thief = await base.connect("system");
    await server.settled();
    await anchorGrowth(server.services);
    const chain = `chain_id = '${world.a.orgId}'`;
    const anchors = () => base.look(`select * from audit_anchors where ${chain} order by anchor_seq`);
    const before = await anchors();
    expect(before.length).toBeGreaterThan(0);
    const statement = {
      ...{ chainKind: "organization", chainId: world.a.orgId, anchorSeq: 9_007_199_254_740_991, headChainSeq: 0 },
      ...{
        headChainHash: null,
        entryCount: 0,
        merkleRoot: null,
        prevAnchorHash: null,
        signature: null,
        signingKeyId: null,
      },
      anchoredAt: "2026-01-01T00:00:00.000Z",
    };
    const text = JSON.stringify(statement);
    const { id, sign } = serverKey(base.encryptionKey);
    const own = serverKey("the thief's").sign(`audit-anchor ${text}`).toString("hex");
    const prune = sign(`audit-prune ${text}`).toString("hex");
    await refused(thief, /not signed by the server/, [
      `select audit_anchor('${text}', '${id}', '\\x${own}')`,
      `select audit_anchor('${text}', '${id}', '\\x${prune}')`,
      `select audit_anchor('${text}', '${id}', null)`,
      `select audit_anchor('${text}', 'mine', '\\x${own}')`,
    ]);
    // What even the server could not say.
    const impossible = {
      ...statement,
      anchorSeq: before.length + 1,
      headChainSeq: 1_000_000,
      headChainHash: "00".repeat(32),
    };
    const signed = (said: object) => {
      const said_ = JSON.stringify(said);
      return `select audit_anchor('${said_}', '${id}', '\\x${sign(`audit-anchor ${said_}`).toString("hex")}')`;
    };
    await refused(thief, /names an entry of its chain/, [signed(impossible)]);
    await refused(thief, /numbered one after another/, [signed(statement), signed({ ...statement, anchorSeq: -1 })]);
    await refused(thief, /audit_anchors_possible/, [
      signed({ ...statement, anchorSeq: before.length + 1, headChainHash: "00".repeat(32) }),
    ]);
    expect(await anchors()).toEqual(before);
    const verified = await server.request("POST", "/audit-logs/verify", {
      token: admin.token,
      body: { orgId: world.a.orgId },
    });
    expect(verified.body).toMatchObject({ ok: true });
  });

  it("sets no retention that empties a chain", async () => {
    const thief = await base.connect("system");
    await refused(thief, /audit_retention_days/, [
      "update audit_retention set retention_days = -36500",
      "update audit_retention set retention_days = 0",
      "update audit_retention set retention_days = 3651",
    ]);
    expect(await base.look("select org_id from audit_retention where retention_days not between 1 and 3650")).toEqual(
      [],
    );
  });
});

describe("the login for retention", () => {
  it("removes no entry without the server's signature, and with one none that is not old", async () => {
    const thief = await base.connect("retention");
    await change();
    await server.settled();
    const chain = `chain_id = '${world.a.orgId}'`;
    const all = () => base.look(`select chain_seq from audit_chain where ${chain} order by chain_seq`);
    const before = await all();
    const [first] = await base.look<{ chain_seq: string; hash: string }>(
      `select chain_seq, encode(chain_hash, 'hex') as hash from audit_chain where ${chain} order by chain_seq limit 1`,
    );
    const next = await base.look(`select 1 from audit_anchors where ${chain}`);
    const record = {
      ...{ type: "prune", chainKind: "organization", chainId: world.a.orgId, anchorSeq: next.length + 1 },
      ...{ prevAnchorHash: null, prunedThroughSeq: Number(first?.chain_seq), prunedThroughHash: first?.hash },
      ...{ prunedCount: 1, cutoff: "2026-03-10T00:00:00.000Z", prunedAt: "2026-03-20T00:00:00.000Z" },
      ...{ signature: null, signingKeyId: null },
    };
    const { id, sign } = serverKey(base.encryptionKey);
    const call = (said: object, by: typeof sign, purpose = "audit-prune") => {
      const text = JSON.stringify(said);
      return `select audit_prune('${text}', '${id}', '\\x${by(`${purpose} ${text}`).toString("hex")}')`;
    };
    await refused(thief, /not signed by the server/, [
      call(record, serverKey("the thief's").sign),
      call(record, sign, "audit-anchor"),
      `select audit_prune('${JSON.stringify(record)}', '${id}', null)`,
    ]);
    await refused(thief, /permission denied/, [
      `select audit_remove('${JSON.stringify(record)}')`,
      "insert into audit_prunes (chain_kind, chain_id, anchor_seq) values ('organization', gen_random_uuid(), 1)",
    ]);
    const young = { ...record, cutoff: "2026-03-01T00:00:00.000Z" };
    await refused(thief, /older than the cutoff/, [call(young, sign)]);
    await refused(thief, /check constraint/, [call({ ...record, prunedAt: "2026-03-10T12:00:00.000Z" }, sign)]);
    expect(await all()).toEqual(before);
    const { body } = await server.request("POST", "/audit-logs/verify", {
      token: admin.token,
      body: { orgId: world.a.orgId },
    });
    expect(body).toMatchObject({ ok: true, breaks: [] });
  });

  it("is what retention works with", async () => {
    const { orgId } = world.b;
    const owner = await server.signIn({ role: "Partner Admin", partnerId: world.b.partnerId });
    await server.request("POST", "/orgs/sites", { token: owner.token, body: { orgId, name: "Old" } });
    await server.settled();
    server.clock.advance(400 * DAY);
    await pruneByRetention(server.services);
    server.clock.advance(-400 * DAY);
    expect(await base.look(`select 1 from audit_chain where chain_id = '${orgId}'`)).toEqual([]);
    const { body } = await server.request("POST", "/audit-logs/verify", { token: owner.token, body: { orgId } });
    expect(body).toMatchObject({ ok: true, prunedPrefix: true, breaks: [] });
  });
});
