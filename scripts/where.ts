import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { allEndpoints, areaOfNoun } from "#contract/index";
import { kebab } from "./gen/text.ts";
import { camel } from "./gen/tree.ts";

/** `npm run where "POST /api-keys/:id/rotate"` (or `api-keys rotate`): everything that belongs to an endpoint. */
const wanted = process.argv.slice(2).join(" ").trim();
const found = allEndpoints().filter((endpoint) => matches(endpoint, wanted));
if (found.length === 0) {
  process.stderr.write(`no endpoint matches "${wanted}"; try "GET /orgs/sites", "sites list" or part of a path\n`);
  process.exitCode = 1;
}
for (const endpoint of found) process.stdout.write(`${describe(endpoint)}\n\n`);

function matches({ method, path, noun, verb }: AnyEndpoint, text: string): boolean {
  const names = [`${method} ${path}`, `${method} /api/v1${path}`, `${noun} ${kebab(verb)}`, `${noun}.${verb}`];
  return names.includes(text) || (text.startsWith("/") && path.includes(text));
}

function describe(endpoint: AnyEndpoint): string {
  const { noun, verb, method, path, access } = endpoint;
  const area = areaOfNoun(noun);
  const contractFile = `sdk/contract/resources/${area}/${noun}.ts`;
  const room = `server/features/${area}/${noun}`;
  const files = listed(room);
  const handler = handlerOf(room, verb);
  const lines: [string, string][] = [
    ["contract", `${contractFile}:${lineOf(contractFile, new RegExp(`^  ${verb}:`))}`],
    ["routes", `${room}/routes.ts:${lineOf(`${room}/routes.ts`, new RegExp(`^\\s+${verb}[:,(]`))}`],
    ["handler", handler],
    ["queries", files.filter((name) => /queries/.test(name)).join(", ") || "none of its own"],
    ["rules", files.filter((name) => /rules\.ts$/.test(name)).join(", ") || "none"],
    ["tests", files.filter((name) => name.endsWith(".test.ts")).join(", ") || "conformance only"],
    ["SDK", `rmm.${camel(noun)}.${verb}()`],
    ["command", `rmm ${noun} ${kebab(verb)}`],
    [
      "credential",
      access.kinds.join(", ") + (access.kinds.includes("user") ? ` of ${access.scopes.join(", ")} scope` : ""),
    ],
    ["permission", access.permissions.join(", ") || "none"],
    ["MFA", access.mfa ? "needed" : "not needed"],
    ["loses", endpoint.loses],
    ["audit", typeof endpoint.audit === "string" ? endpoint.audit : `none: ${endpoint.audit.none}`],
  ];
  return [
    `${method} ${path}  ${endpoint.summary}`,
    ...lines.map(([name, value]) => `  ${name.padEnd(11)}${value}`),
  ].join("\n");
}

function lineOf(file: string, pattern: RegExp): number | string {
  try {
    return (
      readFileSync(file, "utf8")
        .split("\n")
        .findIndex((line) => pattern.test(line)) + 1
    );
  } catch {
    return "?";
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** The function that the routes bind to a verb, and the file it is imported from. */
function handlerOf(room: string, verb: string): string {
  try {
    const routes = readFileSync(`${room}/routes.ts`, "utf8");
    const name = new RegExp(`^\\s+${verb}: (?:async )?(?:\\(?\\w*\\)? => )?(\\w+)`, "m").exec(routes)?.[1] ?? verb;
    const file = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from "\\./([\\w./-]+)"`).exec(routes)?.[1];
    return file ? `${room}/${file} ${name}` : `${room}/routes.ts`;
  } catch {
    return "?";
  }
}
