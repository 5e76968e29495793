import { approverDevices } from "#contract/resources/access-control/approver-devices";
import { implement } from "#server/http/implement";
import { listDevices } from "./list.ts";
import { showPage } from "./page.ts";
import { tellPage } from "./page-facts.ts";
import { showPolicy } from "./policy.ts";
import { beginRegistration } from "./registration-options.ts";
import { removeDevice } from "./remove.ts";
import { replacePolicy } from "./replace-policy.ts";
import { registerDevice } from "./verify.ts";

export const routes = implement(approverDevices, {
  registrationOptions: beginRegistration,
  verify: registerDevice,
  list: listDevices,
  remove: removeDevice,
  policy: showPolicy,
  replacePolicy,
  page: showPage,
  pageFacts: tellPage,
});
