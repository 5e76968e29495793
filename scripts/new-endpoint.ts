import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

/**
 * `npm run new-endpoint -- POST "/sites/:id/close" sites close "Close a site"`: writes the contract entry, the
 * handler with its route, an example for the sweeps and a test that fails until the handler works. What is
 * left is domain work; the compiler names every place that misses it.
 */
const [method = "", path = "", noun = "", verb = "", summary = ""] = process.argv.slice(2);
const helpers: Record<string, string> = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "del" };
const helper = helpers[method];
if (!helper || !path.startsWith("/") || !/^[a-z][a-z-]*$/.test(noun) || !/^[a-z]\w*$/.test(verb) || summary === "") {
  process.stderr.write('usage: new-endpoint METHOD "/path/:id" noun verb "Summary"\n');
  process.exit(2);
}

const camel = noun.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const pascal = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const handler = `${verb}${pascal(camel).replace(/s$/, "")}`;
const file = `${verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
const room = `server/features/${noun}`;

const audit = method === "GET" ? "" : `\n    audit: { none: "name the audit action" },`;
const entry = `  ${verb}: ${helper}("${path}", {
    summary: "${summary}",
    access: staff(),${audit}
    returns: success,
  }),
`;
edit(`sdk/contract/resources/${noun}.ts`, newContract(), (text) => text.replace(/\n\}\);\s*$/, `\n${entry}});\n`));
edit(
  `${room}/routes.ts`,
  newRoutes(),
  (text) =>
    `import { ${handler} } from "./${file}";\n${text.replace(/\n\}\);\s*$/, `\n  ${verb}: ${handler},\n});\n`)}`,
);
write(`${room}/${file}`, newHandler());
write(`${room}/${file.replace(/\.ts$/, ".test.ts")}`, newTest());
edit("fixtures/examples.ts", undefined, (text) =>
  text.includes(`  ${camel}: {`)
    ? text.replace(`  ${camel}: {`, `  ${camel}: {\n    ${verb}: () => ({}),`)
    : text.replace(/\n\};\s*$/, `\n  ${camel}: { ${verb}: () => ({}) },\n};\n`),
);
process.stdout.write(`next: tsc -b, then fill in ${room}/${file}; npm run gen; npm run where "${method} ${path}"\n`);

function newContract(): string {
  return `import { staff } from "../core/access.ts";
import { ${helper}, resource } from "../core/endpoint.ts";
import { success } from "../core/fields.ts";

export const ${camel} = resource("${noun}", {
${entry}});
`;
}

function newRoutes(): string {
  return `import { ${camel} } from "#contract/resources/${noun}";
import { implement } from "#server/http/implement";
import { ${handler} } from "./${file}";

export const ${camel}Routes = implement(${camel}, {
  ${verb}: ${handler},
});
`;
}

function newHandler(): string {
  return `import type { Endpoint } from "#contract/core/endpoint";
import type { ${camel} } from "#contract/resources/${noun}";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

type ${pascal(verb)}Call = typeof ${camel}.${verb} extends Endpoint<infer T> ? Call<T> : never;

/** ${summary}. */
export async function ${handler}(_call: ${pascal(verb)}Call): Promise<{ success: true }> {
  throw problem("INTERNAL_ERROR", { cause: "${noun} ${verb} has no body yet" });
}
`;
}

function newTest(): string {
  return `import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examples } from "#fixtures/examples";
import { databases, startTestServer, type TestServer } from "../../test/harness.ts";

describe.each(databases)("${noun} ${verb} on %s", (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());

  it("answers", async () => {
    const { token } = await server.signIn({ role: "System Admin" });
    expect(examples.${camel}.${verb}).toBeTypeOf("function");
    expect((await server.request("${method}", "${path}", { token })).status).toBe(200);
  });
});
`;
}

function edit(target: string, fresh: string | undefined, change: (text: string) => string): void {
  if (existsSync(target)) write(target, change(readFileSync(target, "utf8")), true);
  else if (fresh !== undefined) write(target, fresh);
}

function write(target: string, text: string, overwrite = false): void {
  if (existsSync(target) && !overwrite) throw new Error(`${target} exists already`);
  mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
  writeFileSync(target, text);
  process.stdout.write(`wrote ${target}\n`);
}
