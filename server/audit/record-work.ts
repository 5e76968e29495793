import type { Tx } from "../db/unit-of-work.ts";
import type { Services } from "../services.ts";
import { ZERO_UUID } from "./chain.ts";
import { type AuditEvent, auditEntry } from "./entry.ts";
import { auditHandle } from "./handle.ts";
import { enqueueAudit } from "./outbox.ts";

type Work = Omit<AuditEvent, "actorType" | "actorId" | "result">;

/** Leaves the entry of what a worker did, in the transaction of the change. Call `wakeAuditWriter` after it. */
export async function recordWork(tx: Tx, { clock, random }: Pick<Services, "clock" | "random">, work: Work) {
  const event = { ...work, actorType: "system", actorId: ZERO_UUID, result: "success" };
  const entry = auditEntry(event, { now: new Date(clock.now()), id: random.uuid() });
  await enqueueAudit(auditHandle(tx), [entry]);
}
