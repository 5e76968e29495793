import type { AnyEndpoint } from "#contract/core/endpoint";
import { contract } from "#contract/index";
import { type JsonSchema, jsonSchemaOf, secretPaths } from "#contract/json-schema";
import type { EndpointInfo } from "#sdk/endpoint-info";
import { banner } from "./text.ts";

/** `sdk/generated/endpoints.ts`: the table from which the client makes its methods, one line per endpoint. */
export function sdkEndpoints(): string {
  const nouns = Object.entries(contract).map(([noun, verbs]) => {
    const lines = Object.entries<AnyEndpoint>(verbs).map(([verb, one]) => `    ${verb}: ${JSON.stringify(info(one))},`);
    return `  ${noun}: {\n${lines.join("\n")}\n  },`;
  });
  return [
    banner,
    'import type { EndpointInfo } from "../endpoint-info.ts";',
    "",
    "export const endpoints: Record<string, Record<string, EndpointInfo>> = {",
    ...nouns,
    "};",
    "",
  ].join("\n");
}

function info(endpoint: AnyEndpoint): EndpointInfo {
  const { params, body, result } = endpoint.schemas();
  return {
    noun: endpoint.noun,
    verb: endpoint.verb,
    method: endpoint.method,
    path: endpoint.path,
    uuids: uuidsOf(params && jsonSchemaOf(params, "input")),
    status: endpoint.status,
    transport: endpoint.transport,
    kinds: endpoint.access.kinds,
    idempotent: endpoint.idempotent,
    paging: endpoint.paging ?? null,
    secretBody: secretPaths(body && jsonSchemaOf(body, "input")),
    secretResult: secretPaths(result && jsonSchemaOf(result, "output")),
  };
}

const uuidsOf = (params: JsonSchema | undefined): string[] =>
  Object.entries(params?.properties ?? {}).flatMap(([name, { format }]) => (format === "uuid" ? [name] : []));
