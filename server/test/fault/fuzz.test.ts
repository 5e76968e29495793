import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Case, cases, scopeOfExample } from "../conformance/cases.ts";
import { refuseUndeclared } from "../conformance/declared.ts";
import { ask, type Swept, startSweep } from "../conformance/sweep.ts";
import { databases } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, proving } from "../proving.ts";

/** Requests per database. */
const REQUESTS = inProof({ long: 100_000, short: 500 });
/** `npm test` uses a fixed seed, `npm run prove` a random one; a failing run prints its seed, FUZZ_SEED repeats it. */
const SEED = Number(process.env["FUZZ_SEED"] ?? (proving ? Date.now() % 2 ** 31 : 731_009_068));
const PARALLEL = 8;

describe.each(databases)("a fuzz of every path, query and body on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    swept = await startSweep(database);
  });
  afterAll(() => swept?.stop());

  const awkward = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom(
      "",
      " ",
      "\u0000",
      "null",
      "-1",
      "1e309",
      "' or 1=1 --",
      "%",
      "_",
      "\\",
      "a".repeat(5_000),
      "😀",
      "\ud800",
      "../../etc/passwd",
      "__proto__",
      "constructor",
      "2026-02-30",
      "9999999999999999999",
      "00000000-0000-0000-0000-000000000000",
    ),
    fc.uuid(),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      awkward,
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("any"), { maxLength: 4 }),
      fc.dictionary(awkward, tie("any"), { maxKeys: 4 }),
    ),
  })).any;

  /** Empty and dotted segments would name another path. */
  const segment = awkward.map((text) => text.toWellFormed()).filter((text) => !["", ".", ".."].includes(text));

  /** The example with some fields replaced, removed or added; sometimes an arbitrary value. */
  const bodyOf = (good: unknown) =>
    good === undefined || typeof good !== "object" || good === null
      ? value
      : fc.oneof(
          {
            weight: 5,
            arbitrary: fc
              .tuple(fc.constantFrom(...Object.keys(good), "extra"), value)
              .map(([name, wrong]) => ({ ...good, [name]: wrong })),
          },
          { weight: 2, arbitrary: fc.dictionary(fc.constantFrom(...Object.keys(good), "x"), value) },
          { weight: 1, arbitrary: value },
        );

  const request = (item: Case) => {
    const example = item.example(swept.world.a);
    const fields = Object.keys((item.endpoint.schemas().query as { shape?: object } | undefined)?.shape ?? {});
    return fc.record({
      params: fc.dictionary(
        fc.constantFrom("id", "contactId"),
        fc.oneof(segment, fc.constantFrom(...(Object.values(swept.world.a) as string[]))),
        { maxKeys: 2 },
      ),
      query:
        fields.length === 0
          ? fc.constant({})
          : fc.dictionary(fc.constantFrom(...fields), fc.oneof(awkward, fc.integer().map(String)), { maxKeys: 3 }),
      body: ["GET", "DELETE"].includes(item.endpoint.method) ? fc.constant(undefined) : bodyOf(example.body),
    });
  };

  it(
    `answers ${REQUESTS} requests without a 5xx, a hang or a crash (seed ${SEED})`,
    async () => {
      const tokens = new Map<string, string>();
      for (const scope of ["system", "partner", "organization"] as const)
        tokens.set(scope, (await swept.caller(scope, swept.world.a)).token);
      const tokenOf = (item: Case) => {
        const { kinds } = item.endpoint.access;
        if (kinds.includes("public")) return undefined;
        if (kinds.includes("partnerKey")) return undefined;
        return kinds.includes("agent") ? swept.world.a.agentToken : tokens.get(scopeOfExample(item, swept.world.a));
      };
      // Without the endpoints that end the session or the tenant that the others need.
      const targets = cases.filter(
        ({ name }) =>
          !/^(sessions\.(logout|remove)|partners\.(remove|update)|organizations\.(remove|update)|agents\.rotateToken|partnerServicePrincipals\.(update|rotateKey|revokeKey)|users\.updateMe|passwords|mfa)/.test(
            name,
          ),
      );
      const each = Math.ceil(REQUESTS / targets.length);
      const work = targets.flatMap((item, at) =>
        fc.sample(request(item), { numRuns: each, seed: SEED + at }).map((options) => ({ item, options })),
      );
      const statuses: Record<number, number> = {};
      const run = async () => {
        for (let next = work.pop(); next; next = work.pop()) {
          const { item, options } = next;
          const { partnerKey } = swept.world.a;
          const headers: Record<string, string> = item.endpoint.access.kinds.includes("partnerKey")
            ? { "x-api-key": partnerKey }
            : {};
          const call = { tenant: swept.world.a, token: tokenOf(item), headers, ...options };
          const answer = await ask(swept.server, item, call);
          refuseUndeclared(item.endpoint, answer);
          statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, run));
      const total = Object.values(statuses).reduce((sum, count) => sum + count, 0);
      expect(total).toBeGreaterThanOrEqual(REQUESTS);
      expect(statuses[200], "the fuzz never met a success: it fuzzes nothing").toBeGreaterThan(0);
      const alive = await swept.server.request("GET", "/health");
      expect(alive.status).toBe(200);
    },
    PROOF_TIMEOUT_MS,
  );
});
