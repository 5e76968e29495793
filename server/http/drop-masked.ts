import type { z } from "zod";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { jsonSchemaOf, secretPaths } from "#contract/json-schema";
import { invalid } from "#server/problem";

/** How a stored secret reads wherever it is shown; sent back it keeps the value (docs/conventions.md, "Secrets"). */
export const SECRET_MASK = "********";

const known = new WeakMap<AnyEndpoint, readonly string[]>();

function secretsOf(endpoint: AnyEndpoint): readonly string[] {
  let paths = known.get(endpoint);
  if (paths === undefined) {
    const { body } = endpoint.schemas();
    paths = body === undefined ? [] : secretPaths(jsonSchemaOf(body as z.ZodType, "input"));
    known.set(endpoint, paths);
  }
  return paths;
}

/**
 * Removes secrets that read as the mask from the body of a change, as if they had not been sent. What is made, and an
 * entry of a list, which is replaced as a whole, have no stored secret to keep: there the mask is refused, never stored.
 * Entries of a list that have a `key` are told apart by it, and keep theirs.
 */
export function dropMasked(endpoint: AnyEndpoint, body: unknown): void {
  const changes = endpoint.method === "PATCH" || endpoint.method === "PUT";
  // A machine presents what was handed to it: that is judged, not stored.
  const creates = endpoint.status === 201 && endpoint.from !== "machine";
  if (!changes && !creates) return;
  for (const path of secretsOf(endpoint)) {
    for (const holder of holders(body, path.replaceAll("[]", ".[]").split("."))) {
      const name = path.slice(path.lastIndexOf(".") + 1);
      if (holder[name] !== SECRET_MASK) continue;
      const keeps = changes && (!path.includes("[]") || "key" in holder);
      if (!keeps) throw invalid({ path, message: `${path}: ${SECRET_MASK} stands for a stored secret; there is none` });
      delete holder[name];
    }
  }
}

/** The objects in which the last of these keys is looked for; `[]` is every entry of a list. */
function holders(value: unknown, [key, ...rest]: readonly string[]): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null || key === undefined) return [];
  if (key === "[]") return Array.isArray(value) ? value.flatMap((entry) => holders(entry, rest)) : [];
  const fields = value as Record<string, unknown>;
  return rest.length === 0 ? [fields] : holders(fields[key], rest);
}
