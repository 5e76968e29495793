import { getCredential } from "../context.ts";
import { idempotencySecret } from "../profile/idempotency-secret.ts";
import { GENERATIONS } from "../provisioning/create-once.ts";
import { type IdempotencyKeys, idempotencyKeysOf } from "../provisioning/idempotency-keys.ts";
import type { Invocation } from "./invocation.ts";

/**
 * The idempotency keys of each entry, in the order in which they are tried: an answer about what is gone by now is passed
 * over with the next. Without --idempotency-key they are derived from the request if that creates something: for a day a
 * repeated run gets the answers of the first. A request that replaces a secret is carried out again.
 */
export async function itemKeys({
  context,
  spec,
  drafts,
}: Invocation): Promise<(readonly [string, ...string[]] | [])[]> {
  const given = context.globals.idempotencyKey;
  if (given !== undefined) return drafts.map((_draft, at) => [`${given}-${at + 1}`]);
  if (!spec.idempotent || spec.loses !== "nothing" || spec.access.kinds.includes("public")) return drafts.map(() => []);
  const keyOf: IdempotencyKeys = idempotencyKeysOf(
    await idempotencySecret(context.shell, await getCredential(context)),
  );
  const met = new Map<string, number>();
  return drafts.map(({ params, body }) => {
    const text = keyOf([spec.noun, spec.name, params, body]);
    const count = (met.get(text) ?? 0) + 1;
    met.set(text, count);
    const first = count === 1 ? text : keyOf([text, count]);
    const later = Array.from({ length: GENERATIONS - 1 }, (_, at) => keyOf([first, "again", at + 1]));
    return [first, ...later];
  });
}
