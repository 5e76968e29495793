import { enrollmentKeys } from "#contract/resources/credentials/enrollment-keys";
import { implement, judgingSecret } from "#server/http/implement";
import { createEnrollmentKey } from "./create.ts";
import { getEnrollmentKey } from "./get-enrollment-key.ts";
import { listEnrollmentKeys } from "./list.ts";
import { removeEnrollmentKey } from "./remove.ts";
import { rotateEnrollmentKey } from "./rotate.ts";
import { enrollmentKeyState } from "./secret-state.ts";

export const routes = implement(enrollmentKeys, {
  list: listEnrollmentKeys,
  create: judgingSecret(createEnrollmentKey, (call, { id, key }) => enrollmentKeyState(call, id, key)),
  get: (call) => getEnrollmentKey(call, call.db, call.params.id),
  rotate: judgingSecret(rotateEnrollmentKey, (call, { id, key }) => enrollmentKeyState(call, id, key)),
  remove: removeEnrollmentKey,
});
