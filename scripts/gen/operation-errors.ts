import { genericErrors } from "#contract/core/errors";
import { errorGroups } from "#contract/core/possible-errors";
import { allEndpoints } from "#contract/index";
import { banner } from "./text.ts";

/** `sdk/generated/operation-errors.ts`: the codes that each operation may answer. */
export function sdkOperationErrors(): string {
  const groups = Object.entries(genericErrors).map(([name, codes]) => `type ${pascal(name)} = ${union(codes)};`);
  const operations = allEndpoints().map((endpoint) => {
    const own = endpoint.errors.map((code) => JSON.stringify(code));
    const parts = [...own, ...errorGroups(endpoint).map(pascal)];
    return `  "${endpoint.noun}.${endpoint.verb}": ${parts.join(" | ")};`;
  });
  return [
    banner,
    "",
    ...groups,
    "",
    '/** Codes of the API that an operation may answer: `OperationErrors["organizations.create"]`. */',
    "export interface OperationErrors {",
    ...operations,
    "}",
    "",
  ].join("\n");
}

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const union = (codes: readonly string[]): string => codes.map((code) => JSON.stringify(code)).join(" | ");
