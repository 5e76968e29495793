import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

/** Known keys of an organization's settings, and of a partner's, that say something else than they may. */
const wrong: Record<"organization" | "partner", Record<string, unknown>> = {
  organization: {
    "security.requireMfa": "true",
    "enrollment.maxTtlMinutes": "30",
    "billing.currencyCode": "usd",
    "billing.taxRate": 1.5,
    "billing.taxExempt": "no",
    "billing.taxId": 5,
    "billing.billToAddress": 5,
    timezone: "Mars/Olympus",
    security: true,
    enrollment: [],
    billing: "INV",
  },
  partner: {
    "security.requireMfa": "true",
    "billing.currencyCode": "EURO",
    "billing.defaultTaxRate": "0.1234567",
    "billing.invoiceNumberPrefix": 7,
    "billing.quoteNumberPrefix": {},
    "billing.invoiceTermsDays": 30.5,
    "billing.footer": [],
    "billing.termsAndConditions": true,
    billing: "INV",
    timezone: 1,
  },
};

const nested = (path: string, value: unknown): unknown =>
  path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

describe.each(databases)("known keys of settings on %s", (database) => {
  let server: TestServer;
  let world: World;
  let admin: SignedInUser;
  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    admin = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
  });
  afterAll(() => server?.stop());

  const paths = () => ({ organization: `/orgs/organizations/${world.a.orgId}`, partner: "/orgs/partners/me" });
  const read = async (of: "organization" | "partner") =>
    (await server.request("GET", paths()[of], { token: admin.token })).body.settings;

  it.each(
    Object.entries(wrong).flatMap(([of, keys]) => Object.entries(keys).map(([path, value]) => ({ of, path, value }))),
  )("$path of a $of that is $value is refused and changes nothing", async ({ of, path, value }) => {
    const kind = of as "organization" | "partner";
    const before = await read(kind);
    const body = { settings: nested(path, value) };
    const answer = await server.request("PATCH", paths()[kind], { token: admin.token, body });
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.body.details[0].path).toBe(`settings.${path}`);
    expect(await read(kind)).toEqual(before);
  });

  it("what is typed rightly, unset by null or unknown is kept as it was sent", async () => {
    const settings = {
      timezone: "Europe/Madrid",
      security: { requireMfa: null, other: "x" },
      enrollment: { maxTtlMinutes: 30 },
      billing: { taxRate: "0.070000", currencyCode: "EUR", billToAddress: { line1: "x" }, own: [1] },
      theme: { dark: "yes" },
    };
    const { status, body } = await server.request("PATCH", paths().organization, {
      token: admin.token,
      body: { settings },
    });
    expect([status, body.settings]).toEqual([200, settings]);
    const billing = { defaultTaxRate: 0.19, invoiceTermsDays: 14, footer: " two\nlines ", own: { a: 1 } };
    const changed = await server.request("PATCH", paths().partner, {
      token: admin.token,
      body: { settings: { billing } },
    });
    expect([changed.status, changed.body.settings.billing]).toEqual([200, billing]);
  });

  describe("billing", () => {
    const caller = (...permissions: string[]) =>
      server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId, permissions });
    const change = async ({ token }: SignedInUser, of: "organization" | "partner", body: object) => {
      const answer = await server.request("PATCH", paths()[of], { token, body });
      return answer.status === 200 ? 200 : [answer.status, answer.body.code, answer.body.details?.required];
    };
    const denied = (required: string) => [403, "PERMISSION_DENIED", required];
    const billing = { currencyCode: "CHF" };

    it("is changed by who may manage it, and sent back unchanged by anybody who may write settings", async () => {
      const writer = await caller("organizations:read", "organizations:write");
      for (const of of ["organization", "partner"] as const) {
        await change(admin, of, { settings: { billing: { currencyCode: "EUR" } } });
        const before = await read(of);
        expect(await change(writer, of, { settings: { ...before, billing } })).toEqual(denied("billing:manage"));
        expect(await change(writer, of, { settings: { ...before, billing: null } })).toEqual(denied("billing:manage"));
        expect(await read(of)).toEqual(before);
        const { organizationOrder: _, ...same } = before;
        expect(await change(writer, of, { settings: same })).toBe(200);
      }
      const emptied = { settings: { theme: "dark" } };
      expect(await change(writer, "organization", emptied), "replaced whole").toEqual(denied("billing:manage"));
      const created = { name: "New", slug: "new-one", settings: { billing } };
      const refused = await server.request("POST", "/orgs/organizations", { token: writer.token, body: created });
      expect([refused.status, refused.body.details]).toEqual([403, { required: "billing:manage" }]);
    });

    it("of an organization takes no other permission where nothing else changes, and keeps the other settings", async () => {
      const accountant = await caller("organizations:read", "billing:manage");
      await change(admin, "organization", {
        settings: { timezone: "Europe/Madrid", billing: { currencyCode: "EUR" } },
      });
      expect(await change(accountant, "organization", { settings: { billing } })).toBe(200);
      const after = { timezone: "Europe/Madrid", billing };
      expect(await read("organization")).toEqual(after);
      for (const more of [
        { settings: { billing, timezone: "UTC" } },
        { settings: { billing }, name: "x" },
        { name: "x" },
      ])
        expect(await change(accountant, "organization", more)).toEqual(denied("organizations:write"));
      expect(await change(accountant, "partner", { settings: { billing } })).toEqual(denied("organizations:write"));
      expect(await read("organization")).toEqual(after);
    });
  });
});
