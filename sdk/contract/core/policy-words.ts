export const policyStatuses = ["active", "inactive", "archived"] as const;

/** What a policy may be assigned to, the closest to a device first (docs/configuration-policies.md, "Which policy holds"). */
export const policyLevels = ["device", "device_group", "site", "organization", "partner"] as const;
