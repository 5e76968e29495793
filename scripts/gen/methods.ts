import { type AnyEndpoint, nounOf } from "#contract/core/endpoint";
import { contract } from "#contract/index";
import { banner } from "./text.ts";

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `sdk/generated/methods.ts`: the types of the client's methods, so that each has its docstring. */
export function sdkMethods(): string {
  const nouns = Object.entries(contract).map(([noun, verbs]) => {
    const methods = Object.entries<AnyEndpoint>(verbs).flatMap(([verb, endpoint]) => [
      docOf(endpoint),
      `  ${verb}: Method<Contract["${noun}"]["${verb}"]>;`,
    ]);
    return [`export interface ${pascal(noun)}Methods {`, ...methods, "}", ""].join("\n");
  });
  const table = Object.entries(contract).flatMap(([noun, verbs]) => [
    `  /** ${nounOf(verbs).summary}. */`,
    `  ${noun}: ${pascal(noun)}Methods;`,
  ]);
  return [
    banner,
    'import type { Contract } from "#contract/index";',
    'import type { Method } from "../types.ts";',
    "",
    ...nouns,
    "export interface Methods {",
    ...table,
    "}",
    "",
  ].join("\n");
}

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
