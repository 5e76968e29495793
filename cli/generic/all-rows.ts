import { RmmError } from "#sdk/errors";
import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import type { Draft } from "./invocation.ts";
import { clientFor, sendList } from "./send.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Every row of a list. Where system scope would have to name a partner, those of all partners. */
export async function allRows(context: Context, list: CommandSpec, draft: Draft): Promise<Row[]> {
  const client = await clientFor(context, list);
  const rowsOf = async (query: Draft["query"]) =>
    (await sendList(client, context, list, { ...draft, query }).toArray()) as Row[];
  try {
    return await rowsOf(draft.query);
  } catch (error) {
    if (!(error instanceof RmmError && error.code === "PARTNER_ID_REQUIRED")) throw error;
  }
  const { signal } = context.shell;
  const partners = await client.partners.list({ query: { limit: 100 } }, { signal }).toArray();
  const rows: Row[] = [];
  for (const { id } of partners) rows.push(...(await rowsOf({ ...draft.query, partnerId: id })));
  return rows;
}
