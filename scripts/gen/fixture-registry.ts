import { existsSync, readFileSync } from "node:fs";
import type { NounFile } from "./tree.ts";

/** Each noun's file exports `examples`, and `rows` if the tenants of the fixtures have some. */
export function fixtureTable(banner: string, nouns: readonly NounFile[]): string {
  const file = ({ area, noun }: NounFile) => `fixtures/nouns/${area}/${noun}.ts`;
  const present = nouns.filter((noun) => existsSync(file(noun)));
  const withRows = new Set(present.filter((noun) => exportsOf(file(noun), "rows")));
  return lines([
    banner,
    'import type { Contract } from "#contract/index";',
    'import type { ExamplesOf } from "../example.ts";',
    'import type { OwnOf } from "../tenant-rows.ts";',
    ...present.map((noun) => {
      const rows = withRows.has(noun) ? `, rows as ${noun.key}Rows` : "";
      return `import { examples as ${noun.key}${rows} } from "../nouns/${noun.area}/${noun.noun}.ts";`;
    }),
    "",
    "/** A request of every endpoint that succeeds in a tenant of the fixtures. */",
    "export const examples: { readonly [N in keyof Contract]: ExamplesOf<Contract[N], Tenant> } =",
    `  { ${present.map(({ key }) => key).join(", ")} };`,
    "",
    "/** What the nouns add to a tenant. */",
    `export const tenantParts = [${[...withRows].map(({ key }) => `${key}Rows`).join(", ")}];`,
    "",
    "export interface Tenant",
    `  extends ${[...withRows].map(({ key }) => `OwnOf<typeof ${key}Rows>`).join(",\n    ")} {}`,
  ]);
}

function exportsOf(file: string, name: string): boolean {
  return new RegExp(`^export const ${name}\\b`, "m").test(readFileSync(file, "utf8"));
}

const lines = (text: readonly string[]): string => `${text.join("\n")}\n`;
