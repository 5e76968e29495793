import pg from "pg";

/**
 * Has the database end what one of its processes runs; resolves once the process was told. As the pool's login, because
 * the roles may not, and on a connection of its own, because the pool may have none to lend.
 */
export async function stopStatement(pid: number | undefined, { options }: pg.Pool): Promise<void> {
  const { connectionString, connectionTimeoutMillis } = options;
  const other = new pg.Client({ connectionString, connectionTimeoutMillis, application_name: "rmm-stop" });
  other.on("error", () => undefined);
  try {
    await other.connect();
    await other.query("select pg_cancel_backend($1)", [pid]);
  } finally {
    await other.end().catch(() => undefined);
  }
}
