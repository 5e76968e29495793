import type { RmmClient } from "#sdk/client";
import { RmmError } from "#sdk/errors";
import { CliError } from "../errors/cli-error.ts";
import { type Replay, replayOf } from "../provisioning/replay.ts";
import type { Sender } from "../provisioning/sender.ts";
import type { Rotation } from "./journal.ts";

/** The new key; `id` changes if rotation creates a new row. */
export interface Rotated {
  readonly id: string;
  readonly keyPrefix: string | null;
  readonly secret: string;
}

/** An answer from the server's memory may tell a secret that somebody has replaced since. */
type Answer = Rotated & { readonly replay: Replay };

/**
 * Rotates one key under the idempotency key of its journal entry: a repeat within a day gives the same secret. After
 * that it rotates again, which does no harm because the previous secret was never received.
 */
export async function rotateKey(rmm: RmmClient, sender: Sender, rotation: Rotation): Promise<Rotated> {
  const { replay, ...rotated } = await answerOf(rmm, sender, rotation);
  if (!replay.replayed || replay.secret === "current") return rotated;
  throw new CliError("The key was rotated again or ended since, so the secret of this rotation no longer works", {
    exit: "conflict",
    code: "ROTATED_SINCE",
    hint: "Nothing was lost by this run; rotate it again if you need a secret yourself",
  });
}

function answerOf(rmm: RmmClient, sender: Sender, rotation: Rotation): Promise<Answer> {
  const { kind, idempotencyKey } = rotation;
  const send = tellingSender(sender);
  // This sees every attempt, not only the last.
  const calls = { rmm, send, rotation, options: { idempotencyKey, retries: 0 } };
  if (kind === "api-key") return ofApiKey(calls);
  if (kind === "service-principal") return ofServicePrincipal(calls);
  return kind === "partner-key" ? ofPartnerKey(calls) : ofEnrollmentKey(calls);
}

/** Refusals of the caller, which the server checks before it looks for a stored answer. */
const saysNothing = new Set([401, 403, 429]);

/** Sends calls. If an earlier attempt got no answer, the refusal of a later one does not mean that nothing was done. */
function tellingSender(sender: Sender): Calls["send"] {
  return async (call) => {
    let mayBeDone = false;
    const attempt = async () => {
      try {
        return await call();
      } catch (error) {
        mayBeDone ||= error instanceof RmmError && error.outcome === "unknown";
        throw error;
      }
    };
    return sender.send(attempt, { repeatable: true }).catch((error: unknown) => {
      if (!mayBeDone || !(error instanceof RmmError) || !saysNothing.has(error.status ?? 0)) throw error;
      throw new CliError(`${error.message}; an earlier attempt may have been carried out`, {
        exit: "unknown",
        code: "OUTCOME_UNKNOWN",
        cause: error,
      });
    });
  };
}

interface Calls {
  readonly rmm: RmmClient;
  readonly rotation: Rotation;
  readonly options: { readonly idempotencyKey: string; readonly retries: number };
  send<T>(call: () => PromiseLike<T>): Promise<T>;
}

async function ofApiKey({ rmm, rotation, options, send }: Calls): Promise<Answer> {
  const params = { id: rotation.id };
  const { data, response } = await send(() => rmm.apiKeys.rotate({ params }, options).withResponse());
  return {
    id: data.id,
    keyPrefix: data.keyPrefix,
    secret: data.key,
    replay: replayOf(response),
  };
}

async function ofServicePrincipal({ rmm, rotation, options, send }: Calls): Promise<Answer> {
  const params = { id: rotation.principalId as string };
  const { data, response } = await send(() => rmm.servicePrincipals.rotate({ params }, options).withResponse());
  return {
    id: data.apiKeyId,
    keyPrefix: data.keyPrefix,
    secret: data.key,
    replay: replayOf(response),
  };
}

async function ofPartnerKey({ rmm, rotation, options, send }: Calls): Promise<Answer> {
  const params = { id: rotation.principalId as string, keyId: rotation.id };
  const { data, response } = await send(() =>
    rmm.partnerServicePrincipals.rotateKey({ params }, options).withResponse(),
  );
  return {
    id: data.keyId,
    keyPrefix: data.keyPrefix,
    secret: data.key,
    replay: replayOf(response),
  };
}

/** Keys of the principal; in system scope the list of the caller says which partner it belongs to. */
async function partnerKeysOf({ rmm, rotation, send }: Pick<Calls, "rmm" | "rotation" | "send">) {
  const query = rotation.partnerId === undefined ? {} : { partnerId: rotation.partnerId };
  const principals = await send(() => rmm.partnerServicePrincipals.list({ query }).toArray());
  return principals.find(({ id }) => id === rotation.principalId)?.keys ?? [];
}

/** The key that replaced this one in an earlier run whose stored answer has expired; undefined if there is none. */
export async function successorOf(rmm: RmmClient, sender: Sender, rotation: Rotation): Promise<string | undefined> {
  const send = <T>(call: () => PromiseLike<T>) => sender.send(call, { repeatable: true });
  const keys = await partnerKeysOf({ rmm, rotation, send });
  return keys.find(({ rotatedFromId, status }) => rotatedFromId === rotation.id && status === "active")?.id;
}

export const isSpent = (error: unknown): boolean => error instanceof RmmError && error.code === "INVALID_STATE";

async function ofEnrollmentKey({ rmm, rotation, options, send }: Calls): Promise<Answer> {
  const params = { id: rotation.id };
  const body = rotation.expiresAt === undefined ? {} : { expiresAt: rotation.expiresAt };
  const { data, response } = await send(() => rmm.enrollmentKeys.rotate({ params, body }, options).withResponse());
  return {
    id: data.id,
    keyPrefix: null,
    secret: data.key,
    replay: replayOf(response),
  };
}
