import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { areas } from "#contract/areas";
import { buildOpenApi } from "#contract/openapi";
import type { OpenApiPart } from "../../../scripts/gen/openapi-goldens.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/golden/${name}`, import.meta.url), "utf8")) as OpenApiPart;

it("the parts of the areas and what they share are together the document that the server serves, nothing twice", () => {
  const shared = read("openapi-shared.json");
  const parts = Object.keys(areas).map((area) => read(`${area}/openapi.json`));
  const served = JSON.parse(JSON.stringify(buildOpenApi()));
  const all = [...parts, shared];
  const joined = (of: (part: OpenApiPart) => Readonly<Record<string, object>> | undefined) => {
    const entries = all.flatMap((part) => Object.entries(of(part) ?? {}));
    expect(new Set(entries.map(([name]) => name)).size, "an entry stands in two files").toBe(entries.length);
    return Object.fromEntries(entries);
  };
  const schemas = joined(({ components }) => components?.schemas);
  // Areas may share a path: each has its own methods.
  const operations = joined(({ paths = {} }) =>
    Object.fromEntries(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation as object]),
      ),
    ),
  );
  const servedOperations = Object.entries(served.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation]),
  );
  expect(operations).toEqual(Object.fromEntries(servedOperations));
  const { paths: _, ...rest } = served;
  expect({
    ...shared,
    tags: parts.flatMap(({ tags = [] }) => tags),
    webhooks: joined(({ webhooks }) => webhooks),
    components: { ...shared.components, schemas },
  }).toEqual(rest);
  expect(Object.keys(schemas).length).toBeGreaterThan(50);
});
