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
});
