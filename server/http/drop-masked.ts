import type { z } from "zod";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { jsonSchemaOf, secretPaths } from "#contract/json-schema";

/** How a stored secret reads wherever it is shown; sent back it keeps the value (docs/conventions.md, "Secrets"). */
export const SECRET_MASK = "********";

const known = new WeakMap<AnyEndpoint, readonly (readonly string[])[]>();

/** Secrets that a change can set, as paths of keys. Secrets in lists are replaced with their list. */
function settable(endpoint: AnyEndpoint): readonly (readonly string[])[] {
  let paths = known.get(endpoint);
  if (paths === undefined) {
    const { body } = endpoint.schemas();
    paths = body === undefined ? [] : secretPathsOf(body);
    known.set(endpoint, paths);
  }
  return paths;
}

const secretPathsOf = (body: z.ZodType) =>
  secretPaths(jsonSchemaOf(body, "input"))
    .filter((path) => !path.includes("[]"))
    .map((path) => path.split("."));

/** Removes secrets that read as the mask from the body of a change, as if they had not been sent. */
export function dropMasked(endpoint: AnyEndpoint, body: unknown): void {
  if (endpoint.method !== "PATCH" && endpoint.method !== "PUT") return;
  for (const path of settable(endpoint)) drop(body, path);
}

function drop(value: unknown, [key, ...rest]: readonly string[]): void {
  if (key === undefined || typeof value !== "object" || value === null) return;
  const fields = value as Record<string, unknown>;
  if (rest.length > 0) drop(fields[key], rest);
  else if (fields[key] === SECRET_MASK) delete fields[key];
}
