/** Short names of nouns. */
export const nounAliases: Readonly<Record<string, string>> = {
  orgs: "organizations",
  commands: "device-commands",
  filters: "saved-filters",
  groups: "device-groups",
  pam: "elevation-requests",
  logs: "device-logs",
  policies: "configuration-policies",
  security: "security-posture",
  authenticator: "approver-devices",
};
