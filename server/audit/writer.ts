import { setImmediate } from "node:timers/promises";
import type { ExpressionBuilder, Kysely, Transaction } from "kysely";
import { interruptibleSleep } from "#server/platform/sleep";
import { appending } from "./busy.ts";
import { type ChainRef, chainOf, parseCanonicalContent, sha256 } from "./chain.ts";
import { HeldChains } from "./held-chains.ts";
import type { AuditTables } from "./tables.ts";

export interface AuditWriterOptions {
  /**
   * Claims the writing for this transaction (`claimPostgresWriter`); false = another replica has it. Not needed where
   * transactions exclude each other.
   */
  claim?(trx: Transaction<AuditTables>): Promise<boolean>;
  /** The partner of an organization, under which lists find its entries; without it they are found by organization. */
  partnerOf?(trx: Transaction<AuditTables>, orgId: string): Promise<string | null>;
  /** Told of each failure, and whose entries stay where it is those of one chain; the writer goes on by itself. */
  onError?(error: unknown, attempt: number, chain?: ChainRef): void;
  /** Told how many entries each batch moved. */
  onMoved?(entries: number): void;
  pollMs?: number;
  backoffMaxMs?: number;
}

/** Moves the outbox into the log. `wake` and `drain` may be called at any time, from anywhere. */
export interface AuditWriter {
  /** Starts polling; wakes only hasten it. */
  start(): void;
  wake(): void;
  /**
   * Resolves when everything that waited at the time of the call is in the log, regardless of which process moved it.
   * Retries without end: `signal` gives up, which rejects.
   */
  drain(signal?: AbortSignal): Promise<void>;
  /** Stops after the batch in hand. What is left waits for the next start. */
  stop(): Promise<void>;
}

interface Waiting {
  id: number;
  orgId: string | null;
  partnerId: string | null;
}

type Round = "empty" | "moved" | "busy";

interface Pause {
  pause: number;
  /** Another server moves entries meanwhile. */
  others?: boolean;
}

const BATCH_MAX = 100;
const LOOK_AHEAD = 1_000;
const BUSY_RETRY_MS = 50;
const BACKOFF_MIN_MS = 100;

/** Makes the writer of one process. `db` is an unscoped handle. Nothing waits for it but `drain`. */
export function auditWriter(db: Kysely<AuditTables>, options: AuditWriterOptions = {}): AuditWriter {
  const { pollMs = 1_000, backoffMaxMs = 30_000 } = options;
  const sleeper = interruptibleSleep();
  let running: Promise<void> | undefined;
  let stopping = false;
  const backoff = (failures: number) => Math.min(backoffMaxMs, BACKOFF_MIN_MS * 2 ** Math.min(failures - 1, 20));

  const loop = async () => {
    const held = new HeldChains(backoff);
    let failures = 0;
    while (!stopping) {
      const { pause, others } = await moveRound(db, options, held).then(
        (round): Pause => {
          failures = 0;
          if (round === "moved") return { pause: 0 };
          if (round === "busy") return { pause: BUSY_RETRY_MS, others: true };
          return { pause: Math.min(pollMs, held.nextMs()) };
        },
        (error: unknown): Pause => {
          failures += 1;
          options.onError?.(error, failures);
          return { pause: backoff(failures) };
        },
      );
      if (pause === 0 || stopping) continue;
      // A wake cuts a pause short; after a failure the pause is the point.
      const wait = () => sleeper.sleep(pause, failures === 0);
      await (others ? appending(wait) : wait());
    }
  };
  const start = () => {
    stopping = false;
    running ??= loop().finally(() => {
      running = undefined;
    });
  };
  return {
    start,
    wake: sleeper.wake,
    async drain(signal) {
      start();
      const last = await retrying(() => lastWaiting(db), signal);
      while (last !== undefined && (await retrying(() => isWaiting(db, last), signal))) {
        signal?.throwIfAborted();
        sleeper.wake();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async stop() {
      stopping = true;
      sleeper.interrupt();
      await running;
    },
  };
}

/**
 * Looks at the oldest entries and moves them, a batch of one chain per transaction. Chains take turns, and one that fails
 * is left alone for a while: neither a tenant with much to write nor an entry that cannot be stored stops the others.
 */
async function moveRound(db: Kysely<AuditTables>, options: AuditWriterOptions, held: HeldChains): Promise<Round> {
  const failed = new Set<Waiting[]>();
  let moved = 0;
  for (const [group, batch] of inTurns(await waitingByChain(db, held.chains()))) {
    // What comes after an entry waits for it.
    if (failed.has(group)) continue;
    const chain = chainOf(group[0]!);
    try {
      const entries = await appending(() => moveBatch(db, batch, options));
      if (entries === "busy") return "busy";
      held.release(chain);
      if (entries > 0) options.onMoved?.(entries);
      moved += entries;
    } catch (error) {
      failed.add(group);
      options.onError?.(error, held.hold(chain), chain);
    }
    // SQLite answers without ever leaving this turn of the event loop; requests must get theirs.
    await setImmediate();
  }
  return moved > 0 ? "moved" : "empty";
}

/** The oldest entries by chain, in their order; also of chains behind those that have very many. */
async function waitingByChain(db: Kysely<AuditTables>, except: readonly ChainRef[]): Promise<Waiting[][]> {
  const look = (passed: readonly ChainRef[]): Promise<Waiting[]> =>
    db
      .selectFrom("auditOutbox")
      .select(["id", "orgId", "partnerId"])
      .where((eb) => eb.and(passed.map((chain) => isNotOf(eb, chain))))
      .orderBy("id")
      .limit(LOOK_AHEAD)
      .execute();
  const oldest = await look(except);
  const groups = byChain(oldest);
  const many = groups.filter((group) => group.length > BATCH_MAX);
  if (oldest.length < LOOK_AHEAD || many.length === 0) return groups;
  return [...many, ...byChain(await look([...except, ...many.map((group) => chainOf(group[0]!))]))];
}

function isNotOf(eb: ExpressionBuilder<AuditTables, "auditOutbox">, { kind, id }: ChainRef) {
  if (kind === "organization") return eb.or([eb("orgId", "is", null), eb("orgId", "!=", id)]);
  if (kind === "system") return eb.or([eb("orgId", "is not", null), eb("partnerId", "is not", null)]);
  return eb.or([eb("orgId", "is not", null), eb("partnerId", "is", null), eb("partnerId", "!=", id)]);
}

/**
 * Puts entries into the log and takes them out of the outbox, in one transaction and in this order: the outbox lets go
 * of what the log holds, and of nothing else. The trigger seals them at commit.
 */
async function moveBatch(
  db: Kysely<AuditTables>,
  batch: Waiting[],
  options: AuditWriterOptions,
): Promise<number | "busy"> {
  return db.transaction().execute(async (trx) => {
    if (options.claim && !(await options.claim(trx))) return "busy";
    const ids = batch.map((waiting) => waiting.id);
    const waiting = await trx
      .selectFrom("auditOutbox")
      .select(["id", "entry"])
      .where("id", "in", ids)
      .orderBy("id")
      .execute();
    if (waiting.length === 0) return 0;
    const reader = await readerOf(trx, batch[0], options);
    const rows = waiting.map(({ entry }) => {
      const canonical = typeof entry === "string" ? entry : JSON.stringify(entry);
      return { ...parseCanonicalContent(canonical), checksum: sha256(canonical), ...reader };
    });
    await trx.insertInto("auditLogs").values(rows).execute();
    const moved = waiting.map(({ id }) => id);
    await trx.deleteFrom("auditOutbox").where("id", "in", moved).execute();
    return rows.length;
  });
}

/** A batch is of one chain. */
async function readerOf(
  trx: Transaction<AuditTables>,
  entry: Waiting | undefined,
  { partnerOf }: AuditWriterOptions,
): Promise<{ readerPartnerId?: string | null }> {
  if (!entry || !partnerOf) return {};
  return { readerPartnerId: entry.orgId === null ? entry.partnerId : await partnerOf(trx, entry.orgId) };
}

/** Keeps the order within each: a transaction that touched two chains could deadlock with another. */
function byChain(waiting: readonly Waiting[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>();
  for (const entry of waiting) {
    const { kind, id } = chainOf(entry);
    const group = groups.get(kind + id);
    if (group) group.push(entry);
    else groups.set(kind + id, [entry]);
  }
  return [...groups.values()];
}

/** A batch of each, then the next of each. */
function* inTurns(groups: readonly Waiting[][]): Generator<[group: Waiting[], batch: Waiting[]]> {
  const turns = Math.ceil(Math.max(0, ...groups.map((group) => group.length)) / BATCH_MAX);
  for (let turn = 0; turn < turns; turn += 1)
    for (const group of groups) {
      const batch = group.slice(turn * BATCH_MAX, (turn + 1) * BATCH_MAX);
      if (batch.length > 0) yield [group, batch];
    }
}

async function lastWaiting(db: Kysely<AuditTables>): Promise<number | undefined> {
  return (await db.selectFrom("auditOutbox").select("id").orderBy("id", "desc").limit(1).executeTakeFirst())?.id;
}

async function isWaiting(db: Kysely<AuditTables>, last: number): Promise<boolean> {
  return (await db.selectFrom("auditOutbox").select("id").where("id", "<=", last).limit(1).execute()).length > 0;
}

async function retrying<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, BACKOFF_MIN_MS));
    }
  }
}
