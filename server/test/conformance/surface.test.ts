import { afterAll, beforeAll, expect, it } from "vitest";
import { nouns } from "#cli/generated/nouns";
import { commandsOf } from "#cli/generic/commands-of";
import { programFor } from "#cli/program";
import { allEndpoints, contract } from "#contract/index";
import { buildOpenApi } from "#contract/openapi";
import { createClient } from "#sdk/client";
import { endpoints as sdkEndpoints } from "#sdk/generated/endpoints";
import { implementations } from "#server/generated/routes";
import { startTestServer, type TestServer } from "../harness.ts";

/** Server, SDK, command line, contract and OpenAPI offer the same endpoints under the same names. */
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `noun.verb METHOD /path`, noun and verb as the SDK writes them. */
const line = (noun: string, verb: string, { method, path }: { method: string; path: string }) =>
  `${camel(noun)}.${camel(verb)} ${method} ${path}`;

const wanted = allEndpoints()
  .map((endpoint) => line(endpoint.noun, endpoint.verb, endpoint))
  .toSorted();
const wantedNames = wanted.map((one) => one.split(" ")[0] as string);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer("sqlite");
});
afterAll(() => server.stop());

it("no two endpoints share a name or a method and path", () => {
  expect(new Set(wantedNames).size).toBe(wanted.length);
  expect(new Set(wanted.map((one) => one.slice(one.indexOf(" ")))).size).toBe(wanted.length);
});

it("the contract names its endpoints as its table does", () => {
  const tabled = Object.entries(contract).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]) => [`${noun}.${verb}`, `${camel(endpoint.noun)}.${endpoint.verb}`]),
  );
  for (const [key, name] of tabled) expect(name).toBe(key);
  for (const noun of Object.keys(contract)) expect(allEndpoints().some((one) => one.noun === kebab(noun))).toBe(true);
});

it("the server has a handler for every endpoint of the contract, and for nothing else", () => {
  const implemented = implementations.map(({ endpoint }) => line(endpoint.noun, endpoint.verb, endpoint));
  expect(implemented.toSorted()).toEqual(wanted);
  for (const { endpoint, handler } of implementations)
    expect(handler, `${endpoint.noun}.${endpoint.verb}`).toBeTypeOf("function");
});

it("the server answers on every path of the contract with exactly its methods", async () => {
  for (const path of new Set(allEndpoints().map((endpoint) => endpoint.path))) {
    const here = allEndpoints().filter((endpoint) => endpoint.path === path);
    const url = path.replace(/:\w+/g, "11111111-1111-4111-8111-111111111111");
    // A parameter would also take the place of a literal segment; the literal path is mounted first and answers.
    const { status, headers } = await server.request("PURGE", url);
    expect(status, path).toBe(405);
    expect(headers.get("allow")?.split(", ").toSorted(), path).toEqual(here.map(({ method }) => method).toSorted());
  }
});

it("the SDK has a method for every endpoint, and for nothing else", () => {
  const client = createClient({ baseUrl: "http://127.0.0.1:9" });
  const { auth, request, ...methods } = client;
  expect([typeof auth.adopt, typeof request]).toEqual(["function", "function"]);
  const names = Object.entries(methods).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, method]) => {
      expect(method).toBeTypeOf("function");
      return `${noun}.${verb}`;
    }),
  );
  expect(names.toSorted()).toEqual(wantedNames);
  const sent = Object.entries(sdkEndpoints).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]) => line(noun, verb, endpoint)),
  );
  expect(sent.toSorted()).toEqual(wanted);
});

/** Written by hand beside those of the endpoints: they put several together, judge what was kept, or forward what is told. */
const beside = [
  ...["devices run", "devices set", "devices export", "devices import", "devices watch"],
  ...["webhooks listen", "webhooks verify", "approver-devices register"],
  ...["approve", "deny", "watch", "stats"].map((verb) => `elevation-requests ${verb}`),
  ...["pam-rules test", "pam-rules reorder"],
  ...["saved-filters explain", "saved-filters fields", "saved-filters save"],
];

it("the command line has a command for every endpoint, and the nouns have no other", async () => {
  const leaves: string[] = [];
  const specs: string[] = [];
  for (const { noun } of nouns) {
    const group = (await programFor(noun)).commands.find((one) => one.name() === noun);
    for (const command of group?.commands ?? []) {
      expect(command.commands, `${noun} ${command.name()}`).toEqual([]);
      leaves.push(`${noun} ${command.name()}`);
    }
    for (const spec of await commandsOf(noun)) specs.push(line(noun, spec.name, spec));
  }
  const typed = allEndpoints().map(({ noun, verb }) => `${noun} ${kebab(verb)}`);
  expect(leaves.toSorted()).toEqual([...typed, ...beside].toSorted());
  expect(specs.toSorted()).toEqual(wanted);
});

it("the published description has an operation for every endpoint, and for nothing else", async () => {
  const served = (await server.request("GET", "/openapi.json")).body as ReturnType<typeof buildOpenApi>;
  expect(served).toEqual(JSON.parse(JSON.stringify(buildOpenApi())));
  const operations = Object.entries(served["paths"] as Record<string, Record<string, { operationId: string }>>).flatMap(
    ([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => {
        const [noun, verb] = operationId.split(".") as [string, string];
        return line(noun, verb, { method: method.toUpperCase(), path: path.replace(/\{(\w+)\}/g, ":$1") });
      }),
  );
  expect(operations.toSorted()).toEqual(wanted);
});
