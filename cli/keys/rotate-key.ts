import type { RmmClient } from "#sdk/client";
import { RmmError } from "#sdk/errors";
import { CliError } from "../errors/cli-error.ts";
import type { Sender } from "../provisioning/sender.ts";
import type { Rotation } from "./journal.ts";

/** The new key; `id` changes if rotation creates a new row. */
export interface Rotated {
  readonly id: string;
  readonly keyPrefix: string | null;
  readonly secret: string;
}

interface Answer extends Rotated {
  /** The answer is a replay: someone may have rotated the key again since. */
  readonly replayed: boolean;
  /** Whether the key still has this secret. */
  isCurrent(): Promise<boolean>;
}

/**
 * Rotates one key under the idempotency key of its journal entry: a repeat within a day gives the same secret. After
 * that it rotates again, which does no harm because the previous secret was never received.
 */
export async function rotateKey(rmm: RmmClient, sender: Sender, rotation: Rotation): Promise<Rotated> {
  const { id, keyPrefix, secret, replayed, isCurrent } = await answerOf(rmm, sender, rotation);
  if (!replayed || (await isCurrent())) return { id, keyPrefix, secret };
  throw new CliError("The key has since been rotated again by someone else, who has its secret", {
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

const isReplay = (response: { headers: { get(name: string): string | null } }): boolean =>
  response.headers.get("idempotency-replayed") === "true";

async function ofApiKey({ rmm, rotation, options, send }: Calls): Promise<Answer> {
  const params = { id: rotation.id };
  const { data, response } = await send(() => rmm.apiKeys.rotate({ params }, options).withResponse());
  return {
    id: data.id,
    keyPrefix: data.keyPrefix,
    secret: data.key,
    replayed: isReplay(response),
    isCurrent: async () => (await send(() => rmm.apiKeys.get({ params }))).keyPrefix === data.keyPrefix,
  };
}

async function ofServicePrincipal({ rmm, rotation, options, send }: Calls): Promise<Answer> {
  const params = { id: rotation.principalId as string };
  const { data, response } = await send(() => rmm.servicePrincipals.rotate({ params }, options).withResponse());
  return {
    id: data.apiKeyId,
    keyPrefix: data.keyPrefix,
    secret: data.key,
    replayed: isReplay(response),
    isCurrent: async () =>
      (await send(() => rmm.servicePrincipals.get({ params }))).currentKey?.keyPrefix === data.keyPrefix,
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
    replayed: isReplay(response),
    isCurrent: async () => (await partnerKeysOf({ rmm, rotation, send })).some((key) => isActive(key, data.keyId)),
  };
}

const isActive = ({ id, status }: { id: string; status: string }, wanted: string): boolean =>
  id === wanted && status === "active";

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
    replayed: isReplay(response),
    isCurrent: async () => (await send(() => rmm.enrollmentKeys.get({ params }))).keyIssuedAt === data.keyIssuedAt,
  };
}
