import type { Tx } from "../db/unit-of-work.ts";
import type { Services } from "../services.ts";
import { ZERO_UUID } from "./chain.ts";
import { type AuditEvent, auditEntry } from "./entry.ts";
import { auditHandle } from "./handle.ts";
import { enqueueAudit } from "./outbox.ts";

type Said = "actorType" | "actorId" | "result";
type Work = Omit<AuditEvent, Said> & Partial<Pick<AuditEvent, Said>>;

/**
 * Leaves an entry that no call writes as it closes, in the transaction of the change: of the server's own work, unless it
 * says whose. Call `wakeAuditWriter` after it.
 */
export async function recordWork(tx: Tx, { clock, random }: Pick<Services, "clock" | "random">, work: Work) {
  const event = { actorType: "system", actorId: ZERO_UUID, result: "success", ...work };
  const entry = auditEntry(event, { now: new Date(clock.now()), id: random.uuid() });
  await enqueueAudit(auditHandle(tx), [entry]);
}
