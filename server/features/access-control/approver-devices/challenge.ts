import type { ApproverDevice } from "#server/features/people/core/approver-devices";
import type { Call } from "#server/http/call";
import { sameText, sha256 } from "#server/platform/vault";

/** 32 random bytes, of which the database keeps the hash. */
export function newChallenge({ random }: Pick<Call, "random">): { challenge: string; challengeHash: string } {
  const challenge = random.bytes(32).toString("base64url");
  return { challenge, challengeHash: sha256(challenge) };
}

export const isChallenge = (challengeHash: string) => (given: string) => sameText(sha256(given), challengeHash);

/** As browsers are told of credentials. */
export const described = (devices: readonly Pick<ApproverDevice, "credentialId" | "transports">[]) =>
  devices.map(({ credentialId: id, transports }) => ({ id, type: "public-key" as const, transports }));

/** Whose credential it is, as authenticators keep it: no name and no address. */
export const userHandleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");
