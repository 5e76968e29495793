import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import type { Mail } from "#server/platform/mail";
import type { Services } from "#server/services";
import { enqueueJob, type JobHandler } from "./queue.ts";

const ATTEMPTS_MAX = 10;

/**
 * Queues a mail in the transaction that gives it its reason. The text is sealed while it waits, because it
 * carries one-time links, and is dropped once the mail is sent or given up.
 */
export async function queueMail(
  tx: Tx,
  services: Pick<Services, "clock" | "random" | "vault">,
  mail: Mail,
): Promise<void> {
  const id = services.random.uuid();
  await tx
    .insertInto("mailOutbox")
    .values({
      id,
      recipient: mail.to,
      subject: mail.subject,
      bodySealed: services.vault.seal(mail.text, sealedFor(id)),
      status: "queued",
      attempts: 0,
      lastError: null,
      createdAt: services.clock.now(),
      sentAt: null,
    })
    .execute();
  await enqueueJob(tx, services, { kind: "mail.send", payload: { mailId: id }, maxAttempts: ATTEMPTS_MAX });
}

/** The job behind `queueMail`. A mail whose sender died after handing it over is sent twice, never not at all. */
export const sendQueuedMail: JobHandler = async (services, payload) => {
  const db = asSystem(services, "run jobs");
  const mailId = payload["mailId"] as string;
  const mail = await db.selectFrom("mailOutbox").selectAll().where("id", "=", mailId).executeTakeFirst();
  if (mail?.status !== "queued" || mail.bodySealed === null) return;
  const settle = (change: {
    status?: "sent" | "failed";
    bodySealed?: null;
    sentAt?: string;
    lastError: string | null;
  }) =>
    db
      .updateTable("mailOutbox")
      .set({ ...change, attempts: mail.attempts + 1 })
      .where("id", "=", mail.id)
      .where("status", "=", "queued")
      .execute();
  try {
    const text = services.vault.open(mail.bodySealed, sealedFor(mail.id));
    await services.mailer.send({ to: mail.recipient, subject: mail.subject, text });
  } catch (error) {
    const lastError = (error as Error).message.slice(0, 500);
    const spent = mail.attempts + 1 >= ATTEMPTS_MAX;
    await settle({ lastError, ...(spent && { status: "failed" as const, bodySealed: null }) });
    throw error;
  }
  await settle({ status: "sent", bodySealed: null, sentAt: services.clock.now(), lastError: null });
};

const sealedFor = (mailId: string) => `mail:${mailId}`;
