import { takeAttempt } from "#server/access/attempts";
import { offerAssertion } from "#server/features/people/core/approver-challenges";
import { activeDevicesOf } from "#server/features/people/core/approver-devices";
import { type Call, user } from "#server/http/call";
import { after } from "#server/platform/clock";
import { newChallenge } from "./challenge.ts";
import { assertionOf } from "./options.ts";
import { relyingParty } from "./relying-party.ts";
import { ASSERTION_MS, challengeLimit } from "./rules.ts";

/** A challenge for the caller, this session and one request, which they reach. */
export async function beginAssertion(call: Call, elevationRequestId: string) {
  const { userId, sessionId } = user(call);
  const party = relyingParty(call.config);
  await takeAttempt(call.services, challengeLimit, userId);
  const { challenge, challengeHash } = newChallenge(call);
  const expiresAt = after(call.clock.now(), ASSERTION_MS);
  const devices = await call.asSystem("sign-in", async (tx) => {
    await offerAssertion(tx, { userId, sessionId, elevationRequestId, challengeHash, expiresAt });
    return activeDevicesOf(tx, userId);
  });
  return { options: { challenge, ...assertionOf(party, devices) }, pageUrl: party.pageUrl };
}
