import { randomUUID } from "node:crypto";
import type { RmmClient } from "#sdk/client";
import { ForbiddenError, NotFoundError, RateLimitError, RmmError } from "#sdk/errors";
import type { CommandSpec } from "../manifest.ts";
import { allCommands } from "./target.ts";

export type KeyKind = "apiKey" | "partnerKey";

/** What a key may do, as far as the server reveals it: its scopes cannot be listed, but a refusal names them. */
export interface KeyAccess {
  /** Undefined if no endpoint of the server reveals it. */
  holds(scope: string): Promise<boolean | undefined>;
  /** Whether the server would let the key through to this endpoint. */
  mayCall(command: CommandSpec): Promise<boolean | undefined>;
  /** Scopes, once a refusal has named them. */
  readonly scopes: readonly string[] | undefined;
  /** False: its principal has no expiry or no source allowlist, so it may not mint enrollment keys. */
  readonly restricted: boolean | undefined;
}

/**
 * Probes with calls that change nothing: a read of one row, or an invalid body. They count against the key's hourly
 * limit, and refused ones are recorded in the audit log.
 */
export function askKey(rmm: RmmClient, kind: KeyKind, signal: AbortSignal): KeyAccess {
  let scopes: readonly string[] | undefined;
  let restricted: boolean | undefined;
  const answers = new Map<string, boolean>();
  const mayCall = async (command: CommandSpec): Promise<boolean | undefined> => {
    const { kinds, keyScopes } = command.access;
    if (!kinds.includes(kind)) return kinds.includes("public");
    if (scopes && keyScopes.length > 0) {
      const held = keyScopes.some((scope) => scopes?.includes(scope));
      if (!held || !mintsKeys(command)) return held;
      // Minting needs more than the scope.
      if (restricted !== undefined) return restricted;
    }
    const path = `${command.method} ${command.path}`;
    const known = answers.get(path);
    if (known !== undefined || !canProbe(command)) return known;
    const answer = await probe(rmm, command, signal);
    scopes = answer.scopes ?? scopes;
    restricted = answer.restricted ?? restricted;
    answers.set(path, answer.allowed);
    return answer.allowed;
  };
  return {
    get scopes() {
      return scopes;
    },
    get restricted() {
      return restricted;
    },
    mayCall,
    holds: async (scope) => {
      const commands = (await allCommands()).filter(({ access }) => access.kinds.includes(kind));
      const asking = commands.filter(({ access }) => access.keyScopes.join() === scope);
      for (const command of [...asking, ...commands].filter(canProbe)) {
        if (scopes) break;
        const allowed = await mayCall(command);
        if (command.access.keyScopes.join() === scope && allowed !== undefined) return allowed;
      }
      return scopes?.includes(scope);
    },
  };
}

/** Whether a key can be refused because its principal has no expiry or no source allowlist, which minting needs. */
export const mintsKeys = ({ errors }: CommandSpec): boolean =>
  errors.includes("partner_provisioning_principal_restrictions_required");

/** Reads, writes that an empty body makes invalid, and changes of a row, since there is none with a new id. */
const canProbe = ({ method, body, params }: CommandSpec): boolean =>
  method === "GET" || body.some(({ required }) => required) || (method === "PATCH" && params.length > 0);

interface Answer {
  readonly allowed: boolean;
  readonly scopes?: readonly string[];
  readonly restricted?: boolean;
}

async function probe(rmm: RmmClient, command: CommandSpec, signal: AbortSignal): Promise<Answer> {
  const { sdkNoun, sdkVerb, params, query, method } = command;
  const mints = mintsKeys(command);
  const input = {
    params: Object.fromEntries(params.map((name) => [name, randomUUID()])),
    ...(query.some(({ name }) => name === "limit") ? { query: { limit: 1 } } : {}),
    // With an unknown organization a mint is checked for restrictions and then refused.
    ...(method === "GET" ? {} : { body: mints ? { orgId: randomUUID(), name: "may this key?" } : {} }),
  };
  type Method = (input: object, options: object) => PromiseLike<unknown>;
  const methods = rmm as unknown as Record<string, Record<string, Method>>;
  try {
    await methods[sdkNoun]![sdkVerb]!(input, { signal, retries: 0 });
    return { allowed: true };
  } catch (error) {
    return answerIn(error, mints);
  }
}

/** A refusal of the body or of a used-up budget means that authorization succeeded. */
function answerIn(error: unknown, mints: boolean): Answer {
  if (!(error instanceof RmmError)) throw error;
  const { code, details, status = 0 } = error;
  if (code === "API_KEY_SCOPE_REQUIRED") {
    const { available } = (details ?? {}) as { available?: readonly string[] };
    return { allowed: false, ...(Array.isArray(available) ? { scopes: available } : {}) };
  }
  if (code === "partner_provisioning_principal_restrictions_required") return { allowed: false, restricted: false };
  const budget = error instanceof RateLimitError && (details as { limit?: unknown } | undefined)?.limit !== undefined;
  const refusedLater = error instanceof NotFoundError || code === "ORG_ACCESS_DENIED" || status === 400;
  if (budget || refusedLater) return { allowed: true, ...(mints ? { restricted: true } : {}) };
  if (error instanceof ForbiddenError) return { allowed: false };
  throw error;
}
