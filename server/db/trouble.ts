import { isUnavailable } from "./dialect/unavailable.ts";

/** Why a database does not do its work, in words that anybody may read, and what helps. */
export interface Trouble {
  readonly what: string;
  readonly remedy: string;
}

const kinds: readonly { codes: RegExp; trouble: Trouble }[] = [
  {
    codes: /^(SQLITE_FULL|53100|ENOSPC)$/,
    trouble: { what: "the disk of the database is full", remedy: "Free space on the disk that holds the database" },
  },
  {
    codes: /^(SQLITE_READONLY\w*|SQLITE_CANTOPEN\w*|25006|EROFS|EACCES)$/,
    trouble: {
      what: "the database takes no writes: it is read-only",
      remedy: "Name the primary, not a replica; let it finish its recovery; or make the file system writable",
    },
  },
  {
    codes: /^SQLITE_(IOERR|CORRUPT|NOTADB)\w*$/,
    trouble: { what: "the file of the database cannot be read or written", remedy: "Look at the disk and its log" },
  },
  {
    codes: /^53\w{3}$/,
    trouble: {
      what: "the database has no connection left",
      remedy: "Raise max_connections of Postgres, or find out who holds its connections (pg_stat_activity)",
    },
  },
  {
    codes: /^SQLITE_BUSY\w*$/,
    trouble: {
      what: "another program holds the database",
      remedy: "End whatever else has the file of the database open",
    },
  },
];

const unreachable: Trouble = {
  what: "the database cannot be reached",
  remedy: "Check DATABASE_URL, and that the database is running",
};

const refused: Trouble = {
  what: "the database refuses what the server needs of it",
  remedy: "The server's log has its words; `rmm server doctor` looks at migrations and roles",
};

/** By the code of the error, or of what caused it. */
export function troubleOf(error: unknown): Trouble {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    const { code } = one as { code?: unknown };
    const known = typeof code === "string" ? kinds.find(({ codes }) => codes.test(code)) : undefined;
    if (known) return known.trouble;
  }
  return isUnavailable(error) ? unreachable : refused;
}
