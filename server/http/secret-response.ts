import type { AnyEndpoint } from "#contract/core/endpoint";
import { jsonSchemaOf, secretPaths } from "#contract/json-schema";

const known = new WeakMap<AnyEndpoint, boolean>();

/** True when a successful answer of this endpoint shows a secret. */
export function responseHoldsSecret(endpoint: AnyEndpoint): boolean {
  let holds = known.get(endpoint);
  if (holds === undefined) {
    const schema = endpoint.schemas().result;
    holds = schema !== undefined && secretPaths(jsonSchemaOf(schema, "output")).length > 0;
    known.set(endpoint, holds);
  }
  return holds;
}
