import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { eventKinds } from "./core/events.ts";
import { allEndpoints, contract } from "./index.ts";
import { jsonSchemaOf, secretPaths } from "./json-schema.ts";
import { buildOpenApi } from "./openapi.ts";

type Operation = { operationId: string; requestBody?: { content: Record<string, { schema: object }> } };

const document = JSON.parse(JSON.stringify(buildOpenApi())) as { paths: Record<string, Record<string, Operation>> };
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

test("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const outcome = await validator.validate(structuredClone(document));
  expect(outcome.errors ?? []).toEqual([]);
  expect(outcome.valid).toBe(true);
  expect(validator.version).toBe("3.1");
});

test("there is one operation per endpoint", () => {
  const named = allEndpoints().map((endpoint) => `${endpoint.noun}.${endpoint.verb}`);
  expect(operations.map((one) => one.operationId).toSorted()).toEqual(named.toSorted());
});

test("every kind of event is a webhook with its own data, and operations name kinds that there are", () => {
  const { webhooks } = document as unknown as {
    webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> } } }>;
  };
  expect(Object.keys(webhooks)).toEqual(eventKinds);
  expect(webhooks["site.updated"]?.post.requestBody.content["application/json"]?.schema).toMatchObject({
    required: ["id", "type", "timestamp", "orgId", "siteId", "data"],
    properties: {
      type: { const: "site.updated" },
      data: {
        required: ["siteId", "siteName", "changedFields"],
        properties: { siteId: { type: "string", format: "uuid" } },
      },
    },
  });
  const shown = operations as unknown as Record<string, unknown>[];
  const named = (extension: string) =>
    shown.map((one) => [one["operationId"], one[extension] ?? []]).toSorted() as [string, string[]][];
  const declared = (which: "emits" | "mayEmit") =>
    allEndpoints()
      .map((endpoint) => [`${endpoint.noun}.${endpoint.verb}`, endpoint[which]])
      .toSorted();
  expect(named("x-events")).toEqual(declared("emits"));
  expect(named("x-events-in-some-cases")).toEqual(declared("mayEmit"));
  expect(Object.fromEntries(named("x-events"))["sites.create"]).toEqual(["site.created"]);
});

test("no marker of the schema library is published, and what a schema publishes is", () => {
  const text = JSON.stringify(document);
  expect(text).not.toContain('"published"');
  expect(text).not.toContain('"secret":true');
  const created = document.paths["/orgs/sites"]?.["post"]?.requestBody?.content["application/json"]?.schema;
  expect(created).toMatchObject({
    required: ["name"],
    properties: { orgId: { type: "string", format: "uuid" }, timezone: { default: "UTC" } },
  });
});

test("secret fields are found at every depth", () => {
  const { body, result } = contract.mfa.enable.schemas();
  expect(secretPaths(body && jsonSchemaOf(body, "input"))).toEqual(["code"]);
  expect(secretPaths(result && jsonSchemaOf(result, "output")).toSorted()).toEqual([
    "accessToken",
    "recoveryCodes",
    "refreshToken",
  ]);
  const login = contract.sessions.login.schemas().result;
  expect(secretPaths(login && jsonSchemaOf(login, "output"))).toContain("tempToken");
});
