import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { type JsonSchema, jsonSchemaOf } from "#contract/json-schema";
import type { Tenant } from "#fixtures/world";
import type { EndpointInfo } from "#sdk/endpoint-info";
import type { Issue } from "#sdk/errors";
import { endpoints } from "#sdk/generated/endpoints";
import { requestIssues } from "#sdk/validate";
import type { Answer, DatabaseName } from "../../harness.ts";
import { inProof, proving } from "../../proving.ts";
import { arbitraryOf, oneFieldWrong } from "../arbitrary.ts";
import { allCases, type Case, isPublic, namedTenant, shareOf } from "../cases.ts";
import { asksAgent, type CallOptions, type Credential, type Swept, startSweep } from "../sweep.ts";

/** `npm test` uses a fixed seed, `npm run prove` a random one; a failing run prints its seed for GENERATED_SEED. */
const SEED = Number(process.env["GENERATED_SEED"] ?? (proving ? Date.now() % 2 ** 31 : 20_261_128));
const GOOD = inProof({ long: 100, short: 5 });
const WRONG = GOOD * 2;

/** Answers of earlier checks, after which there is nothing to compare. */
const beforeTheBody = [
  "UNAUTHENTICATED",
  "INVALID_AGENT_CREDENTIALS",
  "API_KEY_INVALID",
  "API_KEY_SCOPE_REQUIRED",
  "PARTNER_INACTIVE",
  "PERMISSION_DENIED",
  "MFA_REQUIRED",
  "MFA_ENROLLMENT_REQUIRED",
];

/** The SDK and the server accept and refuse the same requests, generated from the published contract. */
export const sweepGenerated = (database: DatabaseName) =>
  describe(`generated requests on ${database} (seed ${SEED})`, () => {
    let swept: Swept;
    beforeAll(async () => {
      swept = await startSweep(database);
    });
    afterAll(() => swept?.stop());

    const infoOf = ({ endpoint, name }: Case): EndpointInfo =>
      endpoints[name.split(".")[0] as string]?.[endpoint.verb] as EndpointInfo;
    /** The faults that the SDK finds before sending. */
    const bySdk = (item: Case, params: unknown, part: Pick<CallOptions, "query" | "body">) =>
      requestIssues(infoOf(item), { params: params as Record<string, string>, ...part });

    const fieldsOf = (issues: readonly Issue[]) => [...new Set(issues.map(({ path }) => path))].toSorted();
    const top = (path: string) => path.split(/[.[]/)[0] as string;

    function compare(item: Case, issues: readonly Issue[], answer: Answer, sent: unknown): "refused" | "accepted" {
      const told = JSON.stringify({ seed: SEED, sent, bySdk: issues, answer: answer.body });
      if (!item.endpoint.access.kinds.includes("public")) expect(beforeTheBody, told).not.toContain(answer.body.code);
      const refused = answer.status === 400 && answer.body.code === "VALIDATION_ERROR";
      if (issues.length > 0) {
        expect([answer.status, answer.body.code], told).toEqual([400, "VALIDATION_ERROR"]);
        expect(answer.body.details, told).toEqual(issues);
        return "refused";
      }
      if (!refused) return "accepted";
      const { serverOnly = {} } = item.example(namedTenant);
      const alone = fieldsOf(answer.body.details).filter((path) => !(top(path) in serverOnly));
      expect(alone, `only the server refuses: ${told}`).toEqual([]);
      return "refused";
    }

    interface Place {
      tenant: Tenant;
      credential: Credential;
    }
    const placeIn = async (item: Case, tenant: Tenant): Promise<Place> => ({
      tenant,
      credential: await swept.credential(item, tenant),
    });

    /** The request with this value, and the faults that the SDK finds in it. */
    async function drafted(item: Case, part: "body" | "query", generated: unknown, { tenant, credential }: Place) {
      const ids = new Map(Object.entries(swept.world.a).map(([name, id]) => [id as string, tenant[name as "orgId"]]));
      const sent = renamed(generated, ids);
      const issues = await bySdk(item, item.example(tenant).params ?? {}, { [part]: sent });
      const call: CallOptions = {
        tenant,
        ...credential,
        ...(part === "query" ? { query: sent as Record<string, unknown>, onlyQuery: true } : { body: sent }),
      };
      return { sent, issues, call };
    }

    async function run(item: Case, part: "body" | "query", schema: JsonSchema): Promise<string[]> {
      const example = item.example(swept.world.a)[part] ?? {};
      const values = valuesOf(schema, example as object);
      const changes = item.endpoint.method !== "GET";
      // The agent that answers may ask so often a minute.
      const own = changes || asksAgent(item);
      let place = await placeIn(item, own ? await swept.freshTenant() : swept.world.a);
      if (isPublic(item)) {
        // In parallel, because a refused sign-in is slow.
        const drafts = await Promise.all(values.map((value) => drafted(item, part, value, place)));
        const answers = await swept.callTogether(
          item,
          drafts.map(({ call }) => call),
        );
        return drafts.map(({ issues, sent }, at) => compare(item, issues, answers[at] as Answer, sent));
      }
      const outcomes: string[] = [];
      for (const value of values) {
        const { sent, issues, call } = await drafted(item, part, value, place);
        const answer = await swept.call(item, call);
        outcomes.push(compare(item, issues, answer, sent));
        // This one has changed the tenant, so the next one gets another.
        if (changes && answer.status < 300) place = await placeIn(item, await swept.freshTenant());
      }
      return outcomes;
    }

    const withBody = shareOf(database).filter(({ endpoint }) => endpoint.schemas().body !== undefined);
    it.each(withBody)("$name: the SDK and the server accept and refuse the same bodies", async (item) => {
      const schema = jsonSchemaOf(item.endpoint.schemas().body!, "input");
      const outcomes = await run(item, "body", schema);
      // A report of a machine is taken without its malformed parts: where nothing is required, nothing is refused.
      const refuses = item.endpoint.from === "person" || (schema.required ?? []).length > 0;
      if (refuses) expect(outcomes, "nothing wrong was generated").toContain("refused");
      expect(outcomes, "nothing right was generated").toContain("accepted");
    });

    const withQuery = shareOf(database).filter(({ endpoint }) => endpoint.schemas().query !== undefined);
    it.each(withQuery)("$name: the SDK and the server accept and refuse the same queries", async (item) => {
      const outcomes = await run(item, "query", jsonSchemaOf(item.endpoint.schemas().query!, "input"));
      expect(outcomes, "nothing right was generated").toContain("accepted");
    });

    it("rules of the server alone are about fields that exist", () => {
      for (const { name, endpoint, example } of allCases) {
        for (const field of Object.keys(example(namedTenant).serverOnly ?? {})) {
          const { body, query } = endpoint.schemas();
          const { properties } = jsonSchemaOf((body ?? query) as z.ZodType, "input");
          // "" is a rule about several fields at once.
          expect(["", ...Object.keys(properties ?? {})], name).toContain(field);
        }
      }
    });
  });

/** The example, right values, the example without each required field, and values with one wrong field. */
function valuesOf(schema: JsonSchema, example: object): unknown[] {
  const wrongs = fc.sample(oneFieldWrong(schema, example), { numRuns: WRONG, seed: SEED });
  return [
    example,
    ...fc.sample(arbitraryOf(schema, example), { numRuns: GOOD / 2, seed: SEED + 1 }),
    ...fc.sample(withTwoFields(schema, example), { numRuns: GOOD / 2, seed: SEED + 2 }),
    ...(schema.required ?? []).map((name) => ({ ...example, [name]: undefined })),
    ...wrongs.map(({ value }) => value),
  ];
}

/** The example with up to two generated fields, which gets further in the server than a fully generated value. */
const withTwoFields = (schema: JsonSchema, example: object): fc.Arbitrary<object> =>
  schema.properties === undefined ? (arbitraryOf(schema, example) as fc.Arbitrary<object>) : twoOf(schema, example);

const twoOf = (schema: JsonSchema, example: object): fc.Arbitrary<object> =>
  fc
    .tuple(
      arbitraryOf({ ...schema, required: Object.keys(schema.properties ?? {}) }),
      fc.uniqueArray(fc.constantFrom(...Object.keys(schema.properties ?? {})), { maxLength: 2 }),
    )
    .map(([all, names]) => ({
      ...example,
      ...Object.fromEntries(names.map((name) => [name, (all as Record<string, unknown>)[name]])),
    }));

/** The same value with the ids of one tenant replaced by another's. */
function renamed(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, ids));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, renamed(item, ids)]));
}
