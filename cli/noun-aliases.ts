/** Short names of nouns. */
export const nounAliases: Readonly<Record<string, string>> = {
  orgs: "organizations",
  commands: "device-commands",
  security: "security-posture",
};
