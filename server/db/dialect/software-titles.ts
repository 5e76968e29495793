import { sql } from "kysely";
import type { Tx } from "../unit-of-work.ts";
import type { DialectName } from "./index.ts";

/**
 * Forgets those of the `most` titles after this one that no device has (migration "fleet title purge"). Returns the last of
 * these titles; undefined once there are no more. Needs an unscoped handle.
 */
export async function forgetTitles(
  tx: Tx,
  dialect: DialectName,
  { after, most }: { readonly after: string; readonly most: number },
): Promise<string | undefined> {
  if (dialect === "postgres") {
    const { rows } = await sql<{ last: string | null }>`select rmm_forget_titles(${after}, ${most}) as last`.execute(
      tx,
    );
    return rows[0]?.last ?? undefined;
  }
  const some = sql`(select title from software_titles where title > ${after} order by title limit ${most})`;
  const { rows } = await sql<{ last: string | null }>`select max(title) as last from ${some}`.execute(tx);
  const last = rows[0]?.last ?? undefined;
  await sql`delete from software_titles where title > ${after} and title <= ${last ?? after}
    and not exists (select 1 from device_software s where s.name = software_titles.title)`.execute(tx);
  return last;
}
