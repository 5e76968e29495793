import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyTree } from "../../../scripts/copy-tree.ts";
import { failed, runTests } from "./run-tests.ts";

/** A fault planted in a copy of the tree, and the test that must fail because of it. */
interface Break {
  what: string;
  file: string;
  from: string | RegExp;
  to: string;
  /** Test file, part of the name of the test that fails, and the nouns to test (all of them if left out). */
  noticed: { by: string; named: string; nouns?: string };
}

const conformance = (name: string) => `server/test/conformance/sqlite/${name}.test.ts`;

const breaks: readonly Break[] = [
  {
    what: "a missing scope check",
    file: "server/access/authorize.ts",
    from: /if \(!access\.scopes\.includes\(who\.scope\)\) refuseScope\([^;]*\);/,
    to: "",
    noticed: { by: conformance("authorization"), named: "sqlite 'partners.list' refuses callers of other scopes" },
  },
  {
    what: "a missing MFA check",
    file: "server/access/authorize.ts",
    from: /if \(access\.mfa && options\.mfaGate && !who\.mfa\)/,
    to: "if (false)",
    noticed: { by: conformance("authorization"), named: "sqlite 'sites.create' refuses a session without MFA" },
  },
  {
    what: "a tenant clause forgotten through an unscoped handle",
    file: "server/features/tenancy/organizations/routes.ts",
    from: "get: (call) => getOrganization(call.db, call.params.id)",
    to: 'get: (call) => call.readAsSystem("authenticate", (db) => getOrganization(db, call.params.id))',
    noticed: {
      by: conformance("tenancy"),
      named: "sqlite 'organizations.get' answers another tenant's id exactly like an unknown id",
    },
  },
  {
    what: "raw SQL that names a table outside the database room",
    file: "server/features/tenancy/organizations/queries.ts",
    from: /^/,
    to: 'import { sql } from "kysely";\nexport const everything = sql`select * from organizations`;\n',
    noticed: { by: "scripts/check.test.ts", named: "the tree keeps its rules" },
  },
  {
    what: "a field the contract does not declare",
    file: "server/features/tenancy/organizations/remove.ts",
    from: "return { success: true as const }",
    to: "return { success: true as const, extra: 1 }",
    noticed: { by: conformance("success"), named: "sqlite 'organizations.remove' answers what the contract says" },
  },
  {
    what: "a mutation without its audit entry",
    file: "server/features/tenancy/sites/create.ts",
    from: "call.audit.note({ details: { timezone: fields.timezone } });",
    to: "call.audit.skip();",
    noticed: {
      by: conformance("success"),
      named: "sqlite 'sites.create' answers what the contract says, and leaves exactly one entry",
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
    },
  },
  {
    what: "a renamed flag of the command",
    file: "cli/globals.ts",
    from: '"no-header"',
    to: '"without-header"',
    noticed: { by: "server/test/golden/cli-tree.test.ts", named: "exactly the commands and flags that were agreed" },
  },
  {
    what: "a permission changed in one place",
    file: "sdk/contract/resources/tenancy/sites.ts",
    from: /needs\("sites:write"\)/,
    to: 'needs("sites:read")',
    noticed: {
      by: "server/test/golden/auth-matrix.test.ts",
      named: "every built-in role may call exactly what was agreed",
    },
  },
  {
    what: "a contract field renamed in one place",
    file: "sdk/contract/resources/tenancy/sites.ts",
    from: "timezone:",
    to: "timeZone:",
    noticed: { by: "scripts/gen.test.ts", named: "" },
  },
  {
    what: "a write of the whole organization by a caller confined to a site",
    file: "server/features/credentials/api-keys/create.ts",
    from: "refuseSiteRestricted(call);",
    to: "",
    noticed: {
      by: conformance("confined"),
      named: "sqlite 'apiKeys.create' changes nothing of the whole organization",
    },
  },
  {
    what: "a site clause forgotten in the tenant scope",
    file: "server/db/tenant-predicate.ts",
    from: '"org+site": (context) => bySite(context, "siteId")',
    to: '"org+site": (context) => byOrg(context)',
    noticed: { by: conformance("confined"), named: "sqlite 'devices.list' shows nothing of another site" },
  },
  {
    what: "an organization next door that a confined member counts",
    file: "server/db/tenant-predicate.ts",
    from: "return scope.selected === null ? organizations :",
    to: "return scope.selected !== undefined ? organizations :",
    noticed: { by: conformance("tenancy"), named: "sqlite 'sites.list' shows nothing of the organization next door" },
  },
  {
    what: "a rule of validation that the server has and the contract has not",
    file: "server/features/tenancy/organizations/create.ts",
    from: "if (contractStart && contractEnd && contractEnd < contractStart) {",
    to: "if (!contractEnd) {",
    noticed: {
      by: conformance("generated"),
      named: "'organizations.create': the SDK and the server accept and refuse the same bodies",
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
    },
  },
  {
    what: "a credential in the log",
    file: "server/http/request-log.ts",
    from: "status: response.statusCode,",
    to: "status: response.statusCode, credential: request.headers.authorization,",
    noticed: { by: conformance("secrets"), named: "sqlite shows them in no answer but the one field", nouns: "sites" },
  },
  {
    what: "a remembered answer whose secret is not sealed",
    file: "server/http/pipeline.ts",
    from: "secret: responseHoldsSecret(endpoint),",
    to: "secret: false,",
    noticed: { by: conformance("secrets"), named: "sqlite keeps none of them in the clear", nouns: "api-keys" },
  },
  {
    what: "a change that a refused call leaves behind",
    file: "server/http/pipeline.ts",
    from: "authorize(passage.who, endpoint.access",
    to: `await services.store.connection("system").updateTable("partners").set({ billingEmail: "x@y.example" }).execute();
  authorize(passage.who, endpoint.access`,
    noticed: { by: conformance("authorization"), named: "sqlite 'sites.create' refuses a session without MFA" },
  },
  {
    what: "an entry that does not say what it is about",
    file: "server/http/audit-entry.ts",
    from: "resourceId: note.resource?.id ?? null",
    to: "resourceId: null",
    noticed: { by: conformance("success"), named: "sqlite 'sites.create' answers what the contract says" },
  },
  {
    what: "a success without its entry, of a call that takes a password first",
    file: "server/features/sign-in/passwords/change.ts",
    from: "call.audit.note({ details: { endedSessions: ended } });",
    to: "call.audit.skip();",
    noticed: { by: conformance("success"), named: "sqlite 'passwords.change' answers what the contract says" },
  },
  {
    what: "a trail that other tenants can read",
    file: "server/features/audit/audit-logs/list.ts",
    from: `idsOfPage(call.db, { ...asked, limit, offset: (page - 1) * limit }, form),
  ]);
  const rows = found.length === 0 ? [] : await rowsOfPage(call.db,`,
    to: `idsOfPage(call.services.store.connection("system"), { ...asked, partnerId: undefined, limit, offset: (page - 1) * limit }, form),
  ]);
  const rows = found.length === 0 ? [] : await rowsOfPage(call.services.store.connection("system"),`,
    noticed: {
      by: conformance("tenancy"),
      named: "sqlite 'auditLogs.list' shows a tenant nothing of another",
      nouns: "audit-logs",
    },
  },
  {
    what: "a limit that is looked at and never taken",
    file: "server/access/attempts.ts",
    from: "const allowance = await services.limiter.take(limit, subject);\n    if",
    to: "const allowance = await services.limiter.peek(limit, subject);\n    if",
    noticed: { by: conformance("limits"), named: "sqlite 'login-email' admits no more than it says" },
  },
];

describe("the suite turns red", () => {
  let copy: string;
  beforeAll(() => {
    copy = copyTree("broken");
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it("but not for an unbroken copy", async () => {
    for (const by of ["scripts/check.test.ts", "scripts/gen.test.ts", "server/test/golden"]) {
      const tests = await runTests(copy, [by]);
      expect(tests.length, by).toBeGreaterThan(0);
      expect(failed(tests)).toEqual([]);
    }
  }, 180_000);

  it.each(breaks)(
    "for $what, by the test that should notice",
    async ({ file, from, to, noticed: { by, named, nouns } }) => {
      const path = join(copy, file);
      const good = readFileSync(path, "utf8");
      const bad = good.replace(from, to);
      expect(bad, `${file} has changed: nothing was broken`).not.toBe(good);
      writeFileSync(path, bad);
      try {
        const tests = await runTests(copy, named ? [by, "-t", named] : [by], nouns);
        expect(tests.length, "the test that should notice did not run").toBeGreaterThan(0);
        expect(failed(tests)).not.toEqual([]);
      } finally {
        writeFileSync(path, good);
      }
    },
    400_000,
  );
});
