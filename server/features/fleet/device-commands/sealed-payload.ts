import type { Vault } from "#server/platform/vault";

type Payload = Readonly<Record<string, unknown>>;

const sealedFor = (id: string) => `device command:${id}`;
const answerOf = (id: string) => `device command answer:${id}`;

export const sealPayload = (vault: Vault, id: string, payload: Payload): string =>
  vault.seal(JSON.stringify(payload), sealedFor(id));

/** What the agent gets. */
export const openPayload = (
  vault: Vault,
  { id, payload, payloadSealed }: { id: string; payload: Payload; payloadSealed: string | null },
): Record<string, unknown> =>
  payloadSealed === null ? { ...payload } : JSON.parse(vault.open(payloadSealed, sealedFor(id)));

/** What the caller of a live command gets. */
export const openAnswer = (vault: Vault, id: string, sealed: string): Record<string, unknown> =>
  JSON.parse(vault.open(sealed, answerOf(id)));

export const sealAnswer = (vault: Vault, id: string, answer: Payload): string =>
  vault.seal(JSON.stringify(answer), answerOf(id));
