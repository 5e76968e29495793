import type { Services } from "#server/services";

/** Something about the device has changed for whoever holds its connection: a command waits, or it may connect no more. */
export const deviceTopic = (deviceId: string): string => `device ${deviceId}`;

/** A command has ended. */
export const commandTopic = (commandId: string): string => `command ${commandId}`;

/** Wakes the agent's poll or socket, on whichever process it is. Once the change is durable. */
export const tellDevice = ({ store }: Pick<Services, "store">, deviceId: string): void =>
  store.signals.send(deviceTopic(deviceId));

/** What an organization's status means for its devices has changed. */
export const organizationTopic = (orgId: string): string => `devices of ${orgId}`;

/** Wakes every connection of its devices. Once the change is durable. */
export const tellDevicesOf = ({ store }: Pick<Services, "store">, orgId: string): void =>
  store.signals.send(organizationTopic(orgId));
