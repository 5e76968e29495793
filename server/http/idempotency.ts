import canonicalize from "canonicalize";
import type { ExpressionBuilder } from "kysely";
import { asSystem } from "#server/db/as-system";
import type { Database } from "#server/db/tables";
import type { Tx } from "#server/db/unit-of-work";
import { after, DAY, MINUTE } from "#server/platform/clock";
import { openWith, sealWith } from "#server/platform/vault";
import { problem } from "#server/problem";
import type { Services } from "#server/services";

/** What a replay gives back. */
export interface Remembered {
  readonly status: number;
  readonly body: unknown;
}

export interface IdempotentRequest {
  readonly caller: string;
  readonly method: string;
  readonly path: string;
  /** The client's `X-Idempotency-Key`. */
  readonly key: string;
  readonly body: unknown;
  /** The response shows a secret once: it is kept sealed. */
  readonly secret: boolean;
}

/** A request that may run; `finish` belongs into the transaction of its effect. */
export interface IdempotentRun {
  finish(tx: Tx, response: Remembered): Promise<void>;
  /** Frees the key after a refused or failed request. */
  abandon(): Promise<void>;
}

/** A run that hangs is taken over after this long; one whose process is gone at once. */
const RUN_LEASE_MS = MINUTE;

export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (!/^[\x20-\x7e]{8,128}$/.test(header)) {
    throw problem("VALIDATION_ERROR", {
      message: "X-Idempotency-Key must be 8 to 128 printable ASCII characters",
      details: [{ path: "X-Idempotency-Key", message: "must be 8 to 128 printable ASCII characters" }],
    });
  }
  return header;
}

/**
 * Starts a request that must take effect at most once (docs/conventions.md, "Idempotency keys"). Only MACs of the
 * client's key and of the body are stored. A response with a secret is encrypted under the server's key and the
 * client's: neither the database nor a guessed key alone opens it.
 */
export async function beginIdempotent(
  services: Services,
  request: IdempotentRequest,
): Promise<IdempotentRun | Remembered> {
  const { vault, clock, random } = services;
  const scope = JSON.stringify([request.caller, request.method, request.path]);
  const requestHash = vault.mac(`${scope}${request.key}`, "idempotency-request");
  const bodyHash = vault.mac(canonicalize(request.body ?? null) as string, "idempotency-body");
  const db = asSystem(services, "idempotency");
  const owner = random.uuid();
  const fresh = {
    id: random.uuid(),
    requestHash,
    bodyHash,
    state: "running" as const,
    owner,
    processId: services.processId,
    status: null,
    response: null,
    sealed: false,
    salt: null,
    createdAt: clock.now(),
    expiresAt: after(clock.now(), RUN_LEASE_MS),
  };
  // Inserts, or takes over a record whose run died or whose memory expired; one statement, so only one of two callers
  // can win.
  const won = await db
    .insertInto("idempotencyKeys")
    .values(fresh)
    .onConflict((conflict) =>
      conflict
        .column("requestHash")
        .doUpdateSet({
          state: "running",
          owner,
          processId: services.processId,
          bodyHash,
          expiresAt: fresh.expiresAt,
          response: null,
          salt: null,
          sealed: false,
        })
        .where((eb) => eb.or([eb("idempotencyKeys.expiresAt", "<=", clock.now()), isOrphaned(eb, services)])),
    )
    .returning("owner")
    .executeTakeFirst();
  if (won?.owner === owner) return run(services, { requestHash, owner, scope, request });
  const row = await db
    .selectFrom("idempotencyKeys")
    .selectAll()
    .where("requestHash", "=", requestHash)
    .executeTakeFirst();
  if (row && row.bodyHash !== bodyHash) throw problem("IDEMPOTENCY_KEY_REUSED");
  if (!row || row.state === "running" || row.response === null)
    throw problem("IDEMPOTENCY_IN_FLIGHT", { retryAfterSeconds: 1 });
  const text = row.sealed
    ? openWith(vault.derive(request.key, Buffer.from(row.salt as string, "hex"), scope), row.response, requestHash)
    : row.response;
  return { status: row.status as number, body: JSON.parse(text) };
}

/** A run of a process that no longer renews its lease; this one's own are alive as long as it runs. */
const isOrphaned = (eb: ExpressionBuilder<Database, "idempotencyKeys">, { clock, processId }: Services) =>
  eb.and([
    eb("idempotencyKeys.state", "=", "running"),
    eb("idempotencyKeys.processId", "is distinct from", processId),
    eb.not(
      eb.exists(
        eb
          .selectFrom("leases")
          .select("leases.name")
          .whereRef("leases.holder", "=", "idempotencyKeys.processId")
          .where("leases.expiresAt", ">", clock.now()),
      ),
    ),
  ]);

interface RunContext {
  requestHash: string;
  owner: string;
  scope: string;
  request: IdempotentRequest;
}

function run(services: Services, { requestHash, owner, scope, request }: RunContext): IdempotentRun {
  const own = (tx: Tx) =>
    tx
      .updateTable("idempotencyKeys")
      .where("requestHash", "=", requestHash)
      .where("owner", "=", owner)
      .where("state", "=", "running");
  return {
    async finish(tx, response) {
      const salt = services.random.bytes(32);
      const text = JSON.stringify(response.body);
      const kept = request.secret
        ? sealWith(services.vault.derive(request.key, salt, scope), services.random.bytes(12), text, requestHash)
        : text;
      const done = await own(tx)
        .set({
          state: "done",
          status: response.status,
          response: kept,
          sealed: request.secret,
          salt: salt.toString("hex"),
          expiresAt: after(services.clock.now(), DAY),
        })
        .executeTakeFirst();
      // Another run took this request over while this one hung: that run's effect counts, this one is rolled back.
      if (done.numUpdatedRows !== 1n) throw problem("IDEMPOTENCY_IN_FLIGHT", { retryAfterSeconds: 1 });
    },
    async abandon() {
      await asSystem(services, "idempotency")
        .deleteFrom("idempotencyKeys")
        .where("requestHash", "=", requestHash)
        .where("owner", "=", owner)
        .where("state", "=", "running")
        .execute();
    },
  };
}
