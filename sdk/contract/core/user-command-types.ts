/** What a person can send a device; `wake` is stored as `wake_on_lan` of a neighbour that relays it. */
export const userCommandTypes = [
  "refresh_inventory",
  "collect_logs",
  "reboot",
  "shutdown",
  "reboot_safe_mode",
  "lock",
  "wake",
  "update",
] as const;

export type UserCommandType = (typeof userCommandTypes)[number];
