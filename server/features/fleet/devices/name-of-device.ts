/** How events name a device: as people do, else as it calls itself. */
export const nameOfDevice = (device: { id: string; hostname: string; displayName: string | null }) => ({
  deviceId: device.id,
  deviceName: device.displayName ?? device.hostname,
});
