import type { Area } from "#contract/areas";
import type { Register } from "../register.ts";

interface Group {
  readonly summary: string;
  /** Called when the group is named on the command line. */
  readonly load: () => Promise<Register>;
  readonly hidden?: boolean;
  /** Listed in the help with the nouns of this area; without an area, before all of them. */
  readonly area?: Area;
}

/** Loaded together, because each extra file adds a millisecond to the start and these are small. */
const small = () => import("./small-groups.ts");
const devices = () => import("./devices/index.ts");
const provisioning = () => import("./provisioning/index.ts");

/** Groups that are written by hand, by name. */
export const commandGroups: Readonly<Record<string, Group>> = {
  auth: {
    summary: "Sign in, sign out, second factor",
    load: async () => (await small()).registerAuth,
  },
  profile: {
    summary: "Manage profiles of servers",
    load: async () => (await small()).registerProfile,
  },
  config: {
    summary: "Show each setting and its source",
    load: async () => (await small()).registerConfig,
  },
  keys: {
    summary: "Keys of every kind: list expiring and old ones, rotate many at once",
    area: "credentials",
    load: async () => (await import("./keys/index.ts")).registerKeys,
  },
  agent: {
    summary: "Simulated devices to try a server with",
    area: "fleet",
    load: async () => (await import("./agent/index.ts")).registerAgent,
  },
  plan: {
    summary: "Show what a provisioning file would change",
    load: async () => (await provisioning()).registerPlan,
  },
  apply: {
    summary: "Bring the server to what a provisioning file says",
    load: async () => (await provisioning()).registerApply,
  },
  diff: {
    summary: "Show where the server differs from a provisioning file",
    load: async () => (await provisioning()).registerDiff,
  },
  export: {
    summary: "Write what the server has as a provisioning file",
    load: async () => (await provisioning()).registerExport,
  },
  import: {
    summary: "Turn a CSV export of customers into a provisioning file",
    load: async () => (await provisioning()).registerImport,
  },
  schema: {
    summary: "Print the JSON Schema of the provisioning file",
    load: async () => (await provisioning()).registerSchema,
  },
  api: {
    summary: "Call any path of the API",
    load: async () => (await small()).registerApi,
  },
  audit: {
    summary: "Read, verify, export and count the audit log",
    area: "audit",
    load: async () => (await import("./audit/index.ts")).registerAudit,
  },
  server: {
    summary: "Run and maintain a server",
    load: async () => (await import("./server/index.ts")).registerServer,
  },
  quickstart: {
    summary: "Try everything once on a temporary server",
    load: async () => (await import("./quickstart/index.ts")).registerQuickstart,
  },
  completion: {
    summary: "Completion for bash, zsh, fish and PowerShell",
    load: async () => (await small()).registerCompletion,
  },
  help: {
    summary: "Help on a command, or on exit-codes, environment and flags",
    load: async () => (await small()).registerHelp,
  },
  login: {
    summary: "Sign in: the same as auth login",
    load: async () => (await small()).registerLogin,
    hidden: true,
  },
  logout: {
    summary: "Sign out: the same as auth logout",
    load: async () => (await small()).registerLogout,
    hidden: true,
  },
  __complete: {
    summary: "Candidates for the words of a command line",
    load: async () => (await small()).registerComplete,
    hidden: true,
  },
};

/** What is added to, or changed in, the generated commands of a noun. */
export const extensions: Readonly<Record<string, () => Promise<Register>>> = {
  "approver-devices": async () => (await import("./approver-devices/index.ts")).extendApproverDevices,
  "audit-logs": async () => (await import("./audit/index.ts")).extendAuditLogs,
  "configuration-policies": async () => (await import("./policies/index.ts")).extendConfigurationPolicies,
  "device-commands": async () => (await devices()).extendDeviceCommands,
  "device-groups": async () => (await import("./groups/index.ts")).extendDeviceGroups,
  "device-logs": async () => (await import("./follow/device-logs.ts")).extendDeviceLogs,
  devices: async () => (await devices()).extendDevices,
  "elevation-requests": async () => (await import("./pam/index.ts")).extendElevationRequests,
  "enrollment-keys": async () => (await small()).extendEnrollmentKeys,
  mfa: async () => (await small()).extendMfa,
  notifications: async () => (await small()).extendNotifications,
  "pam-rules": async () => (await import("./pam/rules/index.ts")).extendPamRules,
  search: async () => (await small()).extendSearch,
  "saved-filters": async () => (await import("./filters/index.ts")).extendSavedFilters,
  users: async () => (await small()).extendUsers,
  webhooks: async () => (await import("./webhooks/index.ts")).extendWebhooks,
};
