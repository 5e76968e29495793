import { camel, list } from "./tree.ts";

const folder = "sdk/contract/core/policy-features";
/** Declares what a feature is, and is none. */
const declaration = "policy-feature.ts";

/** The types of features of configuration policies by the files that exist. */
export function policyFeatureTable(banner: string): string {
  const files = list(folder).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== declaration,
  );
  const names = files.map((name) => name.slice(0, -".ts".length));
  return [
    banner,
    'import type { z } from "zod";',
    ...names.map((name) => `import { policyFeature as ${camel(name)} } from "../core/policy-features/${name}.ts";`),
    "",
    '/** What configuration policies may carry, by type (docs/configuration-policies.md, "Feature types"). */',
    `export const policyFeatures = { ${names.map((name) => `${typeOf(name)}: ${camel(name)}`).join(", ")} } as const;`,
    "",
    "export type FeatureType = keyof typeof policyFeatures;",
    'export type FeatureSettings<T extends FeatureType> = z.output<ReturnType<(typeof policyFeatures)[T]["settings"]>>;',
    "",
    "export const featureTypes = Object.keys(policyFeatures) as [FeatureType, ...FeatureType[]];",
    "",
  ].join("\n");
}

const typeOf = (name: string): string => name.replaceAll("-", "_");
