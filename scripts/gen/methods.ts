import { type AnyEndpoint, nounOf } from "#contract/core/endpoint";
import { contract } from "#contract/index";
import type { Models, Shown } from "./models.ts";
import { banner } from "./text.ts";

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `sdk/generated/methods.ts`: the types of the client's methods, so that each has its docstring. */
export function sdkMethods(models: Models): string {
  const nouns = Object.entries(contract).map(([noun, verbs]) => {
    const methods = Object.entries<AnyEndpoint>(verbs).flatMap(([verb, endpoint]) => [
      docOf(endpoint),
      `  ${verb}: ${signatureOf(models.of(endpoint))};`,
    ]);
    return [`export interface ${pascal(noun)}Methods {`, ...methods, "}", ""].join("\n");
  });
  const table = Object.entries(contract).flatMap(([noun, verbs]) => [
    `  /** ${nounOf(verbs).summary}. */`,
    `  ${noun}: ${pascal(noun)}Methods;`,
  ]);
  return [
    banner,
    'import type { ApiCall, ListCall } from "../call.ts";',
    'import type { CallOptions } from "../options.ts";',
    'import type * as models from "./models/index.ts";',
    "",
    ...nouns,
    "export interface Methods {",
    ...table,
    "}",
    "",
  ].join("\n");
}

/** `(input: { params, query, body }, options?) => …`, each part only where the endpoint has it. */
function signatureOf(shown: Shown): string {
  const { params, query, body, queryOptional, bodyOptional, item } = shown;
  const parts = [
    ...(params === undefined ? [] : [`params: ${params}`]),
    ...(query === undefined ? [] : [`query${queryOptional ? "?" : ""}: ${qualified(query)}`]),
    ...(body === undefined ? [] : [`body${bodyOptional ? "?" : ""}: ${qualified(body)}`]),
  ];
  const optional =
    params === undefined && (query === undefined || queryOptional) && (body === undefined || bodyOptional);
  const input = `input${optional ? "?" : ""}: { ${parts.join("; ")} }`.replace("{  }", "Record<never, never>");
  const result = qualified(shown.result);
  const answer = item === undefined ? `ApiCall<${result}>` : `ListCall<${qualified(item)}, ${result}>`;
  return `(${input}, options?: CallOptions) => ${answer}`;
}

/** Names of models inside the text of a type. */
const qualified = (type: string): string => (/^[A-Z]\w*$/.test(type) ? `models.${type}` : type);

function docOf({ summary, description, method, path, access, errors }: AnyEndpoint): string {
  const needs = [
    ...access.permissions,
    ...(access.fullPartner ? ["full partner access"] : []),
    ...(access.mfa ? ["MFA"] : []),
  ];
  const lines = [
    `${summary}.`,
    ...(description === undefined ? [] : [description]),
    "",
    `\`${method} ${path}\` · ${access.kinds.join(", ")}${needs.length > 0 ? ` · needs ${needs.join(", ")}` : ""}`,
    ...(errors.length > 0 ? [`Errors: ${errors.join(", ")}.`] : []),
  ];
  return `  /**\n${lines.map((line) => `   *${line === "" ? "" : ` ${line.replaceAll("*/", "* /")}`}`).join("\n")}\n   */`;
}
