import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { beginAssertion } from "#server/features/access-control/approver-devices/begin-assertion";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getElevation } from "./queries.ts";

type ChallengeCall = typeof elevationRequests.assertionChallenge extends Endpoint<infer T> ? Call<T> : never;

/** Of a request that waits and that the caller reaches. */
export async function challengeAssertion(call: ChallengeCall) {
  const { id, status } = await getElevation(call, call.db, call.params.id);
  if (status !== "pending") throw problem("NOT_FOUND");
  return beginAssertion(call as Call, id);
}
