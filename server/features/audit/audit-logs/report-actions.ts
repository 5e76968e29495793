/** What the reports are about (docs/audit.md, "Reports"). */
export const securityActions: readonly string[] = [
  "user.login",
  "user.login.failed",
  "user.permission.change",
  "policy.update",
  "policy.create",
  "policy.evaluate",
  "automation.policy.evaluate",
  "agent.source.ip.changed",
];

/** And every `data.*`. */
export const complianceActions: readonly string[] = [
  "data.access",
  "data.export",
  "device.create",
  "device.delete",
  "policy.update",
  "policy.evaluate",
  "automation.policy.evaluate",
  "script.execute",
  "organization.update",
];

/** Changes of data that are no events of compliance themselves. */
export const dataChangesBeside: readonly string[] = ["device.update", "policy.create"];

export const isCompliance = (action: string): boolean =>
  action.startsWith("data.") || complianceActions.includes(action);

export const isDataChange = (action: string): boolean =>
  !action.startsWith("data.") && (complianceActions.includes(action) || dataChangesBeside.includes(action));

export const isLogin = (action: string): boolean => action.startsWith("user.login");
