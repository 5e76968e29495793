import type { ColumnType } from "kysely";

/** A column that is set when the row is made and never again. */
export type Fixed<T> = ColumnType<T, T, never>;
export type Json = Record<string, unknown>;
