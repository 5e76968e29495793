import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import { queueMail } from "#server/jobs/mail-queue";
import { after, DAY } from "#server/platform/clock";
import type { Mail } from "#server/platform/mail";
import type { Services } from "#server/services";
import type { ChainRef } from "./chain.ts";
import { auditEntry } from "./entry.ts";
import { auditHandle } from "./handle.ts";
import { enqueueAudit } from "./outbox.ts";
import type { AuditVerify } from "./verify-result.ts";

/** Why a chain does not hold: what a verification found, or what stopped another part of the server before one ran. */
export type Finding = Pick<AuditVerify, "breakCount" | "breaks" | "anchors"> | { reason: string };

const SHOWN = 5;

/** What a verification means for the chain's incident: a broken one opens it, one that passes closes it. */
export async function recordVerdict(services: Services, chain: ChainRef, result: AuditVerify): Promise<void> {
  if (!result.ok) return openIncident(services, chain, result);
  const closed = await asSystem(services, "tell of broken chains")
    .transaction()
    .execute(async (tx) => {
      const row = await tx
        .deleteFrom("auditIncidents")
        .where("chainKind", "=", chain.kind)
        .where("chainId", "=", chain.id)
        .returning("openedAt")
        .executeTakeFirst();
      if (row) await services.hooks.onChainHolds({ tx, now: services.clock.now(), chain, services });
      return row;
    });
  if (!closed) return;
  services.log.info("audit.chain_holds_again", { chain, openedAt: closed.openedAt });
  await countBrokenChains(services);
}

/**
 * A chain has at most one incident open. Opening it leaves an entry in the system chain, a mail to every platform
 * administrator and a notification to whoever may verify the chain; while it stays open, whoever finds it broken again
 * tells them once a day.
 */
export async function openIncident(services: Services, chain: ChainRef, finding: Finding): Promise<void> {
  services.log.error("audit.chain_broken", { severity: "p1", chain, ...shown(finding) });
  const opened = await asSystem(services, "tell of broken chains")
    .transaction()
    .execute(async (tx) => {
      const now = services.clock.now();
      const step = await claim(tx, chain, now);
      if (step === "known") return false;
      if (step === "opened") await enqueueAudit(auditHandle(tx), [entryOf(services, chain, finding)]);
      const admins = await tx
        .selectFrom("users")
        .select("email")
        .where("isPlatformAdmin", "=", true)
        .where("status", "=", "active")
        .execute();
      for (const { email } of admins) await queueMail(tx, services, mailOf(email, chain, finding));
      await services.hooks.onChainBroken({ tx, now, chain, services });
      return step === "opened";
    });
  if (opened) services.wakeAuditWriter();
  await countBrokenChains(services);
}

/** Sets the gauge to the number of open incidents of the whole installation. */
export async function countBrokenChains(services: Services): Promise<void> {
  const counted = await asSystem(services, "tell of broken chains")
    .selectFrom("auditIncidents")
    .select((eb) => eb.fn.countAll<number | string>().as("open"))
    .executeTakeFirstOrThrow();
  services.metrics.brokenChains.set(Number(counted.open));
}

async function claim(tx: Tx, { kind, id }: ChainRef, now: string): Promise<"opened" | "due" | "known"> {
  const inserted = await tx
    .insertInto("auditIncidents")
    .values({ chainKind: kind, chainId: id, openedAt: now, notifiedAt: now })
    .onConflict((conflict) => conflict.columns(["chainKind", "chainId"]).doNothing())
    .returning("openedAt")
    .executeTakeFirst();
  if (inserted) return "opened";
  const due = await tx
    .updateTable("auditIncidents")
    .set({ notifiedAt: now })
    .where("chainKind", "=", kind)
    .where("chainId", "=", id)
    .where("notifiedAt", "<=", after(now, -DAY))
    .returning("openedAt")
    .executeTakeFirst();
  return due ? "due" : "known";
}

function shown(finding: Finding) {
  if ("reason" in finding) return { reason: finding.reason };
  const { breakCount, breaks, anchors } = finding;
  return {
    breakCount,
    breaks: breaks.slice(0, SHOWN),
    problems: anchors.problems.filter(({ reason }) => reason !== "count_shrank").slice(0, SHOWN),
  };
}

const entryOf = (services: Services, chain: ChainRef, finding: Finding) =>
  auditEntry(
    {
      action: "audit_logs.verify",
      actorType: "system",
      resourceType: "audit_chain",
      resourceId: chain.id,
      resourceName: chain.kind,
      details: { ok: false, chainKind: chain.kind, ...shown(finding) },
      result: "failure",
      errorMessage: "the chain does not hold",
    },
    { now: new Date(services.clock.nowMs()) },
  );

function mailOf(to: string, chain: ChainRef, finding: Finding): Mail {
  const name = chain.kind === "system" ? "the system" : `${chain.kind} ${chain.id}`;
  const choice = { system: "--system", partner: `--partner ${chain.id}`, organization: `--org ${chain.id}` }[
    chain.kind
  ];
  return {
    to,
    subject: `Audit record of ${name} does not hold`,
    text: [
      `The audit record of ${name} was changed behind the server's back, or parts of it were removed.`,
      ...findingLines(finding),
      "Keep the database, the anchor file and the log as they are. See all of it with:",
      `  rmm audit verify ${choice}`,
      "Until a verification passes you are told once a day, and retention removes nothing of this chain.",
    ].join("\n\n"),
  };
}

function findingLines(finding: Finding): string[] {
  if ("reason" in finding) return [`  ${finding.reason}`];
  const { breakCount, breaks, anchors } = finding;
  const lines = [
    ...breaks.map(({ kind, chainSeq }) => (chainSeq === null ? `  ${kind}` : `  ${kind} at position ${chainSeq}`)),
    ...anchors.problems
      .filter(({ reason }) => reason !== "count_shrank")
      .map(({ reason, anchorSeq }) => `  ${reason}: anchor ${anchorSeq}`),
  ];
  return [
    `${breakCount} breaks, ${lines.length - breaks.length} anchors that contradict it:`,
    lines.slice(0, SHOWN).join("\n"),
  ];
}
