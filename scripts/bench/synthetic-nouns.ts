import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { camel, type NounFile, nounFiles } from "../gen/tree.ts";

/** Nouns that cannot be copied: they sign in, serve at the root, or are known to sweeps by name. */
const ONCE = new Set([
  "service-status",
  "sessions",
  "mfa",
  "passwords",
  "sso-logins",
  "agents",
  "audit-logs",
  "partner-service-principals",
]);

/**
 * Adds copies of the real nouns to a copy of the tree until the contract has `wanted` endpoints: other names, paths and
 * shapes over the same handlers, tables and examples. Returns the number of endpoints.
 */
export function addSyntheticNouns(root: string, wanted: number): number {
  const nouns = nounFiles(root);
  let endpoints = nouns.reduce((sum, noun) => sum + endpointsOf(root, noun), 0);
  const copied = nouns.filter(({ noun }) => !ONCE.has(noun));
  for (let round = 2; endpoints < wanted; round += 1) {
    for (const noun of copied) {
      if (endpoints >= wanted) break;
      copyNoun(root, noun, round);
      endpoints += endpointsOf(root, noun);
    }
  }
  return endpoints;
}

const DEFINITION = /\b(get|post|put|patch|del|create)\(\s*"(\/[^"]*)"/g;

const endpointsOf = (root: string, noun: NounFile): number =>
  [...readFileSync(contractOf(root, noun), "utf8").matchAll(DEFINITION)].length;

const contractOf = (root: string, { area, noun }: NounFile): string =>
  join(root, "sdk/contract/resources", area, `${noun}.ts`);

function copyNoun(root: string, noun: NounFile, round: number): void {
  const name = `${noun.noun}-x${round}`;
  const key = camel(name);
  const contract = readFileSync(contractOf(root, noun), "utf8")
    .replaceAll(DEFINITION, (_, helper: string, path: string) => `${helper}("/x${round}${path}"`)
    .replaceAll(/shape\("(\w+)"/g, (_, shape: string) => `shape("${shape}X${round}"`)
    .replace(`name: "${noun.noun}"`, `name: "${name}"`)
    // The rows are the original's.
    .replaceAll(/^ {2}(?:kinds|awaits): \{.*?\},\n(?= {2}\w)/gms, "")
    .replaceAll(new RegExp(`\\b${noun.key} = resource\\(`, "g"), `${key} = resource(`);
  writeFileSync(contractOf(root, { ...noun, noun: name }), contract);
  const room = join(root, "server/features", noun.area);
  mkdirSync(join(room, name), { recursive: true });
  const routes = readFileSync(join(room, noun.noun, "routes.ts"), "utf8")
    .replaceAll('from "./', `from "../${noun.noun}/`)
    .replace(`resources/${noun.area}/${noun.noun}"`, `resources/${noun.area}/${name}"`)
    .replace(`import { ${noun.key} }`, `import { ${key} }`)
    .replace(`implement(${noun.key},`, `implement(${key},`);
  writeFileSync(join(room, name, "routes.ts"), routes);
  const fixtures = join(root, "fixtures/nouns", noun.area);
  if (!existsSync(join(fixtures, `${noun.noun}.ts`))) throw new Error(`${noun.noun} has no fixtures`);
  writeFileSync(
    join(fixtures, `${name}.ts`),
    [
      `import type { ${key} } from "#contract/resources/${noun.area}/${name}";`,
      'import type { ExamplesOf } from "../../example.ts";',
      'import type { Tenant } from "../../world.ts";',
      `import { examples as original } from "./${noun.noun}.ts";`,
      "",
      `export const examples: ExamplesOf<typeof ${key}, Tenant> = original;`,
      "",
    ].join("\n"),
  );
}
