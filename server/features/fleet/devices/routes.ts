import { devices } from "#contract/resources/fleet/devices";
import { implement, judgingSecret } from "#server/http/implement";
import { showDevice } from "./get.ts";
import { listDevices } from "./list.ts";
import { moveDevice } from "./move-org.ts";
import { provisionDevice } from "./provision.ts";
import { queryDevices } from "./query.ts";
import { removeDevice } from "./remove.ts";
import { provisionState } from "./secret-state.ts";
import { updateDevice } from "./update.ts";

export const routes = implement(devices, {
  list: listDevices,
  query: queryDevices,
  provision: judgingSecret(provisionDevice, provisionState),
  get: showDevice,
  moveOrg: moveDevice,
  update: updateDevice,
  remove: removeDevice,
});
