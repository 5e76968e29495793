import { stat } from "node:fs/promises";
import { join } from "node:path";
import { MINUTE } from "#server/platform/clock";
import type { Services } from "#server/services";
import { statementsFrom } from "./anchor-file.ts";
import { AnchorDiffers, type AnchorTarget } from "./anchor-target.ts";
import { type Delivered, deliveredRecord } from "./delivered-record.ts";

/** A run ends after so long, and the next goes on: the lease that it runs under is not held for a dead place. */
const RUN_MS = 5 * MINUTE;
const KEEP_EVERY = 50;
const TELL_EVERY_MS = 60 * MINUTE;

/**
 * Brings what the anchor file holds to every place that is configured, in the file's order, and from where the last run
 * ended. The file is the outbox: a statement is on disk before anything is sent, and is sent until the place has it. Each
 * place is by itself; one that fails is asked again a minute later, and told of at once and hourly.
 */
export async function deliverAnchors(services: Services): Promise<void> {
  const targets = await anchorTargets(services);
  if (targets.length === 0) return;
  const record = deliveredRecord(join(services.config.dataDir, "anchor-deliveries.json"));
  await Promise.all(targets.map((target) => deliverTo(services, target, record)));
}

/** The places that are configured. What they need is loaded for them alone. */
async function anchorTargets(services: Services): Promise<AnchorTarget[]> {
  const { anchorWebhook, anchorS3 } = services.config;
  return [
    ...(anchorWebhook ? [(await import("./anchor-webhook.ts")).webhookTarget(services, anchorWebhook)] : []),
    ...(anchorS3 ? [(await import("./anchor-s3.ts")).s3Target(services, anchorS3)] : []),
  ];
}

type DeliveredRecord = ReturnType<typeof deliveredRecord>;

async function deliverTo(services: Services, target: AnchorTarget, record: DeliveredRecord): Promise<void> {
  const path = services.config.anchorFile;
  const key = `${target.name} ${target.mark}`;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  const file = `${found.dev} ${found.ino}`;
  let state = await record.read(key);
  // Another file than the last time, or one that was cut: from its beginning.
  if (state.file !== file || found.size < state.offset) state = { ...state, file, offset: 0 };
  const until = performance.now() + RUN_MS;
  let unkept = 0;
  try {
    for await (const { statement, next } of statementsFrom(path, state.offset)) {
      if (performance.now() > until) break;
      if (statement) await deliverOne(services, target, statement);
      state = { file, offset: next, failingSince: null, toldAt: null };
      unkept += 1;
      if (unkept % KEEP_EVERY === 0) await record.write(key, state);
    }
  } catch (error) {
    state = tellFailing(services, target, state, error as Error);
  }
  await record.write(key, state);
  const waiting = await countFrom(path, state.offset);
  services.metrics.undeliveredAnchors.set({ target: target.name }, waiting);
}

async function deliverOne(
  { log }: Services,
  target: AnchorTarget,
  statement: Parameters<AnchorTarget["deliver"]>[0],
): Promise<void> {
  try {
    await target.deliver(statement);
  } catch (error) {
    if (!(error instanceof AnchorDiffers)) throw error;
    // It never will be written: what follows must not wait for it, and somebody must look.
    log.error("audit.anchor_differs", { priority: "p1", target: target.name, error });
  }
}

function tellFailing({ log, clock }: Services, target: AnchorTarget, state: Delivered, error: Error): Delivered {
  const nowMs = clock.nowMs();
  const now = new Date(nowMs).toISOString();
  const failingSince = state.failingSince ?? now;
  if (state.toldAt !== null && nowMs - Date.parse(state.toldAt) < TELL_EVERY_MS) return { ...state, failingSince };
  log.error("audit.anchor_delivery_failed", { target: target.name, since: failingSince, reason: error.message });
  return { ...state, failingSince, toldAt: now };
}

async function countFrom(path: string, offset: number): Promise<number> {
  let waiting = 0;
  for await (const { statement } of statementsFrom(path, offset)) if (statement) waiting += 1;
  return waiting;
}
