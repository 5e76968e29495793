import { sql } from "kysely";
import type { Tx } from "../unit-of-work.ts";
import type { DialectName } from "./index.ts";

/**
 * The commit does not wait for the disk. Only for what is done again after a crash of the machine: that may take it back,
 * but nothing that was stored before it.
 */
export async function commitLazily(tx: Tx, dialect: DialectName): Promise<void> {
  if (dialect === "postgres") await sql`set local synchronous_commit = off`.execute(tx);
}
