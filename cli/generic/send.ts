import type { ApiCall, ListCall } from "#sdk/call";
import type { RmmClient } from "#sdk/client";
import type { CallOptions } from "#sdk/options";
import type { CallInput } from "#sdk/prepare";
import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import type { Draft } from "./invocation.ts";

/** What the SDK's method takes. */
export function inputOf(spec: CommandSpec, { params, query, body, hasBody }: Draft): CallInput {
  const filled = without(body);
  const sendsBody = spec.hasBody && (hasBody || Object.keys(filled).length > 0);
  return {
    ...(spec.params.length > 0 ? { params } : {}),
    ...(spec.query.length > 0 ? { query: without(query) } : {}),
    ...(sendsBody ? { body: filled } : {}),
  };
}

const without = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

export async function clientFor(context: Context, spec: CommandSpec): Promise<RmmClient> {
  return context.client(spec.access.kinds.includes("public") ? "none" : "credential");
}

type Method = (input: CallInput, options: CallOptions) => ApiCall<unknown>;

/** Calls the SDK's method of a command, under the idempotency key of the run where it is not given one. */
export function send(
  client: RmmClient,
  context: Context,
  spec: CommandSpec,
  draft: Draft,
  idempotencyKey = context.globals.idempotencyKey,
): ApiCall<unknown> {
  const methods = client as unknown as Record<string, Record<string, Method>>;
  return methods[spec.sdkNoun]![spec.sdkVerb]!(inputOf(spec, draft), { signal: context.shell.signal, idempotencyKey });
}

export const sendList = (client: RmmClient, context: Context, spec: CommandSpec, draft: Draft) =>
  send(client, context, spec, draft) as ListCall<unknown, unknown>;
