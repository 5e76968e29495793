import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { asSystem } from "#server/db/as-system";
import type { Services } from "#server/services";
import { appendAnchor } from "./anchor-file.ts";
import { anchorSigner } from "./anchor-signing.ts";
import { type AnchorOptions, anchorGrownChains } from "./anchors.ts";
import { recordRefusal } from "./fold-refusals.ts";
import { auditHandle } from "./handle.ts";
import { claimPostgresWriter } from "./postgres-writer.ts";
import { RefusalLog } from "./refusal-log.ts";
import type { VerifyOptions } from "./verify-in-worker.ts";
import { type AuditWriter, auditWriter } from "./writer.ts";

/** The writer of this process, as the configuration has it. */
export function writerOf(services: Services): AuditWriter {
  return auditWriter(auditHandle(asSystem(services, "write audit chain")), {
    ...(services.store.dialect === "postgres" ? { claim: claimPostgresWriter } : {}),
    onError: (error, attempt) => services.log.error("audit.writer_failed", { error: error as Error, attempt }),
  });
}

/** The record of refused requests, as the configuration has it. */
export const refusalLog = ({ store, clock, log, metrics }: Pick<Services, "store" | "clock" | "log" | "metrics">) =>
  new RefusalLog({
    write: (refusals) =>
      asSystem({ store, log }, "record refusal")
        .transaction()
        .execute(async (trx) => {
          for (const refusal of refusals) await recordRefusal(auditHandle(trx), refusal, new Date(clock.nowMs()));
        }),
    log,
    onLost: (count) => metrics.lostRefusals.set(count),
  });

/** Ed25519 public key of the anchors (SPKI base64); null where they are unsigned. */
export const anchorPublicKey = (services: Pick<Services, "config">): string | null =>
  services.config.anchorSigningKey === undefined ? null : anchorSigner(services.config.anchorSigningKey).publicKey;

/** Also writes each anchor to the anchor file and the log (docs/audit.md, "Anchors"). */
export function anchorOptions({ config, clock, log, store }: Services): AnchorOptions {
  return {
    now: () => new Date(clock.nowMs()),
    key: store.key,
    signer: config.anchorSigningKey === undefined ? undefined : anchorSigner(config.anchorSigningKey),
    async keep(anchor) {
      log.info("audit.anchor", { ...anchor });
      mkdirSync(dirname(config.anchorFile), { recursive: true, mode: 0o700 });
      await appendAnchor(config.anchorFile, anchor);
    },
  };
}

/** Anchors every chain that grew since its last anchor. */
export async function anchorGrowth(services: Services): Promise<void> {
  await anchorGrownChains(auditHandle(asSystem(services, "write audit chain")), anchorOptions(services));
}

/** Where and against what a chain is verified. */
export function verifyOptions(services: Services): VerifyOptions {
  const { file, url } = services.store;
  const key = anchorPublicKey(services);
  return {
    database: file === undefined ? { url: url as string } : { file },
    publicKeys: key === null ? [] : [key],
    anchorFile: services.config.anchorFile,
  };
}
