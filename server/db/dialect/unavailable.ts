/** The database is starting, stopping, full, read-only, busy or out of reach: the caller may try again. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === "string") return codes.test(code);
  return typeof message === "string" && lostConnection.test(message);
}

const codes =
  /^(08\w{3}|57P0[123]|57014|RMM_READ_\w+|53\w{3}|40P01|40001|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|EPIPE|25006|SQLITE_BUSY\w*|SQLITE_FULL|SQLITE_READONLY\w*|SQLITE_IOERR\w*)$/;

/** The driver for Postgres has no code for the end of a connection that it did not ask for. */
const lostConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed) and is not queryable)/;

/** Postgres ended one of the transactions that wait for each other. */
export const isDeadlock = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "40P01";
