import type { Db } from "#server/db/dialect/index";
import type { Services } from "#server/services";
import { isOpen } from "./rules.ts";
import { openAnswer } from "./sealed-payload.ts";

/** How a live command stands. */
export type Taken =
  | { readonly open: "pending" | "sent" }
  | { readonly status: string; readonly result: Readonly<Record<string, unknown>> };

/**
 * Hands the answer of a live command over, once: from then on the database does not hold it (docs/remote.md, "Answers").
 * Needs an unscoped handle.
 */
export async function takeAnswer(db: Db, { vault }: Pick<Services, "vault">, id: string): Promise<Taken> {
  const row = await db
    .selectFrom("deviceCommands")
    .select(["status", "outcome", "answerSealed"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  if (isOpen(row.status)) return { open: row.status };
  const { status, answerSealed } = row;
  if (answerSealed === null) return { status, result: row.outcome ?? {} };
  await db.updateTable("deviceCommands").set({ answerSealed: null }).where("id", "=", id).execute();
  return { status, result: openAnswer(vault, id, answerSealed) };
}
