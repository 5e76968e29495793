import { randomBytes } from "node:crypto";
import pg from "pg";

const SHARED =
  "the database is behind a pooler that shares its sessions between transactions (PgBouncer's pool_mode transaction): " +
  "a role and a scope would hold for others too; connect to Postgres itself, or use pool_mode session";

/** A session that waits for somebody else's transaction is not its own. */
const PATIENCE_MS = 2_000;

/**
 * Rejects where a connection does not have a database session of its own: roles, scopes and settings of connections are
 * what tenants are kept apart by.
 */
export async function requireOwnSessions(urls: readonly string[]): Promise<void> {
  for (const url of new Set(urls)) await requireOwnSession(url);
}

async function requireOwnSession(url: string): Promise<void> {
  const probe = await open(url);
  try {
    const { rows } = await probe.query<{ pid: number }>("select pg_backend_pid() as pid");
    // Whoever talks to Postgres itself was told the number of its process; a pooler tells a number of its own.
    if (rows[0]?.pid === (probe as unknown as { processID: number }).processID) return;
    if (!(await keepsItsSession(url, probe))) throw new Error(SHARED);
  } finally {
    await probe.end().catch(() => undefined);
  }
}

/** Says something to its session, lets others take sessions meanwhile, and asks for it again. */
async function keepsItsSession(url: string, probe: pg.Client): Promise<boolean> {
  const mark = randomBytes(8).toString("hex");
  await probe.query("select set_config('rmm.probe', $1, false)", [mark]);
  const others = await Promise.all([open(url), open(url)]);
  try {
    const taken = Promise.all(others.map((other) => other.query("begin; select 1")));
    const asked = Promise.race([taken, later()]).then(() =>
      Promise.race([probe.query<{ mark: string }>("select current_setting('rmm.probe', true) as mark"), later()]),
    );
    // Where statements share sessions, no transaction begins.
    return (await asked.catch(() => undefined))?.rows[0]?.mark === mark;
  } finally {
    await Promise.all(others.map((other) => other.end().catch(() => undefined)));
  }
}

const later = (): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), PATIENCE_MS).unref());

async function open(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "rmm-probe",
    connectionTimeoutMillis: 10_000,
  });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
