import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { type Environment, readConfig } from "#server/config";
import type { Store } from "#server/db/dialect/index";
import { rowLevelSecurity } from "#server/db/row-level-security";
import type { SchemaChange } from "#server/db/schema-change";
import type { Database } from "#server/db/tables";
import { migrations } from "#server/generated/migrations";
import { openStore } from "#server/open-store";
import { silentLog } from "#server/platform/log";
import { entriesOf } from "../test/audit-world.ts";
import { tamper } from "../test/e2e/tamper.ts";
import { databases, startTestServer, type TestServer } from "../test/harness.ts";
import { appendLines } from "./anchor-file.ts";
import { anchorSigner, signedBy } from "./anchor-signing.ts";
import { type ChainRef, contentHash } from "./chain.ts";
import { auditHandle } from "./handle.ts";
import { hexOf } from "./tables.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const chain: ChainRef = { kind: "organization", id: ORG };
const SEED = Buffer.alloc(32, 3).toString("base64");
const signed = { AUDIT_ANCHOR_SIGNING_KEY: SEED };
/** Long enough before the tests' clock that what they prune was old by then. */
const ANCHORED = "2026-01-02T04:00:00.000Z";
const PRUNED = "2026-01-10T03:30:00.000Z";
const CUTOFF = "2026-01-09T03:30:00.000Z";

/** The schema of the release before, as that release made it. */
async function migrateToBefore({ dialect, url, connection }: Store): Promise<void> {
  const owner =
    dialect === "postgres"
      ? new Kysely<Database>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) })
      : connection("system");
  const up = (change: SchemaChange) => async (db: Kysely<unknown>) => {
    for (const statement of change.statements(dialect)) await sql.raw(statement).execute(db);
    if (dialect === "postgres")
      for (const statement of await rowLevelSecurity(db)) await sql.raw(statement).execute(db);
  };
  const older = migrations.filter(({ name }) => name < "2").map((change) => [change.name, { up: up(change) }] as const);
  const provider = { getMigrations: async () => Object.fromEntries(older) };
  const { error } = await new Migrator({ db: owner, provider }).migrateToLatest();
  if (dialect === "postgres") await owner.destroy();
  if (error) throw error;
}

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
    const store = openStore(readConfig({ PORT: "0", ...place(signer ? signed : {}) }), silentLog);
    const db = store.connection("system");
    await migrateToBefore(store);
    const audit = auditHandle(db);
    const rows = entriesOf(10).map((entry) => ({ ...entry, checksum: contentHash(entry) }));
    for (const row of rows) await audit.insertInto("auditLogs").values(row).execute();
    const at = async (seq: number) => {
      const row = await audit
        .selectFrom("auditChain")
        .select("chainHash")
        .where("chainSeq", "=", seq)
        .executeTakeFirstOrThrow();
      return hexOf(row.chainHash);
    };
    const anchor = signedBy(signer, {
      ...{ anchorSeq: 1, chainKind: chain.kind, chainId: ORG, headChainSeq: 10, headChainHash: await at(10) },
      ...{ entryCount: 10, merkleRoot: null, prevAnchorHash: null, anchoredAt: ANCHORED },
    });
    await audit.insertInto("auditAnchors").values(anchor).execute();
    await appendLines(anchorFile(), [anchor]);
    const through = await at(4);
    await tamper(
      { services: { store } } as unknown as TestServer,
      `insert into audit_prunes (chain_kind, chain_id, pruned_through_seq, pruned_through_hash, pruned_count, cutoff, pruned_at)
        values ('organization', '${ORG}', 4, '${through}', 4, '${CUTOFF}', '${PRUNED}')`,
      `delete from audit_logs where id in (select audit_id from audit_chain where chain_seq <= 4)`,
      `delete from audit_chain where chain_seq <= 4`,
    );
    await store.close();
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
