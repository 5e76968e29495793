import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { possibleErrors } from "#contract/core/possible-errors";
import { allEndpoints } from "#contract/index";
import { type Declaration, differences, type Specification } from "./compare-specification.ts";

const golden = JSON.parse(
  readFileSync(new URL("../../../fixtures/golden/specification.json", import.meta.url), "utf8"),
) as { readonly endpoints: Specification };

const declared: readonly Declaration[] = allEndpoints().map((endpoint) => ({
  endpoint: `${endpoint.method} ${endpoint.path}`,
  ...endpoint.access,
  exempt: Object.entries(endpoint.access.exempt).flatMap(([guard, holds]) => (holds ? [guard] : [])),
  errors: possibleErrors(endpoint),
  audit: typeof endpoint.audit === "string" ? endpoint.audit : null,
}));

it("prints", () => {
  console.log(differences(declared, golden.endpoints).join("\n"));
  expect(1).toBe(1);
});
