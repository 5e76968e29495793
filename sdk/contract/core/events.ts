/** Every event kind of the product (docs/platform.md, "Events"). */
export const eventKinds = [
  "device.enrolled",
  "device.online",
  "device.offline",
  "device.updated",
  "device.moved",
  "device.decommissioned",
  "device.main_agent_silent",
  "device.command.completed",
  "device.command.failed",
  "organization.created",
  "organization.updated",
  "organization.deleted",
  "organization.offboarding",
  "organization.archived",
  "organization.restored",
  "organization.merged",
  "site.created",
  "site.updated",
  "site.deleted",
  "user.login",
  "user.logout",
  "user.invited",
  "user.removed",
  "user.mfa.enabled",
] as const;

export type EventKind = (typeof eventKinds)[number];
