import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import type { Environment } from "#server/config";
import { openSqliteFile } from "#server/db/dialect/sqlite-library";
import { makeRoles } from "#server/db/roles";
import { migrations } from "#server/generated/migrations";
import { entriesOf } from "../test/audit-world.ts";
import { tamper } from "../test/e2e/tamper.ts";
import { databases, startTestServer, type TestServer } from "../test/harness.ts";
import { appendLines } from "./anchor-file.ts";
import { anchorSigner, signedBy } from "./anchor-signing.ts";
import { type ChainRef, contentFields, contentHash } from "./chain.ts";
import { auditHandle } from "./handle.ts";
import { registerAuditFunctions } from "./sqlite-functions.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const chain: ChainRef = { kind: "organization", id: ORG };
const SEED = Buffer.alloc(32, 3).toString("base64");
const signed = { AUDIT_ANCHOR_SIGNING_KEY: SEED };
/** Long enough before the tests' clock that what they prune was old by then. */
const ANCHORED = "2026-01-02T04:00:00.000Z";
const PRUNED = "2026-01-10T03:30:00.000Z";
const CUTOFF = "2026-01-09T03:30:00.000Z";

/** Statements as the owner of a database that no server of this release has opened yet. */
interface Owner {
  run(statement: string): Promise<void>;
  read(statement: string): Promise<Record<string, string>[]>;
  close(): Promise<void>;
}

async function ownerOf(url: string): Promise<Owner> {
  if (url.startsWith("sqlite:")) {
    const db = openSqliteFile(url.slice("sqlite:".length));
    registerAuditFunctions(db, { mayPrune: true });
    return {
      run: async (statement) => void db.exec(statement),
      read: async (statement) => db.prepare(statement).all() as Record<string, string>[],
      close: async () => void db.close(),
    };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    run: async (statement) => void (await client.query(statement)),
    read: async (statement) => (await client.query(statement)).rows,
    close: () => client.end(),
  };
}

/** The schema of the release before, as that release made it. */
async function migrateToBefore(owner: Owner, dialect: "sqlite" | "postgres"): Promise<void> {
  if (dialect === "postgres") await owner.run(makeRoles);
  await owner.run(
    `create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
  );
  await owner.run(
    `create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer default 0 not null)`,
  );
  await owner.run("insert into kysely_migration_lock (id, is_locked) values ('migration_lock', 0)");
  for (const { name, statements } of migrations) {
    if (name === FIRST_SIGNED) return;
    for (const statement of statements(dialect)) await owner.run(statement);
    await owner.run(`insert into kysely_migration (name, timestamp) values ('${name}', '2026-01-01T00:00:00.000Z')`);
  }
  throw new Error(`there is no migration ${FIRST_SIGNED}`);
}

const FIRST_SIGNED = "202611281330-audit-prune-records";

describe.each(databases)("a database from before prune records were signed, on %s", (database) => {
  let directory: string;
  let url: string;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "rmm-upgrade-"));
    url = database === "postgres" ? await createDatabase() : `sqlite:${join(directory, "rmm.db")}`;
  });
  afterEach(async () => {
    if (database === "postgres") await dropDatabase(url);
    rmSync(directory, { recursive: true, force: true });
  });

  const place = (env: Environment = {}): Environment => ({
    ...{ DATABASE_URL: url, RMM_DATA_DIR: directory, ...env },
    ...(database === "postgres" ? { AUDIT_ADMIN_DATABASE_URL: url } : {}),
  });
  const start = (env: Environment = {}) => startTestServer("sqlite", place(env));
  const anchorFile = () => join(directory, "audit-anchors.ndjson");

  /** Ten entries, an anchor over them, and the first four removed as the release before did it. */
  async function fromBefore({ signer }: { signer?: ReturnType<typeof anchorSigner> } = {}): Promise<void> {
    const owner = await ownerOf(url);
    await migrateToBefore(owner, database);
    const text = (value: string | null) => (value === null ? "null" : `'${value.replaceAll("'", "''")}'`);
    const column = (field: string) => `"${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;
    for (const entry of entriesOf(10))
      await owner.run(`insert into audit_logs (${contentFields.map(column).join(", ")}, checksum)
        values (${contentFields.map((field) => text(entry[field])).join(", ")}, '${contentHash(entry)}')`);
    const hex = database === "postgres" ? "encode(chain_hash, 'hex')" : "chain_hash";
    const at = async (seq: number) =>
      (await owner.read(`select ${hex} as hash from audit_chain where chain_seq = ${seq}`))[0]!["hash"]!;
    const anchor = signedBy(signer, {
      ...{ anchorSeq: 1, chainKind: chain.kind, chainId: ORG, headChainSeq: 10, headChainHash: await at(10) },
      ...{ entryCount: 10, merkleRoot: null, prevAnchorHash: null, anchoredAt: ANCHORED },
    });
    await owner.run(`insert into audit_anchors (chain_kind, chain_id, anchor_seq, head_chain_seq, head_chain_hash,
      entry_count, anchored_at, signature, signing_key_id) values ('organization', '${ORG}', 1, 10, '${anchor.headChainHash}',
      10, '${ANCHORED}', ${text(anchor.signature)}, ${text(anchor.signingKeyId)})`);
    await appendLines(anchorFile(), [anchor]);
    const record = `insert into audit_prunes
      (chain_kind, chain_id, pruned_through_seq, pruned_through_hash, pruned_count, cutoff, pruned_at)
      values ('organization', '${ORG}', 4, '${await at(4)}', 4, '${CUTOFF}', '${PRUNED}')`;
    // A delete passes in the transaction of its record alone.
    await owner.run("begin");
    await owner.run(record);
    await owner.run("delete from audit_logs where id in (select audit_id from audit_chain where chain_seq <= 4)");
    await owner.run("delete from audit_chain where chain_seq <= 4");
    await owner.run("commit");
    await owner.close();
  }

  const verify = async (server: TestServer) => {
    const { token } = await server.signIn({ role: "System Admin" });
    const answer = await server.request("POST", "/audit-logs/verify", { token, body: { orgId: ORG } });
    await server.settled();
    return answer.body;
  };
  const anchors = async (server: TestServer) => {
    const { token } = await server.signIn({ role: "System Admin" });
    return (await server.request("GET", `/audit-logs/anchors?orgId=${ORG}`, { token })).body.data;
  };

  it("has its newest record restated, signed, at the first start, and verifies ever after", async () => {
    await fromBefore({ signer: anchorSigner(SEED) });
    const server = await start(signed);
    expect(await verify(server)).toMatchObject({ ok: true, prunedPrefix: true, first: { chainSeq: 5 }, breaks: [] });
    expect((await anchors(server)).find(({ type }: { type: string }) => type === "prune")).toMatchObject({
      ...{ anchorSeq: 2, restates: true, prunedThroughSeq: 4, cutoff: CUTOFF, prunedAt: PRUNED },
      signature: expect.any(String),
    });
    await server.stop();
    expect(readFileSync(anchorFile(), "utf8")).toContain('"restates":true');
    const again = await start(signed);
    expect(await verify(again)).toMatchObject({ ok: true });
    expect((await anchors(again)).filter(({ type }: { type: string }) => type === "prune")).toHaveLength(1);
    await again.stop();
  });

  it("where nothing is signed, has it restated without signature, and verifies", async () => {
    await fromBefore();
    // A release without a key: production leaves it unset, and so does whoever sets NODE_ENV so.
    const env = {
      ...{ NODE_ENV: "production", JWT_SECRET: "j".repeat(40), SECRET_ENCRYPTION_KEY: "e".repeat(40) },
    };
    const server = await start(env);
    expect(await verify(server)).toMatchObject({ ok: true, prunedPrefix: true });
    expect((await anchors(server)).find(({ type }: { type: string }) => type === "prune")).toMatchObject({
      ...{ restates: true, signature: null },
    });
    await server.stop();
  });

  it("is not believed once the anchor file says that this was done: no record of somebody's making is signed", async () => {
    await fromBefore({ signer: anchorSigner(SEED) });
    appendFileSync(anchorFile(), '{"type":"restated","at":"2026-01-11T00:00:00.000Z"}\n');
    const server = await start(signed);
    expect(await verify(server)).toMatchObject({ ok: false, breaks: [{ kind: "prefix_unexplained", chainSeq: 5 }] });
    expect((await anchors(server)).filter(({ type }: { type: string }) => type === "prune")).toEqual([]);
    await server.stop();
  });

  it("goes on from the old record where it was emptied and is written to before the server restated it", async () => {
    await fromBefore();
    const server = await start(signed);
    await tamper(
      server,
      "delete from audit_logs",
      "delete from audit_chain",
      "delete from audit_prunes",
      "delete from audit_anchors",
    );
    const [entry] = entriesOf(1);
    await auditHandle(server.db)
      .insertInto("auditLogs")
      .values({ ...entry!, checksum: contentHash(entry!) })
      .execute();
    const row = await auditHandle(server.db).selectFrom("auditChain").select("chainSeq").executeTakeFirstOrThrow();
    expect(Number(row.chainSeq)).toBe(5);
    await server.stop();
  });
});

describe.each(databases)("anchor keys on %s", (database) => {
  const second = Buffer.alloc(32, 5).toString("base64");
  const publicOf = (seed: string) => anchorSigner(seed).publicKey;

  it("change, and what earlier ones signed still counts while they are named; without any the server does not start", async () => {
    const directory = mkdtempSync(join(tmpdir(), "rmm-keys-"));
    const url = database === "postgres" ? await createDatabase() : `sqlite:${join(directory, "rmm.db")}`;
    const start = (env: Environment) =>
      startTestServer("sqlite", { DATABASE_URL: url, RMM_DATA_DIR: directory, ...env });
    const verify = async (server: TestServer) => {
      const { token } = await server.signIn({ role: "System Admin" });
      const answer = await server.request("POST", "/audit-logs/verify", { token, body: { chain: "system" } });
      await server.settled();
      return answer.body;
    };
    try {
      const first = await start(signed);
      await verify(first);
      expect(await verify(first)).toMatchObject({ ok: true, anchors: { signedCount: 1 } });
      await first.stop();

      const forgetful = await start({ AUDIT_ANCHOR_SIGNING_KEY: second });
      const { ok, anchors } = await verify(forgetful);
      expect([ok, anchors.problems[0].reason]).toEqual([false, "signature_invalid"]);
      await forgetful.stop();

      const rotated = await start({
        AUDIT_ANCHOR_SIGNING_KEY: second,
        AUDIT_ANCHOR_PUBLIC_KEYS: ` ${publicOf(SEED)},`,
      });
      expect(await verify(rotated)).toMatchObject({ ok: true });
      const { token } = await rotated.signIn({ role: "System Admin" });
      const listed = (await rotated.request("GET", "/audit-logs/anchors?chain=system", { token })).body;
      expect(listed).toMatchObject({ publicKey: publicOf(second), publicKeys: [publicOf(second), publicOf(SEED)] });
      expect(new Set(listed.data.map((one: { signingKeyId: string }) => one.signingKeyId)).size).toBe(2);
      await rotated.stop();

      const production = { NODE_ENV: "production", JWT_SECRET: "j".repeat(40), SECRET_ENCRYPTION_KEY: "e".repeat(40) };
      await expect(start(production)).rejects.toThrow(/AUDIT_ANCHOR_SIGNING_KEY is needed/);
      await expect(start({ ...signed, AUDIT_ANCHOR_PUBLIC_KEYS: "c3R1ZmY=" })).rejects.toThrow(
        /AUDIT_ANCHOR_PUBLIC_KEYS/,
      );
    } finally {
      if (database === "postgres") await dropDatabase(url);
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
