import type { Register } from "../program.ts";

interface Group {
  readonly summary: string;
  /** Called when the group is named on the command line. */
  readonly load: () => Promise<Register>;
  readonly hidden?: boolean;
}

/** Groups that are written by hand, by name. */
export const commandGroups: Readonly<Record<string, Group>> = {
  auth: {
    summary: "Sign in, sign out, second factor",
    load: async () => (await import("./auth/index.ts")).registerAuth,
  },
  profile: {
    summary: "Servers you work with",
    load: async () => (await import("./profile.ts")).registerProfile,
  },
  config: {
    summary: "What is set, and where it came from",
    load: async () => (await import("./config.ts")).registerConfig,
  },
  plan: {
    summary: "Show what a provisioning file would change",
    load: async () => (await import("./provisioning/plan.ts")).registerPlan,
  },
  apply: {
    summary: "Bring the server to what a provisioning file says",
    load: async () => (await import("./provisioning/apply.ts")).registerApply,
  },
  export: {
    summary: "Write what the server has as a provisioning file",
    load: async () => (await import("./provisioning/export.ts")).registerExport,
  },
  import: {
    summary: "Turn a CSV export of customers into a provisioning file",
    load: async () => (await import("./provisioning/import.ts")).registerImport,
  },
  schema: {
    summary: "Print the JSON Schema of the provisioning file",
    load: async () => (await import("./provisioning/schema.ts")).registerSchema,
  },
  api: {
    summary: "Call any path of the API",
    load: async () => (await import("./api.ts")).registerApi,
  },
  server: {
    summary: "Run and look after a server",
    load: async () => (await import("./server/index.ts")).registerServer,
  },
  completion: {
    summary: "Completion for bash, zsh, fish and PowerShell",
    load: async () => (await import("./completion/index.ts")).registerCompletion,
  },
  help: {
    summary: "Help on a command, or on exit-codes and environment",
    load: async () => (await import("./help.ts")).registerHelp,
  },
  login: {
    summary: "Sign in: the same as auth login",
    load: async () => (await import("./auth/login.ts")).registerLogin,
    hidden: true,
  },
  logout: {
    summary: "Sign out: the same as auth logout",
    load: async () => (await import("./auth/logout.ts")).registerLogout,
    hidden: true,
  },
  __complete: {
    summary: "Candidates for the words of a command line",
    load: async () => (await import("./completion/complete.ts")).registerComplete,
    hidden: true,
  },
};

/** What is added to, or changed in, the generated commands of a noun. */
export const extensions: Readonly<Record<string, () => Promise<Register>>> = {
  "enrollment-keys": async () => (await import("./enrollment-keys.ts")).extendEnrollmentKeys,
};

/** Short names of nouns. */
export const nounAliases: Readonly<Record<string, string>> = { orgs: "organizations" };
