import type { KindSpec } from "#cli/manifest";
import { type AnyEndpoint, nounOf, type RowKind } from "#contract/core/endpoint";
import { contract } from "#contract/index";
import { alternatives, jsonSchemaOf } from "#contract/json-schema";
import { banner, kebab } from "./text.ts";

/** `cli/generated/kinds.ts`: what the command must know of rows that ids name. */
export function cliKinds(): string {
  const kinds = Object.values(contract).flatMap((verbs: Record<string, AnyEndpoint>) => {
    const { name, kinds: own = {} } = nounOf(verbs);
    return Object.entries(own).map(([kind, about]) => `  "${kind}": ${JSON.stringify(kindOf(name, verbs, about))},`);
  });
  return [
    banner,
    'import type { RefName } from "#contract/core/generated/refs";',
    'import type { KindSpec } from "../manifest.ts";',
    "",
    "export const kinds: { readonly [R in RefName]?: KindSpec } = {",
    ...kinds,
    "};",
    "",
  ].join("\n");
}

function kindOf(noun: string, verbs: Readonly<Record<string, AnyEndpoint>>, about: RowKind): KindSpec {
  const { names = [], label, example, listedBy = "list", within, searched } = about;
  const list = verbs[listedBy];
  const inPath = list !== undefined && Object.values(list.refs).includes("organization");
  return {
    noun,
    list: list === undefined ? null : kebab(listedBy),
    names,
    labels: [...new Set([...(label === undefined ? [] : [label]), ...names])],
    ...(example === undefined ? {} : { example }),
    ...(within === undefined ? {} : { within }),
    searched: searched ?? false,
    org: inPath ? "needed" : list && takes(list, "organization") ? "taken" : "unknown",
    partner: list !== undefined && takes(list, "partner"),
  };
}

/** Whether the query of a list names one tenant of this kind. */
function takes(list: AnyEndpoint, kind: "organization" | "partner"): boolean {
  const { query } = list.schemas();
  const fields = Object.values((query && jsonSchemaOf(query, "input").properties) ?? {});
  return fields.some((field) => alternatives(field).some((one) => one["x-ref"] === kind && one["format"] === "uuid"));
}
