import { expect, it } from "vitest";
import { z } from "zod";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { secret } from "#contract/core/fields";
import { dropMasked, SECRET_MASK } from "./drop-masked.ts";

const endpoint = (method: "PATCH" | "POST", status: 200 | 201): AnyEndpoint =>
  ({
    method,
    status,
    schemas: () => ({
      body: z.object({
        token: secret(z.string()).optional(),
        smtp: z.object({ password: secret(z.string()).optional() }).optional(),
        headers: z.array(z.object({ name: z.string(), value: secret(z.string()) })).optional(),
      }),
    }),
  }) as unknown as AnyEndpoint;

const masked = () => ({ token: SECRET_MASK, smtp: { password: SECRET_MASK, host: "mail" } });
const inList = () => ({
  headers: [
    { name: "a", value: "plain" },
    { name: "b", value: SECRET_MASK },
  ],
});

it("the mask keeps what is stored, wherever the secret stands in a change", () => {
  const body = masked();
  dropMasked(endpoint("PATCH", 200), body);
  expect(body).toEqual({ smtp: { host: "mail" } });
});

it("an entry that its key names keeps what is stored under it", () => {
  const body = { headers: [{ key: "a", value: SECRET_MASK }] };
  dropMasked(endpoint("PATCH", 200), body);
  expect(body).toEqual({ headers: [{ key: "a" }] });
  const made = { headers: [{ key: "a", value: SECRET_MASK }] };
  expect(() => dropMasked(endpoint("POST", 201), made)).toThrow(/stands for a stored secret/);
});

it.each([
  ["PATCH", 200, inList],
  ["POST", 201, inList],
  ["POST", 201, masked],
] as const)("where no secret is stored the mask is refused: %s %d", (method, status, body) => {
  expect(() => dropMasked(endpoint(method, status), body())).toThrow(/stands for a stored secret/);
});

it("a password that is presented may read as the mask", () => {
  const body = masked();
  dropMasked(endpoint("POST", 200), body);
  expect(body).toEqual(masked());
});
