import type { Transaction } from "kysely";
import { asSystem } from "#server/db/as-system";
import type { Database } from "#server/db/tables";
import type { Services } from "#server/services";
import { keepStatement } from "./anchor-copies.ts";
import { anchorSigner, anchorVerifier } from "./anchor-signing.ts";
import { type AnchorOptions, AnchorRefused, anchorGrownChains } from "./anchors.ts";
import { recordRefusal } from "./fold-refusals.ts";
import { auditHandle } from "./handle.ts";
import { openIncident } from "./incidents.ts";
import { claimPostgresWriter } from "./postgres-writer.ts";
import { RefusalLog } from "./refusal-log.ts";
import type { PruneSetup } from "./retention.ts";
import type { AuditTables } from "./tables.ts";
import type { VerifyOptions } from "./verify-in-worker.ts";
import { type AuditWriter, auditWriter } from "./writer.ts";

/** The writer of this process, as the configuration has it. */
export function writerOf(services: Services): AuditWriter {
  return auditWriter(auditHandle(asSystem(services, "write audit chain")), {
    ...(services.store.dialect === "postgres" ? { claim: claimPostgresWriter } : {}),
    partnerOf,
    onError: (error, attempt, chain) =>
      services.log.error("audit.writer_failed", { error: error as Error, attempt, ...(chain && { chain }) }),
    onUnwritable: (error, chain) => services.log.error("audit.entry_unwritable", { error: error as Error, chain }),
  });
}

async function partnerOf(trx: Transaction<AuditTables>, orgId: string): Promise<string | null> {
  const whole = trx as unknown as Transaction<Database>;
  const org = await whole.selectFrom("organizations").select("partnerId").where("id", "=", orgId).executeTakeFirst();
  return org?.partnerId ?? null;
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

/** Every key whose signatures count: that of today, and those before it. */
export function trustedAnchorKeys(services: Pick<Services, "config">): string[] {
  const current = anchorPublicKey(services);
  return [...new Set([...(current === null ? [] : [current]), ...services.config.anchorPublicKeys])];
}

/** Each anchor leaves the database twice: into the anchor file and onto the log (docs/audit-format.md, "The anchor file"). */
export function anchorOptions(services: Services): AnchorOptions {
  const { config, clock, store } = services;
  const verifiers = trustedAnchorKeys(services).map(anchorVerifier);
  return {
    now: () => new Date(clock.nowMs()),
    key: store.key,
    signer: config.anchorSigningKey === undefined ? undefined : anchorSigner(config.anchorSigningKey),
    trusts: (record) => verifiers.length === 0 || verifiers.some((valid) => valid(record)),
    keep: (anchor) => keepStatement(services, anchor),
  };
}

/** Anchors every chain that grew since its last anchor. A chain that contradicts it gets none, and an incident. */
export async function anchorGrowth(services: Services): Promise<void> {
  await anchorGrownChains(auditHandle(asSystem(services, "write audit chain")), {
    ...anchorOptions(services),
    async failed(chain, error) {
      if (error instanceof AnchorRefused) await openIncident(services, chain, { reason: error.message });
      else services.log.error("audit.anchor_failed", { chain, error: error as Error });
    },
  });
}

/** Where and against what a chain is verified. */
export function verifyOptions(services: Services): VerifyOptions {
  const { file, url } = services.store;
  return {
    database: file === undefined ? { url: url as string } : { file },
    publicKeys: trustedAnchorKeys(services),
    anchorFile: services.config.anchorFile,
    onFileError: (message) => services.log.error("audit.anchor_file_unavailable", { reason: message }),
  };
}

/** What retention works with; undefined where nothing may remove audit rows. */
export function pruneSetup({ store, config }: Pick<Services, "store" | "config">): PruneSetup | undefined {
  const { anchorSigningKey: signingKey, auditAdminDatabaseUrl: url, encryptionKey } = config;
  if (store.file !== undefined) return { database: { file: store.file }, signingKey };
  return url === undefined ? undefined : { database: { url, encryptionKey }, signingKey };
}
