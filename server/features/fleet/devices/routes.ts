import { devices } from "#contract/resources/fleet/devices";
import { implement } from "#server/http/implement";
import { showDevice } from "./get.ts";
import { listDevices } from "./list.ts";

export const routes = implement(devices, { list: listDevices, get: showDevice });
