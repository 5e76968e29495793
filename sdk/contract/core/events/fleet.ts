import { z } from "zod";
import { instant } from "../fields.ts";
import { changedFields, told } from "./define.ts";

const command = () => ({
  commandId: z.string(),
  commandType: z.string(),
  status: z.string(),
  exitCode: z.int().nullable(),
});

export const fleetEvents = {
  "device.enrolled": told("device", "A device joined, or enrolled again.", () => ({
    again: z.boolean().describe("the device was known and got new tokens"),
  })),
  "device.online": told("device", "A device that was not reachable is.", () => ({ previousStatus: z.string() })),
  "device.offline": told("device", "A device is not heard of any more.", () => ({ lastSeenAt: instant().nullable() })),
  "device.updated": told("device", "A device was changed.", () => ({ changedFields: changedFields() })),
  "device.moved": told("device", "A device changed its organization; both are told."),
  "device.decommissioned": told("device", "A device was taken out of service."),
  "device.main_agent_silent": told("device", "The watchdog reports and the main agent does not.", () => ({
    lastSeenAt: instant().nullable(),
  })),
  "device.command.completed": told("device", "A device carried a command out.", command),
  "device.command.failed": told("device", "A device could not carry a command out.", command),
  "group.membership_changed": told("group", "Devices joined or left a group.", () => ({
    added: z.int(),
    removed: z.int(),
    addedDeviceIds: z.array(z.string()).describe("the first of them, as many as an event holds"),
    removedDeviceIds: z.array(z.string()).describe("the same"),
  })),
};
