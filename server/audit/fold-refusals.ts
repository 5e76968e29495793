import type { Kysely } from "kysely";
import { MINUTE } from "#server/platform/clock";
import { type AuditContent, canonicalContent, chainOf, parseCanonicalContent, sha256, ZERO_UUID } from "./chain.ts";
import { auditEntry } from "./entry.ts";
import { enqueueAudit } from "./outbox.ts";
import type { AuditTables } from "./tables.ts";

/** A refused request: its entry, and the code that it was answered. */
export interface Refusal {
  readonly entry: AuditContent;
  readonly code: string;
}

/** Refusals that are recorded one by one in a window that the first of them opens; of the others the number. */
interface Window {
  readonly kind: "like" | "chain";
  readonly ms: number;
  readonly max: number;
}

const likeOnes: Window = { kind: "like", ms: 5 * MINUTE, max: 10 };
const ofChain: Window = { kind: "chain", ms: 60 * MINUTE, max: 600 };

/** Its limits stop it long before it could fill the log, and each guess at a password tells something. */
const NEVER_FOLDED = "user.login.failed";

/**
 * Leaves the entry of a refused request for the writer, or counts it where many came (docs/audit.md,
 * "Repeated refusals"). The counts are rows, shared by all processes: what is folded survives the process.
 */
export async function recordRefusal(trx: Kysely<AuditTables>, { entry, code }: Refusal, now: Date): Promise<void> {
  const { kind, id } = chainOf(entry);
  const like = [kind, id, entry.actorType, entry.actorId, entry.action, code, entry.ipAddress];
  if (entry.action !== NEVER_FOLDED && (await countIn(trx, likeOnes, like, entry, now)) > likeOnes.max) return;
  if ((await countIn(trx, ofChain, [kind, id], entry, now)) > ofChain.max) return;
  await enqueueAudit(trx, [entry]);
}

/** The number of this refusal in its window. */
async function countIn(
  trx: Kysely<AuditTables>,
  window: Window,
  subject: readonly (string | null)[],
  entry: AuditContent,
  now: Date,
): Promise<number> {
  const key = sha256(JSON.stringify([window.kind, ...subject]));
  const last = { lastAt: now.toISOString(), template: canonicalContent(entry) };
  for (;;) {
    const row = await trx
      .insertInto("auditRefusals")
      .values({
        ...last,
        key,
        kind: window.kind,
        count: 1,
        endsAt: new Date(now.getTime() + window.ms).toISOString(),
      })
      .onConflict((conflict) =>
        conflict
          .column("key")
          .doUpdateSet((eb) => ({ ...last, count: eb("auditRefusals.count", "+", 1) }))
          .where("auditRefusals.endsAt", ">", now.toISOString()),
      )
      .returning("count")
      .executeTakeFirst();
    if (row) return row.count;
    await closeWindow(trx, key, now);
  }
}

/** Records what the windows that have ended hold, each in a transaction of its own. Returns how many ended. */
export async function closeRefusalWindows(db: Kysely<AuditTables>, now: Date): Promise<number> {
  const ended = await db
    .selectFrom("auditRefusals")
    .select("key")
    .where("endsAt", "<=", now.toISOString())
    .orderBy("endsAt")
    .execute();
  for (const { key } of ended) await db.transaction().execute((trx) => closeWindow(trx, key, now));
  return ended.length;
}

/** Only what the delete returns is recorded, so it is recorded once, whoever else looks at the window. */
async function closeWindow(trx: Kysely<AuditTables>, key: string, now: Date): Promise<void> {
  const row = await trx
    .deleteFrom("auditRefusals")
    .where("key", "=", key)
    .where("endsAt", "<=", now.toISOString())
    .returning(["kind", "count", "lastAt", "template"])
    .executeTakeFirst();
  if (!row) return;
  const window = row.kind === "like" ? likeOnes : ofChain;
  const repeated = row.count - window.max;
  if (repeated <= 0) return;
  const last = parseCanonicalContent(row.template);
  await enqueueAudit(trx, [summary(last, { kind: row.kind, repeated, now: new Date(row.lastAt) })]);
}

interface Ended {
  readonly kind: Window["kind"];
  readonly repeated: number;
  readonly now: Date;
}

/** Like ones become one more of their kind. Of a chain's only the number is left, under the action of the last. */
function summary(last: AuditContent, { kind, repeated, now }: Ended): AuditContent {
  if (kind === "like") {
    const { requestId: _, ...details } = JSON.parse(last.details) as Record<string, unknown>;
    return auditEntry({ ...last, details: { ...details, repeated } }, { now });
  }
  const { orgId, partnerId, action } = last;
  const nobody = { actorType: "system", actorId: ZERO_UUID };
  return auditEntry({ orgId, partnerId, action, ...nobody, details: { repeated }, result: "denied" }, { now });
}
