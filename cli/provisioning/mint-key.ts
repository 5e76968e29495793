import { randomUUID } from "node:crypto";
import type { RmmClient } from "#sdk/client";
import { RmmError } from "#sdk/errors";
import { CliError } from "../errors/cli-error.ts";
import { GENERATIONS, tooManyGenerations } from "./create-once.ts";
import { isAsMinted, rotation } from "./diff-keys.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import type { LiveKey } from "./live.ts";
import { type FileKey, foldName } from "./model.ts";
import { replayOf } from "./replay.ts";
import type { Sender } from "./sender.ts";

export interface Minting {
  readonly rmm: RmmClient;
  readonly sender: Sender;
  readonly idempotencyKey: IdempotencyKeys;
  readonly orgId: string;
  readonly key: FileKey;
  /** Null: any site. */
  readonly siteId: string | null;
  readonly nowMs: number;
}

export interface Minted {
  readonly id: string;
  readonly secret: string;
}

/** Idempotency keys of one enrollment key: from what the file says, never from the clock. */
const memoryKey = (
  { idempotencyKey, orgId, key, siteId }: Pick<Minting, "idempotencyKey" | "orgId" | "key" | "siteId">,
  generation: number,
): string =>
  idempotencyKey([
    "enrollmentKey",
    orgId,
    foldName(key.name),
    siteId,
    key.maxUsage ?? 1,
    key.expiresAt ?? key.expiresInMs ?? null,
    generation,
  ]);

/**
 * Mints a key that the server did not have when the plan was made. `expiresIn` counts from now, so a rerun would
 * send another body: the server then says that it remembers the key, and its secret is fetched instead.
 */
export async function mintKey(minting: Minting): Promise<Minted> {
  const { rmm, sender } = minting;
  const body = bodyOf(minting);
  for (let generation = 0; generation < GENERATIONS; generation++) {
    const options = { idempotencyKey: memoryKey(minting, generation), retries: 0 };
    try {
      const mint = () => rmm.enrollmentKeys.create({ body }, options).withResponse();
      const { data, response } = await sender.send(mint, { repeatable: true });
      const { replayed, secret } = replayOf(response);
      if (!replayed || secret === "current") return { id: data.id, secret: data.key };
      if (secret === "stale") throw secretLost(minting.key, data);
    } catch (error) {
      if (!isReused(error)) throw error;
      const live = await awaitKey(minting);
      if (live) return fetchSecret({ ...minting, live });
    }
  }
  throw tooManyGenerations();
}

function bodyOf({ orgId, key, siteId, nowMs }: Minting) {
  const expiresAt = key.expiresAt ?? (key.expiresInMs === undefined ? undefined : iso(nowMs + key.expiresInMs));
  return {
    name: key.name,
    orgId,
    maxUsage: key.maxUsage ?? 1,
    ...(siteId === null ? {} : { siteId }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isReused = (error: unknown): boolean => error instanceof RmmError && error.code === "IDEMPOTENCY_KEY_REUSED";

const LOOKS = 5;

/** The key that an earlier run is minting or has minted; undefined when it was removed since. */
async function awaitKey(minting: Minting): Promise<LiveKey | undefined> {
  for (let look = 1; ; look++) {
    const found = (await listKeys(minting)).filter(({ name }) => foldName(name) === foldName(minting.key.name));
    if (found.length > 0 || look === LOOKS) return found[0];
    await minting.sender.pause(1_000, `another run is minting ${minting.key.name}`);
  }
}

function listKeys({ rmm, sender, orgId }: Minting): Promise<LiveKey[]> {
  return sender.send(() => rmm.enrollmentKeys.list({ query: { orgId, limit: 100 } }).toArray());
}

export interface Fetching extends Omit<Minting, "nowMs"> {
  readonly live: LiveKey;
}

/**
 * The secret of a key that an earlier run minted and did not deliver, from the server's memory of that request.
 * A request that would mint a second key is never sent: a probe that cannot succeed asks first whether the server
 * remembers.
 */
export async function fetchSecret(fetching: Fetching): Promise<Minted> {
  const { rmm, sender, key, live } = fetching;
  for (let generation = 0; isAsMinted(live) && generation < GENERATIONS; generation++) {
    const options = { idempotencyKey: memoryKey(fetching, generation), retries: 0 };
    if (!(await remembers(fetching, options.idempotencyKey))) break;
    try {
      const mint = () => rmm.enrollmentKeys.create({ body: bodyAsSent(fetching) }, options).withResponse();
      const { data, response } = await sender.send(mint, { repeatable: true });
      if (data.id === live.id && replayOf(response).secret === "current") return { id: data.id, secret: data.key };
    } catch (error) {
      if (!isReused(error)) throw error;
    }
  }
  throw secretLost(key, live);
}

const secretLost = (key: FileKey, made: { readonly id: string }): CliError =>
  new CliError("The key exists, but its secret was never written", {
    exit: "partial",
    code: "SECRET_LOST",
    hint: `Rotate it: \`${rotation(key, made, [])}\``,
  });

/** What the earlier run sent: its clock stands in the key's expiry. */
function bodyAsSent({ orgId, key, siteId, live }: Fetching) {
  const named = key.expiresAt !== undefined || key.expiresInMs !== undefined;
  return {
    name: live.name,
    orgId,
    maxUsage: key.maxUsage ?? 1,
    ...(siteId === null ? {} : { siteId }),
    ...(named ? { expiresAt: key.expiresAt ?? live.expiresAt } : {}),
  };
}

/** A remembered key answers "used with another body"; an unknown one fails because the site does not exist. */
async function remembers({ rmm, sender, orgId, key }: Fetching, memory: string): Promise<boolean> {
  const body = { name: key.name, orgId, maxUsage: 1, siteId: randomUUID() };
  try {
    const ask = () => rmm.enrollmentKeys.create({ body }, { idempotencyKey: memory, retries: 0 });
    await sender.send(ask, { repeatable: true });
  } catch (error) {
    if (isReused(error)) return true;
    const refused = error instanceof RmmError && error.outcome === "rejected" && (error.status ?? 0) < 500;
    if (refused && error.code !== "RATE_LIMITED" && error.code !== "IDEMPOTENCY_IN_FLIGHT") return false;
    throw error;
  }
  throw new CliError("The server accepted a site that does not exist", { exit: "failure", code: "PROBE_ACCEPTED" });
}
