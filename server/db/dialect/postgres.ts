import { randomBytes } from "node:crypto";
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPool, type QueryCompiler } from "kysely";
import { refuseInsideTransaction } from "../open-transaction.ts";
import { type ServerKey, serverKey } from "../server-key.ts";
import type { Database } from "../tables.ts";
import { type BoundedRead, boundedPostgresReads, withBoundedReads } from "./bounded-read.ts";
import { SnakeCasePostgresCompiler } from "./compilers.ts";
import type { Store } from "./index.ts";
import { LongReads } from "./long-reads.ts";
import { requireOwnSessions } from "./own-session.ts";
import { pipelinedReads } from "./pipelined-reads.ts";
import { migratePostgres } from "./postgres-migrate.ts";
import { connect, systemPool, tenantPool } from "./postgres-pool.ts";
import { liftScope, lowerScope } from "./postgres-scope.ts";
import { postgresWire } from "./postgres-signals.ts";
import { Signals } from "./signals.ts";
import { type SingleRead, withSingleReads } from "./single-read.ts";

/** Up to three logins on one database. One that may do everything serves for all; each of its own leaves less to a thief. */
export interface PostgresOptions {
  /** Serves tenants. */
  url: string;
  /** Does the installation's own work. */
  systemUrl?: string | undefined;
  /** Owns the tables; used by `migrate` alone. */
  ownerUrl?: string | undefined;
  /** Without one, a key of this store alone, which only the owner can install. */
  serverKey?: ServerKey | undefined;
  poolSize?: number;
  onError?: (error: Error) => void;
  watch?: boolean;
}

/** As long as any statement of a tenant may take. */
const STATEMENT_MS = 60_000;

interface Handling {
  readonly watch?: boolean;
  /** Undefined = as many connections as there are. */
  readonly long?: LongReads;
}

class SnakeCaseDialect extends PostgresDialect {
  readonly #read: SingleRead;
  readonly #bounded: BoundedRead;

  constructor(pool: PostgresPool, { watch = false, long }: Handling) {
    super({ pool });
    const read = pipelinedReads(pool);
    this.#bounded = boundedPostgresReads(pool, long);
    this.#read = async (sql, parameters) => {
      if (watch) refuseInsideTransaction();
      return read(sql, parameters);
    };
  }

  override createAdapter(): PostgresAdapter {
    return withSingleReads(withBoundedReads(new PostgresAdapter(), this.#bounded), this.#read);
  }

  override createQueryCompiler(): QueryCompiler {
    return new SnakeCasePostgresCompiler();
  }
}

const handleOn = (pool: PostgresPool, handling: Handling = {}) =>
  new Kysely<Database>({ dialect: new SnakeCaseDialect(pool, handling) });

/**
 * Connects as roles that cannot get round row-level security; migrations use the owner's. System work has connections
 * of its own, so that those which serve tenants never see more than the scope that the server signed for them.
 */
export function openPostgres(options: PostgresOptions): Store {
  const { url, onError, watch = true, poolSize: size = 10, serverKey: key = serverKey(randomBytes(32)) } = options;
  const systemUrl = options.systemUrl ?? url;
  const tenants = connect({ url, onError, max: size, settings: `-c statement_timeout=${STATEMENT_MS}` });
  const long = new LongReads(Math.max(2, Math.ceil(size / 2)));
  const system = connect({ url: systemUrl, onError, max: Math.max(2, Math.ceil(size / 2)) });
  const hasty = connect({
    url: systemUrl,
    onError,
    max: Math.max(2, Math.ceil(size / 4)),
    settings: "-c synchronous_commit=off",
  });
  const signals = new Signals(postgresWire({ url: systemUrl, onError, pool: hasty }));
  const open = new Map<string, Kysely<Database>>([["system", handleOn(systemPool(system, { watch }), { watch })]]);
  return {
    dialect: "postgres",
    watched: watch,
    file: undefined,
    url: systemUrl,
    key,
    signals,
    connection(wall) {
      const known = open.get(wall);
      if (known) return known;
      const made = handleOn(tenantPool(tenants, { watch, wall, key }), { watch, long });
      if (open.size > 2_000) for (const other of open.keys()) if (other !== "system") open.delete(other);
      open.set(wall, made);
      return made;
    },
    volatile: handleOn(systemPool(hasty, { watch: false })),
    lift: liftScope,
    lower: lowerScope,
    requireOwnSessions: () => requireOwnSessions([url, systemUrl, options.ownerUrl ?? url]),
    migrate: () => migratePostgres(options.ownerUrl ?? url, handleOn, key),
    close: async () => {
      await signals.close();
      await Promise.all([tenants.end(), system.end(), hasty.end()]);
    },
  };
}
