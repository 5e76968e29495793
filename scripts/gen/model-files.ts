import { type Area, areas } from "#contract/areas";
import { banner } from "./text.ts";

const folder = "sdk/generated/models";

/** One file per area with its types, and one that exports all. */
export function modelFiles(types: ReadonlyMap<string, string>, areaOf: ReadonlyMap<string, Area>): Map<string, string> {
  const used = (Object.keys(areas) as Area[]).filter((area) =>
    [...types.keys()].some((name) => areaOf.get(name) === area),
  );
  const all = [banner, ...used.toSorted().map((area) => `export type * from "./${area}.ts";`), ""].join("\n");
  return new Map([
    ...used.map((area) => [`${folder}/${area}.ts`, fileOf(area, types, areaOf)] as const),
    [`${folder}/index.ts`, all],
  ]);
}

function fileOf(area: Area, types: ReadonlyMap<string, string>, areaOf: ReadonlyMap<string, Area>): string {
  const own = [...types].filter(([name]) => areaOf.get(name) === area).map(([, text]) => text);
  const foreign = new Map<Area, string[]>();
  for (const name of namesIn(own.join("\n")).toSorted()) {
    const from = areaOf.get(name);
    if (from !== undefined && from !== area) foreign.set(from, [...(foreign.get(from) ?? []), name]);
  }
  const imports = [...foreign].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    banner,
    ...imports.map(([from, names]) => `import type { ${names.join(", ")} } from "./${from}.ts";`),
    "",
    ...own,
  ].join("\n");
}

/** Words of the text that may name a type: outside comments and strings. */
const namesIn = (text: string): string[] => [
  ...new Set(text.replaceAll(/\/\*\*.*\*\/$|"(?:[^"\\]|\\.)*"/gm, "").match(/\b[A-Z]\w*/g)),
];
