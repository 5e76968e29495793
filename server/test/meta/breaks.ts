/** A fault planted in a copy of the tree, and the test that must fail because of it. */
export interface Break {
  what: string;
  file: string;
  from: string | RegExp;
  to: string;
  /** Test file, part of the name of the test that must fail, and what its failure says of this break and of no other. */
  noticed: { by: string; named: string; says: RegExp };
}

const conformance = (name: string) => `server/test/conformance/sqlite/${name}.test.ts`;

/** Breaks that are planted together, because no two of them show in one test. */
export interface Batch {
  of: string;
  /** Nouns that the sweeps test. */
  nouns: readonly string[];
  breaks: readonly Break[];
}

export const batches: readonly Batch[] = [
  {
    of: "the contract or the rules of the tree",
    nouns: [],
    breaks: [
      {
        what: "raw SQL that names a table outside the database room",
        file: "server/features/tenancy/organizations/queries.ts",
        from: /^/,
        to: 'import { sql } from "kysely";\nexport const everything = sql`select * from organizations`;\n',
        noticed: {
          by: "scripts/check.test.ts",
          named: "the tree keeps its rules",
          says: /organizations\/queries\.ts writes raw SQL/,
        },
      },
      {
        what: "a renamed flag of the command",
        file: "cli/globals.ts",
        from: '"no-header"',
        to: '"without-header"',
        noticed: {
          by: "server/test/golden/cli-tree.test.ts",
          named: "exactly the commands and flags that were agreed",
          says: /without-header/,
        },
      },
      {
        what: "a permission changed in one place",
        file: "sdk/contract/resources/tenancy/sites.ts",
        from: /needs\("sites:write"\)/,
        to: 'needs("sites:read")',
        noticed: {
          by: "server/test/golden/auth-matrix.test.ts",
          named: "every built-in role may call exactly what was agreed",
          says: /POST \/orgs\/sites/,
        },
      },
      {
        what: "a contract field renamed in one place",
        file: "sdk/contract/resources/tenancy/sites.ts",
        from: "timezone:",
        to: "timeZone:",
        noticed: {
          by: "scripts/gen.test.ts",
          named: "sdk/generated/models/tenancy.ts is what the contract makes today",
          says: /timeZone/,
        },
      },
    ],
  },
  {
    of: "what callers may do, see and leave behind",
    nouns: ["api-keys", "audit-logs", "devices", "organizations", "partners", "passwords", "sessions", "sites"],
    breaks: [
      {
        what: "a missing scope check",
        file: "server/access/authorize.ts",
        from: /if \(!access\.scopes\.includes\(who\.scope\)\) refuseScope\([^;]*\);/,
        to: "",
        noticed: {
          by: conformance("authorization"),
          named: "sqlite 'partners.list' refuses callers of other scopes",
          says: /to include 200/,
        },
      },
      {
        what: "a missing MFA check",
        file: "server/access/authorize.ts",
        from: /if \(access\.mfa && options\.mfaGate && !who\.mfa\)/,
        to: "if (false)",
        noticed: {
          by: conformance("authorization"),
          named: "sqlite 'sites.create' refuses a session without MFA",
          says: /MFA_REQUIRED/,
        },
      },
      {
        what: "a tenant clause forgotten through an unscoped handle",
        file: "server/features/tenancy/organizations/routes.ts",
        from: "get: (call) => getOrganization(call.db, call.params.id)",
        to: 'get: (call) => call.readAsSystem("authenticate", (db) => getOrganization(db, call.params.id))',
        noticed: {
          by: conformance("tenancy"),
          named: "sqlite 'organizations.get' answers another tenant's id exactly like an unknown id",
          says: /expected 200 to be greater than or equal to 400/,
        },
      },
      {
        what: "a field the contract does not declare",
        file: "server/features/tenancy/organizations/remove.ts",
        from: "return { success: true as const }",
        to: "return { success: true as const, extra: 1 }",
        noticed: {
          by: conformance("success"),
          named: "sqlite 'organizations.remove' answers what the contract says",
          says: /extra/,
        },
      },
      {
        what: "a mutation without its audit entry",
        file: "server/features/tenancy/sites/create.ts",
        from: "call.audit.note({ details: { timezone: fields.timezone } });",
        to: "call.audit.skip();",
        noticed: {
          by: conformance("success"),
          named: "sqlite 'sites.create' answers what the contract says, tells of it, and leaves one entry",
          says: /expected \[\] to deeply equal \[ 'success' \]/,
        },
      },
      {
        what: "a secret in the audit log",
        file: "server/features/credentials/enrollment-keys/create.ts",
        from: "call.audit.note({ details: { siteId, maxUsage, expiresAt } });",
        to: "call.audit.note({ details: { siteId, maxUsage, expiresAt, note: key } });",
        noticed: {
          by: "server/features/credentials/enrollment-keys/enrollment-keys.test.ts",
          named: "sqlite never shows key or hash again",
          says: /[0-9a-f]{64}/,
        },
      },
      {
        what: "a write of the whole organization by a caller confined to a site",
        file: "server/features/credentials/api-keys/create.ts",
        from: "refuseSiteRestricted(call);",
        to: "",
        noticed: {
          by: conformance("confined"),
          named: "sqlite 'apiKeys.create' changes nothing of the whole organization",
          says: /expected 201 to be 403/,
        },
      },
      {
        what: "a site clause forgotten in the tenant scope",
        file: "server/db/tenant-predicate.ts",
        from: '"org+site": (context) => bySite(context, "siteId")',
        to: '"org+site": (context) => byOrg(context)',
        noticed: {
          by: conformance("confined"),
          named: "sqlite 'devices.list' shows nothing of another site",
          says: /not to contain/,
        },
      },
      {
        what: "an organization next door that a confined member counts",
        file: "server/db/tenant-predicate.ts",
        from: "if (!scope.principal && scope.selected !== null)",
        to: "if (!scope.principal && scope.selected === undefined)",
        noticed: {
          by: conformance("tenancy"),
          named: "sqlite 'sites.list' shows nothing of the organization next door",
          says: /to deeply equal \[\]/,
        },
      },
      {
        what: "a rule of validation that the server has and the contract has not",
        file: "server/features/tenancy/organizations/create.ts",
        from: "if (contractStart && contractEnd && contractEnd < contractStart) {",
        to: "if (!contractEnd) {",
        noticed: {
          by: conformance("generated"),
          named: "'organizations.create': the SDK and the server accept and refuse the same bodies",
          says: /only the server refuses/,
        },
      },
      {
        what: "a rule of validation that the SDK does not follow",
        file: "sdk/validate.ts",
        from: "const scrubbed =",
        to: 'if (endpoint.noun === "sites") return [];\n  const scrubbed =',
        noticed: {
          by: conformance("generated"),
          named: "'sites.create': the SDK and the server accept and refuse the same bodies",
          says: /"bySdk":\[\]/,
        },
      },
      {
        what: "a key that opens an endpoint for people",
        file: "server/http/authenticate.ts",
        from: 'if (access.kinds.includes("partnerKey") && (key !== undefined || !withUser))',
        to: 'if (key?.startsWith("svc_sp_"))',
        noticed: {
          by: conformance("credentials"),
          named: "sqlite 'sites.list' takes each kind of credential exactly where the contract says",
          says: /UNAUTHENTICATED/,
        },
      },
      {
        what: "a success without its entry, of a call that takes a password first",
        file: "server/features/sign-in/passwords/change.ts",
        from: "call.audit.note({ details: { endedSessions: ended } });",
        to: "call.audit.skip();",
        noticed: {
          by: conformance("success"),
          named: "sqlite 'passwords.change' answers what the contract says",
          says: /expected \[\] to deeply equal \[ 'success' \]/,
        },
      },
      {
        what: "a trail that other tenants can read",
        file: "server/features/audit/audit-logs/list.ts",
        from: `  const { ids, total } = await idsOf(call, asked, { page, limit, counted: skipCount !== true });
  const rows = ids.length === 0 ? [] : await rowsOfPage(call.db,`,
        to: `  const all = Object.create(call, { db: { value: call.services.store.connection("system") } });
  const { ids, total } = await idsOf(all, { ...asked, partnerId: undefined }, { page, limit, counted: skipCount !== true });
  const rows = ids.length === 0 ? [] : await rowsOfPage(all.db,`,
        noticed: {
          by: conformance("tenancy"),
          named: "sqlite 'auditLogs.list' shows a tenant nothing of another",
          says: /to deeply equal \[\]/,
        },
      },
      {
        what: "a limit that is looked at and never taken",
        file: "server/access/attempts.ts",
        from: "const allowance = await services.limiter.take(limit, subject);\n    if",
        to: "const allowance = await services.limiter.peek(limit, subject);\n    if",
        noticed: {
          by: conformance("limits"),
          named: "sqlite 'login-email' admits no more than it says",
          says: /to be less than or equal to/,
        },
      },
    ],
  },
  {
    of: "what would show in a test of another break",
    nouns: ["api-keys", "sites"],
    breaks: [
      {
        what: "a credential in the log",
        file: "server/http/request-log.ts",
        from: "status: response.statusCode,",
        to: "status: response.statusCode, credential: request.headers.authorization,",
        noticed: {
          by: conformance("secrets"),
          named: "sqlite shows them in no answer but the one field",
          says: /the log/,
        },
      },
      {
        what: "a remembered answer whose secret is not sealed",
        file: "server/http/pipeline.ts",
        from: "secret: responseHoldsSecret(endpoint),",
        to: "secret: false,",
        noticed: { by: conformance("secrets"), named: "sqlite keeps none of them in the clear", says: /database file/ },
      },
      {
        what: "a change that a refused call leaves behind",
        file: "server/http/pipeline.ts",
        from: "authorize(passage.who, endpoint.access",
        to: `await services.store.connection("system").updateTable("partners").set({ billingEmail: "x@y.example" }).execute();
  authorize(passage.who, endpoint.access`,
        noticed: {
          by: conformance("authorization"),
          named: "sqlite 'sites.create' refuses a session without MFA",
          says: /partners.* and yet the answer was 403/,
        },
      },
      {
        what: "an entry that does not say what it is about",
        file: "server/http/audit-entry.ts",
        from: "resourceId: note.resource?.id ?? null",
        to: "resourceId: null",
        noticed: {
          by: conformance("success"),
          named: "sqlite 'sites.create' answers what the contract says",
          says: /site\.create is about null/,
        },
      },
    ],
  },
];
