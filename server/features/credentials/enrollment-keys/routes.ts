import { enrollmentKeys } from "#contract/resources/credentials/enrollment-keys";
import { implement } from "#server/http/implement";
import { createEnrollmentKey } from "./create.ts";
import { getEnrollmentKey } from "./get-enrollment-key.ts";
import { listEnrollmentKeys } from "./list.ts";
import { removeEnrollmentKey } from "./remove.ts";
import { rotateEnrollmentKey } from "./rotate.ts";

export const routes = implement(enrollmentKeys, {
  list: listEnrollmentKeys,
  create: createEnrollmentKey,
  get: (call) => getEnrollmentKey(call, call.db, call.params.id),
  rotate: rotateEnrollmentKey,
  remove: removeEnrollmentKey,
});
