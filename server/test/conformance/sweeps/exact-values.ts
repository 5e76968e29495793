import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Issue } from "#sdk/errors";
import type { DatabaseName } from "../../harness.ts";
import { type Case, cases } from "../cases.ts";
import { pathOf, type Swept, startSweep } from "../sweep.ts";

/** Values that JSON can express but the server cannot store, with the path of the fault. */
const unkept: readonly (readonly [json: string, path: string])[] = [
  ["1e400", ""],
  ["-1e400", ""],
  ["12345678901234567890", ""],
  ["9007199254740993", ""],
  ["0.1000000000000000055", ""],
  ["1e-400", ""],
  [`1${"0".repeat(500)}`, ""],
  ['{"a":1,"b":{},"a":1}', ".a"],
  ['{"__proto__":{"polluted":true}}', ""],
  ['"a\\ud800"', ""],
  ['{"\\u0000":1}', ""],
];

/** Values that would not be returned as they were sent. */
export const sweepExactValues = (database: DatabaseName) =>
  describe(`exact values on ${database}`, () => {
    let swept: Swept;
    beforeAll(async () => {
      swept = await startSweep(database);
    });
    afterAll(() => swept?.stop());

    const takesBody = cases.filter(
      ({ endpoint }) => endpoint.schemas().body !== undefined && endpoint.from !== "machine",
    );

    it.each(takesBody)(
      "$name refuses what cannot be kept with its path, with and without an idempotency key (C58)",
      async (item: Case) => {
        const { params, body = {} } = item.example(swept.world.a);
        const path = pathOf(item, (params ?? {}) as Record<string, string>);
        const { token, headers } = await swept.credential(item, swept.world.a);
        const good = JSON.stringify(body).slice(1, -1);
        const raw = `{${good}${good === "" ? "" : ","}"free":{"x":[${unkept.map(([json]) => json).join(", ")}]}}`;
        const keys: Record<string, string>[] = [{}, { "x-idempotency-key": `exact-${item.endpoint.verb}` }];
        for (const key of keys) {
          const answer = await swept.unchanged(() =>
            swept.request(item.endpoint.method, path, {
              raw,
              ...(token === undefined ? {} : { token }),
              headers: { ...headers, ...key },
            }),
          );
          expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
          expect((answer.body.details as Issue[]).map((issue) => issue.path)).toEqual(
            unkept.map(([, inner], index) => `free.x[${index}]${inner}`),
          );
        }
      },
    );
  });
