import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CamelCasePlugin, Kysely, PostgresDialect, SqliteDialect } from "kysely";
import pg from "pg";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { after, DAY } from "#server/platform/clock";
import type { PruneRecord } from "../audit/anchor-format.ts";
import type { AnchorSigner } from "../audit/anchor-signing.ts";
import type { AuditContent, ChainRef } from "../audit/chain.ts";
import type { ChainSource } from "../audit/chain-source.ts";
import { type AuditEvent, auditEntry } from "../audit/entry.ts";
import { enqueueAudit } from "../audit/outbox.ts";
import { postgresChainSource } from "../audit/postgres-source.ts";
import { claimPostgresWriter } from "../audit/postgres-writer.ts";
import { type PrunableChain, type Pruned, pruneChain } from "../audit/prune-chain.ts";
import { withPostgresChain } from "../audit/prune-postgres.ts";
import { withSqliteChain } from "../audit/prune-sqlite.ts";
import { registerAuditFunctions } from "../audit/sqlite-functions.ts";
import { sqliteChainSource } from "../audit/sqlite-source.ts";
import type { StatementCheckOptions } from "../audit/statement-checks.ts";
import type { AuditTables } from "../audit/tables.ts";
import { verifyChain } from "../audit/verify.ts";
import type { AuditVerify } from "../audit/verify-result.ts";
import { type AuditWriterOptions, auditWriter } from "../audit/writer.ts";
import { openSqliteFile } from "../db/dialect/sqlite-library.ts";
import { auditTables } from "../db/migrations/audit-schema.ts";

/** A database with only the audit tables. It can be written as the server does, and tampered with. */
export interface AuditWorld {
  dialect: "sqlite" | "postgres";
  /** The database that worker threads open. */
  database: { file: string } | { url: string };
  /** As the application: on Postgres the role `rmm_system`. */
  db: Kysely<AuditTables>;
  writerOptions: AuditWriterOptions;
  /** Appends through outbox and writer; resolves when the entries are sealed. */
  append(entries: AuditContent[]): Promise<void>;
  /** Runs one statement as the application. */
  asApp(statement: string): Promise<void>;
  /** Runs statements as the database's owner, with all protections in place. */
  asOwner(...statements: string[]): Promise<void>;
  /** Runs statements as the owner with the protections removed, and restores the protections. */
  tamper(...statements: string[]): Promise<void>;
  /** Prunes as retention does, a day after the cutoff unless `now` is given. */
  prune(chain: ChainRef, before: string, how?: PruneHow): Promise<PruneRecord | null>;
  /** The same, but also returns what stopped it. */
  pruned(chain: ChainRef, before: string, how?: PruneHow): Promise<Pruned>;
  source(chain: ChainRef): Promise<ChainSource>;
  verify(chain: ChainRef, options?: StatementCheckOptions): Promise<AuditVerify>;
  close(): Promise<void>;
}

export interface PruneHow {
  signer?: AnchorSigner;
  now?: string;
  evenBroken?: boolean;
}

export const event = (change: Partial<AuditEvent> = {}): AuditEvent => ({
  orgId: "0190c0de-0000-7000-8000-00000000000a",
  action: "organization.update",
  actorType: "user",
  actorId: "0190c0de-0000-7000-8000-000000000900",
  actorEmail: "tech@msp.example",
  resourceType: "organization",
  resourceId: "0190c0de-0000-7000-8000-00000000000a",
  resourceName: "Acme West",
  details: { before: { name: "Acme" }, after: { name: "Acme West" } },
  ipAddress: "203.0.113.7",
  userAgent: "rmm/1.0",
  result: "success",
  ...change,
});

/** Entries one second apart, the first at `from`. */
export const entriesOf = (count: number, change: Partial<AuditEvent> = {}, from = "2026-01-02T03:04:05.678Z") =>
  Array.from({ length: count }, (_, index) =>
    auditEntry(event({ resourceName: `Acme ${index + 1}`, ...change }), {
      now: new Date(Date.parse(from) + index * 1000),
    }),
  );

export const auditWorlds = { sqlite: sqliteWorld, postgres: postgresWorld };

type Base = Pick<AuditWorld, "dialect" | "database" | "db" | "writerOptions" | "source" | "asOwner"> & {
  withChain<R>(chain: ChainRef, work: (prunable: PrunableChain) => Promise<R>): Promise<R>;
};

const honest = (base: Base) => ({
  ...base,
  async append(entries: AuditContent[]) {
    for (let at = 0; at < entries.length; at += 500)
      await base.db.transaction().execute((trx) => enqueueAudit(trx, entries.slice(at, at + 500)));
    const writer = auditWriter(base.db, base.writerOptions);
    await writer.drain(AbortSignal.timeout(60_000));
    await writer.stop();
  },
  async verify(chain: ChainRef, options: StatementCheckOptions = {}) {
    const source = await base.source(chain);
    return verifyChain(source, options).finally(() => source.close());
  },
  pruned: (chain: ChainRef, before: string, { signer, now = after(before, DAY), evenBroken = false }: PruneHow = {}) =>
    base.withChain(chain, (prunable) => pruneChain(prunable, { chain, before, now, evenBroken }, signer)),
  async prune(chain: ChainRef, before: string, how: PruneHow = {}) {
    return (await this.pruned(chain, before, how)).record;
  },
});

async function sqliteWorld(): Promise<AuditWorld> {
  const directory = mkdtempSync(join(tmpdir(), "rmm-audit-"));
  const file = join(directory, "rmm.db");
  const open = (options: { mayPrune?: boolean } = {}) => {
    const db = openSqliteFile(file, { timeout: 10_000 });
    db.pragma("journal_mode = WAL");
    registerAuditFunctions(db, options);
    return db;
  };
  const raw = open();
  for (const statement of auditTables.sqlite) raw.exec(statement);
  const owner = (statements: string[]) => {
    // As anyone with write access to the file: without the server's functions and pragmas.
    const db = openSqliteFile(file, { timeout: 10_000 });
    try {
      for (const statement of statements) db.exec(statement);
    } finally {
      db.close();
    }
  };
  const triggers = () => raw.prepare("select name, sql from sqlite_schema where type = 'trigger'").all();
  return {
    ...honest({
      dialect: "sqlite",
      database: { file },
      db: new Kysely<AuditTables>({ dialect: new SqliteDialect({ database: raw }), plugins: [new CamelCasePlugin()] }),
      writerOptions: { partnerOf: noPartner },
      source: async (chain) => {
        const db = openSqliteFile(file, { readonly: true });
        const source = sqliteChainSource(db, chain);
        return { ...source, close: () => source.close().finally(() => db.close()) };
      },
      asOwner: async (...statements) => owner(statements),
      withChain: async (chain, work) => {
        const db = open({ mayPrune: true });
        return withSqliteChain(db, chain, work).finally(() => db.close());
      },
    }),
    asApp: async (statement) => void raw.exec(statement),
    async tamper(...statements) {
      const walls = triggers() as { name: string; sql: string }[];
      owner([...walls.map(({ name }) => `drop trigger ${name}`), ...statements, ...walls.map(({ sql }) => sql)]);
    },
    close: async () => {
      raw.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const noPartner = async () => null;

const wallsUp = `do $$ declare t record; begin
  for t in select tgname, tgrelid::regclass as rel from pg_trigger where not tgisinternal
  loop execute format('alter table %s enable always trigger %I', t.rel, t.tgname); end loop; end $$`;

let template: Promise<string> | undefined;

/** A database with the audit tables, which every `AuditWorld` of this process copies. */
async function postgresTemplate(): Promise<string> {
  const url = await createDatabase({ label: "audit_template" });
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  for (const statement of auditTables.postgres) await owner.query(statement);
  await owner.end();
  return url;
}

async function postgresWorld(): Promise<AuditWorld> {
  template ??= postgresTemplate();
  const url = await createDatabase({ label: "audit", template: await template });
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  // Rights on the database itself are not copied with a template.
  await owner.query(`revoke temp on database "${new URL(url).pathname.slice(1)}" from public`);
  const pool = new pg.Pool({ connectionString: url, max: 4, options: "-c role=rmm_system" });
  // The database is dropped under connections that are still closing.
  pool.on("error", () => undefined);
  const tables = ["audit_logs", "audit_chain", "audit_anchors", "audit_prunes", "audit_unsigned_prunes"];
  const asOwner = async (...statements: string[]) => {
    for (const statement of statements) await owner.query(statement);
  };
  return {
    ...honest({
      dialect: "postgres",
      database: { url },
      db: new Kysely<AuditTables>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] }),
      writerOptions: { claim: claimPostgresWriter, partnerOf: noPartner },
      source: (chain) => postgresChainSource(url, chain),
      asOwner,
      withChain: (chain, work) => withPostgresChain(owner, { chain, key: undefined }, work),
    }),
    asApp: async (statement) => void (await pool.query(statement)),
    async tamper(...statements) {
      await asOwner(
        ...tables.map((table) => `alter table public.${table} disable trigger user`),
        ...statements,
        wallsUp,
      );
    },
    close: async () => {
      await pool.end();
      await owner.end();
      await dropDatabase(url);
    },
  };
}
