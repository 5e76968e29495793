import { deviceGroups } from "#contract/resources/fleet/device-groups";
import { implement } from "#server/http/implement";
import { addDevices, removeDevice } from "./change-members.ts";
import { createGroup } from "./create.ts";
import { listMembers } from "./devices.ts";
import { showGroup } from "./get.ts";
import { listGroups } from "./list.ts";
import { listLog } from "./log.ts";
import { pinDevice, unpinDevice } from "./pins.ts";
import { previewGroup } from "./preview.ts";
import { removeGroup } from "./remove.ts";
import { updateGroup } from "./update.ts";

export const routes = implement(deviceGroups, {
  list: listGroups,
  create: createGroup,
  get: showGroup,
  update: updateGroup,
  remove: removeGroup,
  devices: listMembers,
  addDevices,
  removeDevice,
  preview: previewGroup,
  pin: pinDevice,
  unpin: unpinDevice,
  log: listLog,
});
