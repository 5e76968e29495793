import { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { implement } from "#server/http/implement";
import { actuate } from "./actuate.ts";
import { challengeAssertion } from "./assertion-challenge.ts";
import { createElevation } from "./create.ts";
import { showElevation } from "./get.ts";
import { listActive, listElevations } from "./list.ts";
import { reportElevation } from "./report.ts";
import { respond } from "./respond.ts";
import { revoke } from "./revoke.ts";
import { readStatus } from "./status-for-agent.ts";

export const routes = implement(elevationRequests, {
  list: listElevations,
  active: listActive,
  create: createElevation,
  get: showElevation,
  assertionChallenge: challengeAssertion,
  respond,
  revoke,
  actuate,
  report: reportElevation,
  status: readStatus,
});
