import { exportBundle } from "./audit/bundle.ts";
import { bundleParts } from "./audit/bundle-source.ts";
import { type ChainRef, SYSTEM_CHAIN } from "./audit/chain.ts";
import { auditHandle } from "./audit/handle.ts";
import { anchorPublicKey } from "./audit/keeper.ts";
import type { Config } from "./config.ts";
import { asSystem } from "./db/as-system.ts";
import type { Reader } from "./db/unit-of-work.ts";
import { openStore } from "./open-store.ts";
import { silentLog } from "./platform/log.ts";

/** Whose chain: slug, name or id of an organization or a partner, or the installation's own. */
export type BundleChoice = { org: string } | { partner: string } | { system: true };

export interface OpenBundle {
  chain: ChainRef;
  /** SPKI base64 of the key that signs anchors; null where they are unsigned. */
  publicKey: string | null;
  /** Lines of the bundle, each with its line end. */
  lines: AsyncGenerator<string>;
  /** Entries that wait in the outbox, of any chain, and so are in no chain yet. */
  waiting: number;
  close(): Promise<void>;
}

/**
 * Opens a chain for export directly from the database, whether or not a server runs; undefined for an unknown slug or
 * id. Changes nothing: like `rmm server doctor`, it is for people who may read the database anyway.
 */
export async function openAuditBundle(
  config: Config,
  choice: BundleChoice,
  now: Date,
): Promise<OpenBundle | undefined> {
  const store = openStore(config, silentLog);
  try {
    const db = asSystem({ store, log: silentLog }, "export audit bundle");
    const chain = await findChain(db, choice);
    if (chain === undefined) {
      await store.close();
      return undefined;
    }
    const publicKey = anchorPublicKey({ config });
    const parts = await bundleParts(auditHandle(db), chain, { now, publicKey });
    const counted = await db
      .selectFrom("auditOutbox")
      .select((eb) => eb.fn.countAll<number>().as("entries"))
      .executeTakeFirstOrThrow();
    return {
      ...{ chain, publicKey, lines: exportBundle(parts), waiting: Number(counted.entries) },
      close: () => store.close(),
    };
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function findChain(db: Reader, choice: BundleChoice): Promise<ChainRef | undefined> {
  if ("system" in choice) return SYSTEM_CHAIN;
  const [kind, given] =
    "org" in choice ? (["organization", choice.org] as const) : (["partner", choice.partner] as const);
  // A chain outlives its owner's row, so an id is taken at its word.
  if (uuid.test(given)) return { kind, id: given.toLowerCase() };
  const table = kind === "organization" ? "organizations" : "partners";
  const bySlug = await db.selectFrom(table).select("id").where("slug", "=", given.toLowerCase()).limit(2).execute();
  const rows =
    bySlug.length > 0 ? bySlug : await db.selectFrom(table).select("id").where("name", "=", given).limit(2).execute();
  return rows.length === 1 ? { kind, id: rows[0]!.id } : undefined;
}
