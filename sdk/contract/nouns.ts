import type { Contract } from "./index.ts";

/** One line for each noun: group help of the command, tag descriptions of OpenAPI. */
export const nounSummaries = {
  sessions: "Sign in, refresh, sign out and see where you are signed in",
  mfa: "Second factor: set up, prove, turn off, recovery codes",
  passwords: "Forgotten, reset and changed passwords",
  ssoLogins: "Sign-in through an identity provider, and attaching one to your account",
  partners: "Managed service providers and their settings",
  organizations: "Customers of a partner",
  sites: "Places of an organization",
  contacts: "People of an organization",
  enrollmentKeys: "Tokens that let devices join an organization",
  apiKeys: "Machine credentials of an organization",
  servicePrincipals: "Identities of an organization that own keys and are no person",
  partnerServicePrincipals: "Identities of a partner for its provisioning and export API",
  partnerApi: "Export and unattended provisioning with a partner key",
  ssoProviders: "Identity providers people sign in through",
  ssoDomains: "Email domains an organization has proven to be its own",
  loginBranding: "Logo, colour and headline of a partner's login page",
  users: "People who sign in, and their invitations",
  agents: "What the agent on a device calls",
  devices: "Managed machines",
  auditLogs: "The tamper-evident record of what was done",
  serviceStatus: "Health, metrics and the description of this API",
} satisfies Record<keyof Contract, string>;
