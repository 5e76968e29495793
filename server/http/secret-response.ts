import type { AnyEndpoint } from "#contract/core/endpoint";
import { jsonSchemaOf, secretPaths } from "#contract/json-schema";

const known = new WeakMap<AnyEndpoint, readonly string[]>();

function secretsOf(endpoint: AnyEndpoint): readonly string[] {
  let secrets = known.get(endpoint);
  if (secrets === undefined) {
    const schema = endpoint.schemas().result;
    secrets = schema === undefined ? [] : secretPaths(jsonSchemaOf(schema, "output"));
    known.set(endpoint, secrets);
  }
  return secrets;
}

/** True when a successful answer of this endpoint shows a secret. */
export const responseHoldsSecret = (endpoint: AnyEndpoint): boolean => secretsOf(endpoint).length > 0;

/** True when it hands out the tokens of a session. */
export const responseHoldsTokens = (endpoint: AnyEndpoint): boolean => secretsOf(endpoint).includes("refreshToken");
