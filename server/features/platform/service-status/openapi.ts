import { buildOpenApi } from "#contract/openapi";
import { JsonText } from "#server/http/implement";

let built: JsonText | undefined;

/** The contract as OpenAPI 3.1. Building it makes every schema of the product, so it is built on the first request and kept as text. */
export async function showOpenApi(): Promise<Record<string, unknown>> {
  built ??= new JsonText(JSON.stringify(buildOpenApi()));
  return built as unknown as Record<string, unknown>;
}
