import { readFileSync } from "node:fs";
import { nounOf } from "#contract/core/endpoint";
import { areaOfNoun, contract } from "#contract/index";
import { camel } from "../gen/tree.ts";
import type { TreeEdit } from "./edit-tree.ts";
import { kebabOf, namesOf, pascal } from "./names.ts";

export interface NewEndpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`, parameters as `:name`. */
  readonly path: string;
  /** Kebab-case; exists already. */
  readonly noun: string;
  /** camelCase. */
  readonly verb: string;
  readonly summary: string;
}

const helpers = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "del" } as const;

/**
 * The four places of an endpoint on a noun that exists: contract entry, audit action, handler (with its line in the
 * routes), example; and a test that is red until the handler does its work.
 */
export function addEndpoint(tree: TreeEdit, wanted: NewEndpoint): void {
  const { method, noun, verb } = wanted;
  const area = areaOfNoun(noun);
  if (area === undefined) throw new Error(`there is no noun ${noun}: npm run new-noun`);
  const room = `server/features/${area}/${noun}`;
  const entries = `sdk/contract/resources/${area}/${noun}.ts`;
  const handler = `${verb}${namesOf(noun).shape}`;
  const file = `${kebabOf(verb)}.ts`;
  const action = `${auditPrefix(noun)}.${kebabOf(verb).replaceAll("-", "_")}`;
  tree.insertProperty(entries, /^export const \w+ = resource\(/, entry(wanted, action));
  tree.insertImport(entries, "../../core/endpoint.ts", helpers[method]);
  tree.insertImport(entries, "../../core/fields.ts", "success");
  tree.insertImport(entries, "../../core/access.ts", "staff");
  if (method !== "GET") tree.insertAfter(entries, "audits: [", `"${action}", `);
  tree.insertProperty(`${room}/routes.ts`, /^export const routes = implement\(/, `${verb}: ${handler}`);
  tree.insertBefore(`${room}/routes.ts`, /^/, `import { ${handler} } from "./${file}";\n`);
  tree.add(`${room}/${file}`, handlerFile(wanted, area, handler));
  tree.add(`${room}/${file.replace(/\.ts$/, ".test.ts")}`, testFile(wanted));
  const ids = [...wanted.path.matchAll(/:(\w+)/g)].map(([, name]) => `${name}: t.${ownId(noun, name as string)}`);
  const example = ids.length === 0 ? "noRequest" : `(t) => ({ params: { ${ids.join(", ")} } })`;
  const fixtures = `fixtures/nouns/${area}/${noun}.ts`;
  tree.insertProperty(fixtures, /^export const examples: /, `${verb}: ${example}`);
  if (ids.length === 0) tree.insertImport(fixtures, "../../example.ts", "noRequest");
}

/** The first word of its audit actions: that of its name, where the noun does not say another. */
function auditPrefix(noun: string): string {
  const { audits } = nounOf(contract[camel(noun) as keyof typeof contract]);
  const prefixes = audits.map((action) => action.slice(0, action.indexOf(".")));
  const own = namesOf(noun).prefix;
  return prefixes.includes(own) ? own : (prefixes[0] ?? own);
}

/** One of our own says why it is there: `specification.test.ts` is red until then. */
export function isSpecified(method: string, path: string): boolean {
  const { endpoints } = JSON.parse(readFileSync("fixtures/golden/specification.json", "utf8")) as { endpoints: object };
  const shapeOf = (endpoint: string) => endpoint.replace(/:\w+/g, ":");
  return Object.keys(endpoints).some((one) => shapeOf(one) === shapeOf(`${method} ${path}`));
}

/** The row of a tenant that a parameter probably means; the compiler says where it is another. */
const ownId = (noun: string, parameter: string): string =>
  parameter === "id" ? `${camel(namesOf(noun).thing)}Id` : parameter;

function entry({ method, path, verb, summary }: NewEndpoint, action: string): string {
  return [
    `${verb}: ${helpers[method]}("${path}", {`,
    `    summary: "${summary}",`,
    ...(isSpecified(method, path) ? [] : ['    own: "",']),
    "    access: staff(),",
    ...(method === "GET" ? [] : [`    audit: "${action}",`]),
    ...(method === "POST" ? ['    loses: "nothing",'] : []),
    ...(path.includes(":") ? ['    errors: ["NOT_FOUND"],'] : []),
    "    returns: success,",
    "  })",
  ].join("\n");
}

const handlerFile = ({ noun, verb, summary }: NewEndpoint, area: string, handler: string): string => `\
import type { Endpoint } from "#contract/core/endpoint";
import type { ${camel(noun)} } from "#contract/resources/${area}/${noun}";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

type ${pascal(verb)}Call = typeof ${camel(noun)}.${verb} extends Endpoint<infer T> ? Call<T> : never;

/** ${summary}. */
export async function ${handler}(call: ${pascal(verb)}Call): Promise<{ success: true }> {
  throw problem("INTERNAL_ERROR", { cause: { unwritten: "${noun} ${verb}", params: call.params } });
}
`;

const testFile = ({ method, path, noun, verb }: NewEndpoint): string => `\
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Example } from "#fixtures/example";
import { examples } from "#fixtures/generated/nouns";
import { seedTenant, type Tenant } from "#fixtures/world";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("${noun} ${verb} on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
  });
  afterAll(() => server?.stop());

  it("answers its example", async () => {
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    const example: Example = examples.${camel(noun)}.${verb}(acme);
    const params = (example.params ?? {}) as Record<string, string>;
    const path = "${path}".replace(/:(\\w+)/g, (_, name: string) => params[name] ?? "");
    expect((await server.request("${method}", path, { token, body: example.body })).status).toBe(200);
  });
});
`;
