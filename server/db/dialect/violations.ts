/** A row with this unique value exists already; on Postgres the transaction is over. */
export const isUniqueViolation = (error: unknown): boolean =>
  ["23505", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"].includes(codeOf(error));

/** The row it names is gone, or other rows still name it; on Postgres the transaction is over. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  ["23503", "SQLITE_CONSTRAINT_FOREIGNKEY"].includes(codeOf(error));

/** Its rules or types refuse the row, however often it is asked; on Postgres the transaction is over. */
export const isRefusedRow = (error: unknown): boolean => refusals.test(codeOf(error));

const refusals = /^(2[23]\w{3}|54\w{3}|SQLITE_CONSTRAINT\w*|SQLITE_MISMATCH|SQLITE_TOOBIG)$/;

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
