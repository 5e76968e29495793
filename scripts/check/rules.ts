/** A part of the tree and its imports. */
export interface Room {
  /** Paths from the root; folders end with a slash. A file belongs to the first room that names it. */
  readonly paths: readonly string[];
  /** For the table of `server/README.md`. */
  readonly owns: string;
  /**
   * Folders and files outside the room that it imports: all of these and no others. `everything` is for tools.
   */
  readonly imports: readonly string[] | "everything";
  /** Packages that it may import; any if left out. */
  readonly packages?: readonly string[];
  /** Printed after the list: what a list cannot say. */
  readonly note?: string;
}

/** Rooms of the server. The table of rooms in `server/README.md` is generated from this list. */
export const serverRooms: readonly Room[] = [
  {
    paths: [
      "server/main.ts",
      "server/app.ts",
      "server/background.ts",
      "server/bootstrap.ts",
      "server/doctor.ts",
      "server/audit-bundle.ts",
      "server/set-aside-events.ts",
      "server/open-store.ts",
      "server/generated/",
    ],
    owns: "start, dependencies, seeding; `generated/` collects what the rooms register",
    imports: [
      "sdk/contract/core/email.ts",
      "server/config.ts",
      "server/services.ts",
      "server/room-hooks.ts",
      "server/http/",
      "server/access/",
      "server/db/",
      "server/audit/",
      "server/events/",
      "server/jobs/",
      "server/platform/",
      "server/features/",
    ],
  },
  {
    paths: ["server/config.ts", "server/config-error.ts", "server/anchor-settings.ts", "server/sso-presets.ts"],
    owns: "settings; only `config.ts` reads the environment",
    imports: ["sdk/contract/", "server/access/password.ts", "server/platform/"],
  },
  {
    paths: ["server/services.ts", "server/room-hooks.ts", "server/problem.ts"],
    owns: "the types of what a server is made of, of what events mean to rooms; refusals",
    imports: ["sdk/contract/", "server/config.ts", "server/access/", "server/audit/", "server/db/", "server/platform/"],
  },
  {
    paths: ["server/http/"],
    owns: "the one pipeline, error envelope, idempotency, request log",
    imports: [
      "sdk/contract/",
      "server/config.ts",
      "server/services.ts",
      "server/problem.ts",
      "server/access/",
      "server/db/",
      "server/audit/",
      "server/events/",
      "server/jobs/",
      "server/platform/",
    ],
  },
  {
    paths: ["server/access/"],
    owns: "who calls and what they may do: tokens, principals, roles, organization and site rules, rate limits",
    imports: [
      "sdk/contract/",
      "server/services.ts",
      "server/room-hooks.ts",
      "server/problem.ts",
      "server/db/",
      "server/platform/",
    ],
  },
  {
    paths: ["server/filters/"],
    owns: "filters: conditions over devices made of what people write, previews of them",
    imports: ["sdk/contract/", "server/problem.ts", "server/http/call.ts", "server/access/", "server/db/"],
  },
  {
    paths: ["server/db/"],
    owns: "tables with their owners and writers (`tables/<area>.ts`), tenant scope, unit of work, migrations, every difference between the engines",
    imports: [
      "sdk/contract/",
      "server/audit/tables.ts",
      "server/audit/sqlite-functions.ts",
      "server/audit/sqlite-canonical.ts",
      "server/generated/migrations.ts",
      "server/platform/linear-pattern.ts",
      "server/platform/log.ts",
      "server/platform/start-worker.ts",
      "server/platform/version.ts",
    ],
  },
  {
    paths: ["server/audit/"],
    owns: "chain, outbox writer, verifier (never imports the writer), anchors, retention, incidents of broken chains",
    imports: ["sdk/contract/", "server/services.ts", "server/db/", "server/jobs/mail-queue.ts", "server/platform/"],
  },
  {
    paths: ["server/events/"],
    owns: "events: writing, numbering, handing out to consumers, purge",
    imports: ["sdk/contract/", "server/services.ts", "server/db/", "server/jobs/scheduler.ts", "server/platform/"],
  },
  {
    paths: ["server/jobs/"],
    owns: "durable queue, leases, scheduler, mail",
    imports: ["server/services.ts", "server/db/", "server/platform/"],
  },
  {
    paths: ["server/platform/"],
    owns: "seams: clock, random, log, vault, mail, metrics",
    imports: [
      "sdk/contract/core/characters.ts",
      "sdk/contract/core/patterns/",
      "sdk/contract/core/proxy.ts",
      "sdk/contract/core/storable.ts",
      "server/config.ts",
    ],
  },
  {
    paths: ["server/features/"],
    owns:
      "`<area>/<noun>/`: `routes.ts`, one file per verb, `rules.ts` (pure), `queries.ts` (Kysely), `hooks.ts` " +
      "`schedules.ts` `jobs.ts` `consumers.ts` `upgrades.ts`; `<area>/core/`: what several rooms share",
    imports: [
      "sdk/contract/",
      "server/config.ts",
      "server/sso-presets.ts",
      "server/services.ts",
      "server/room-hooks.ts",
      "server/problem.ts",
      "server/http/call.ts",
      "server/http/implement.ts",
      "server/http/upgrade.ts",
      "server/http/frame.ts",
      "server/access/",
      "server/filters/",
      "server/db/",
      "server/audit/",
      "server/events/",
      "server/jobs/",
      "server/platform/",
    ],
    note: "other features' verbs, from files of their name",
  },
];

/** The rest of the tree. */
export const otherRooms: readonly Room[] = [
  { paths: ["sdk/contract/"], owns: "the definition", imports: [], packages: ["zod"] },
  { paths: ["sdk/"], owns: "the client", imports: ["sdk/contract/"], packages: ["ky", "node:", "undici"] },
  {
    paths: ["cli/"],
    owns: "the command",
    imports: [
      "sdk/",
      "sdk/contract/",
      "fixtures/simulators/",
      "server/main.ts",
      "server/app.ts",
      "server/bootstrap.ts",
      "server/config.ts",
      "server/doctor.ts",
      "server/audit-bundle.ts",
      "server/set-aside-events.ts",
      // Offline verification of a bundle must run the code that the published test vectors test; a copy in the
      // command could differ from it. None of these files opens a database.
      "server/audit/anchor-file.ts",
      "server/audit/anchor-format.ts",
      "server/audit/anchor-signing.ts",
      "server/audit/bundle.ts",
      "server/audit/inclusion.ts",
      "server/audit/lf-lines.ts",
      "server/audit/prune-checks.ts",
      "server/audit/statement-checks.ts",
      "server/audit/verify-result.ts",
    ],
  },
  {
    paths: ["testing/"],
    owns: "a server for the tests of others",
    imports: ["sdk/", "server/main.ts", "server/config.ts", "server/platform/log.ts"],
    packages: ["node:", "otpauth"],
  },
  {
    paths: ["fixtures/"],
    owns: "worlds, examples, simulators",
    imports: [
      "sdk/contract/",
      "server/services.ts",
      "server/access/roles.ts",
      "server/audit/chain.ts",
      "server/db/",
      "server/platform/",
      // What an example seals or computes in order to succeed: a client secret, a code of a second factor.
      "server/features/",
    ],
  },
  { paths: ["scripts/", "vitest.config.ts"], owns: "tools", imports: "everything" },
];

export const rooms: readonly Room[] = [...serverRooms, ...otherRooms];
