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

/** An owner of a chain that a name may mean. */
export interface Candidate {
  readonly id: string;
  readonly name: string;
  /** Slug of the partner of an organization. */
  readonly partner?: string;
}

/**
 * Opens a chain for export directly from the database, whether or not a server runs; for a name that none or several
 * have, those who have it. Changes nothing: like `rmm server doctor`, it is for people who may read the database anyway.
 */
export async function openAuditBundle(
  config: Config,
  choice: BundleChoice,
  now: Date,
): Promise<OpenBundle | { readonly candidates: readonly Candidate[] }> {
  const store = openStore(config, silentLog);
  try {
    const db = asSystem({ store, log: silentLog }, "export audit bundle");
    const chain = await findChain(db, choice);
    if (!("kind" in chain)) {
      await store.close();
      return { candidates: chain };
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

/** The chain, or every row that the name fits where that is not one. */
async function findChain(db: Reader, choice: BundleChoice): Promise<ChainRef | readonly Candidate[]> {
  if ("system" in choice) return SYSTEM_CHAIN;
  const [kind, given] =
    "org" in choice ? (["organization", choice.org] as const) : (["partner", choice.partner] as const);
  // A chain outlives its owner's row, so an id is taken at its word.
  if (uuid.test(given)) return { kind, id: given.toLowerCase() };
  const called = async (column: "slug" | "name", value: string): Promise<Candidate[]> =>
    kind === "partner"
      ? db.selectFrom("partners").select(["id", "name"]).where(column, "=", value).orderBy("id").limit(MOST).execute()
      : db
          .selectFrom("organizations")
          .innerJoin("partners", "partners.id", "organizations.partnerId")
          .select(["organizations.id", "organizations.name", "partners.slug as partner"])
          .where(`organizations.${column}`, "=", value)
          .orderBy("organizations.id")
          .limit(MOST)
          .execute();
  const bySlug = await called("slug", given.toLowerCase());
  const rows = bySlug.length > 0 ? bySlug : await called("name", given);
  return rows.length === 1 ? { kind, id: rows[0]!.id } : rows;
}

const MOST = 20;
