import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isExactNumber, jsonFaults } from "#contract/core/exact-json";
import { allEndpoints } from "#contract/index";
import { jsonSchemaOf } from "#contract/json-schema";
import { seedWorld, type World } from "#fixtures/world";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../test/harness.ts";

/** As they are written in a body; all of them are numbers that a double is. */
const numbers = [
  "0",
  "-0",
  "-0.0",
  "1.0",
  "1.50",
  "15e-1",
  "1E3",
  "0.30000000000000004",
  "5e-324",
  "1.7976931348623157e308",
  "9007199254740992",
  "-9007199254740991",
  "1e21",
  "123456789012345680000",
  `1${"0".repeat(300)}`,
];
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
/** `settings` is the second level of a body, and a number a level of its own. */
const deepest = nested(149);
const fullest = `{"filler":"${"x".repeat(16 * 1024 - 13)}"}`;
const shapes = [
  `{"numbers":[${numbers.join(",")}]}`,
  '{"constructor":{"prototype":1},"toString":null,"":{"":0},"a.b":[[],{}],"z":1,"a":2}',
  '{"text":"\\u2028 \\ud83d\\ude00 C:\\\\u0000 \\u00e9 <&>"}',
  deepest,
  fullest,
];

describe.each(databases)("free objects on %s", (database) => {
  let server: TestServer;
  let world: World;
  let admin: SignedInUser;
  let count = 0;
  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    admin = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
  });
  afterAll(() => server?.stop());

  const places: Record<string, (json: string, headers: Record<string, string>) => Promise<unknown>> = {};
  const place = (field: string, method: string, path: () => string, rest: () => object = () => ({})) => {
    places[`${method} ${field}`] = async (json, headers) => {
      const given = JSON.stringify(rest()).slice(1, -1);
      const raw = `{${given}${given === "" ? "" : ","}${JSON.stringify(field)}:${json}}`;
      const answer = await server.request(method, path(), { token: admin.token, raw, headers });
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body[field];
    };
  };
  const fresh = () => `exact-${++count}`;
  const organization = () => `/orgs/organizations/${world.a.orgId}`;
  for (const field of ["settings", "billingContact"]) {
    place(
      field,
      "POST",
      () => "/orgs/organizations",
      () => ({ name: "x", slug: fresh() }),
    );
    place(field, "PATCH", organization);
  }
  place("ssoConfig", "PATCH", organization);
  for (const field of ["address", "contact", "settings"])
    place(
      field,
      "POST",
      () => "/orgs/sites",
      () => ({ orgId: world.a.orgId, name: "x" }),
    );

  places["POST payload of a webhook's test"] = async (json, headers) => {
    const path = `/webhooks/${world.a.webhookId}/test`;
    const answer = await server.request("POST", path, { token: admin.token, raw: `{"payload":${json}}`, headers });
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return answer.body.delivery.payload.data.payload;
  };

  it("every free object gives back what was sent, with and without an idempotency key (C58)", async () => {
    for (const [name, send] of Object.entries(places))
      for (const json of shapes)
        for (const headers of [{}, { "x-idempotency-key": `exact-key-${fresh()}` }]) {
          const kept = await send(json, headers as Record<string, string>);
          const sent = JSON.parse(json.replaceAll("-0.0", "0").replaceAll("-0,", "0,"));
          expect(kept, `${name} ${json.slice(0, 60)}`).toEqual(sent);
        }
  });

  it("one level or byte more is refused the same way, with and without an idempotency key (C58)", async () => {
    for (const json of [nested(150), fullest.replace("x", "xx"), '{"x":1e400}', '{"x":12345678901234567890}'])
      for (const headers of [{}, { "x-idempotency-key": `exact-key-${fresh()}` }]) {
        const raw = `{"orgId":"${world.a.orgId}","name":"x","settings":${json}}`;
        const answer = await server.request("POST", "/orgs/sites", {
          token: admin.token,
          raw,
          headers: headers as Record<string, string>,
        });
        expect([answer.status, answer.body.details?.[0]?.path], json.slice(0, 40)).toEqual([
          400,
          json.startsWith('{"x"') ? "settings.x" : json === nested(150) ? undefined : "settings",
        ]);
      }
  });
});

it("every free object that the contract takes is sent in these tests (C58)", () => {
  const found = allEndpoints()
    .filter(({ from }) => from !== "machine")
    .flatMap((endpoint) => {
      const { body } = endpoint.schemas();
      const fields = body === undefined ? {} : (jsonSchemaOf(body, "input").properties ?? {});
      return Object.entries(fields)
        .filter(([, schema]) => [schema, ...(schema.anyOf ?? [])].some(isFree))
        .map(([name]) => `${endpoint.noun} ${name}`);
    });
  expect([...new Set(found)].toSorted()).toEqual([
    // Its type says what it may hold: the schema of each type refuses everything else.
    "device-commands payload",
    // So does the schema of each tool for its arguments.
    "mcp-tools params",
    "organizations billingContact",
    "organizations settings",
    "organizations ssoConfig",
    "partners ssoConfig",
    "sites address",
    "sites contact",
    "sites settings",
    "users preferences",
    "webhooks payload",
  ]);
});

const isFree = ({ type, additionalProperties }: { type?: string | string[]; additionalProperties?: unknown }) =>
  [type].flat().includes("object") && additionalProperties !== undefined && additionalProperties !== false;

it("tells numbers that are doubles from those that are not (C58)", () => {
  for (const source of numbers) expect(isExactNumber(source), source).toBe(true);
  for (const source of ["1e400", "1e-400", "9007199254740993", "0.1000000000000000055", "1e99999999999", "1.0e-999"])
    expect(isExactNumber(source), source).toBe(false);
  expect(jsonFaults(`{"a":[${"1,".repeat(10)}1e999],"b":{"c":1,"c":2}}`).map(({ path }) => path)).toEqual([
    "a[10]",
    "b.c",
  ]);
});
