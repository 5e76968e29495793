import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import type { Issue } from "#sdk/errors";
import type { Answer, DatabaseName } from "../../harness.ts";
import { type Case, shareOf } from "../cases.ts";
import { toldOfAgent } from "../declared.ts";
import { type Credential, pathOf, type Swept, startSweep, withAgent } from "../sweep.ts";

/** One value of each JSON type, and some that look right. */
const wrong: readonly unknown[] = [
  null,
  true,
  -1,
  1e21,
  "",
  " ",
  "\u0000",
  "x".repeat(70_000),
  [],
  [[]],
  {},
  { a: { b: [] } },
];

/** Bodies that are not a JSON object. */
const noObjects: readonly (string | Uint8Array)[] = [
  "{",
  "null",
  "[]",
  '"x"',
  "1",
  "{}garbage",
  new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
];

/** Values and spellings of one query parameter. */
const forms: readonly ((name: string) => string)[] = [
  (name) => `${name}=a&${name}=b`,
  (name) => `${name}[]=a`,
  (name) => `${name}[x]=1`,
  (name) => `${name}=`,
  (name) => `${name}=%00`,
  (name) => `${name}=${"x".repeat(500)}`,
  (name) => `${name}=-1`,
  (name) => `${name}=1e9`,
  (name) => `${name}=%25`,
  (name) => `${name}=_`,
];

/** Bodies and queries of every wrong shape. */
export const sweepBodies = (database: DatabaseName) =>
  describe(`bodies on ${database}`, () => {
    let swept: Swept;
    beforeAll(async () => {
      swept = await startSweep(database);
    });
    afterAll(() => swept?.stop());

    const exampleOf = (item: Case) => item.example(swept.world.a);
    const examplePath = (item: Case) => pathOf(item, (exampleOf(item).params ?? {}) as Record<string, string>);
    const withBody = shareOf(database).filter(({ endpoint }) => endpoint.schemas().body !== undefined);

    function refusedFor(answer: Answer, told: string): string[] {
      expect([answer.status, answer.body.code], told).toEqual([400, "VALIDATION_ERROR"]);
      const issues = answer.body.details as Issue[];
      expect(issues.every(({ path, message }) => typeof path === "string" && typeof message === "string")).toBe(true);
      return [...new Set(issues.map(({ path }) => path.split(/[.[]/)[0] as string))].toSorted();
    }

    it.each(withBody)(
      "$name refuses every field that is wrong, alone and with all others, and names it",
      async (item) => {
        const credential = await swept.credential(item, swept.world.a);
        const schema = item.endpoint.schemas().body!;
        const good = (exampleOf(item).body ?? {}) as Record<string, unknown>;
        const fields = [...new Set([...Object.keys(good), ...Object.keys((schema as { shape?: object }).shape ?? {})])];
        // What machines report is kept with U+FFFD for each NUL, so it is no error there (see `request-body.ts`).
        const scrubbed = item.endpoint.from === "machine";
        const refuses = (body: object) =>
          !(scrubbed && JSON.stringify(body).includes("\\u0000")) && !schema.safeParse(body).success;
        const alone = (field: string, value: unknown) => ({ ...good, [field]: value });
        const fits = (body: object) => JSON.stringify(body).length < item.endpoint.bodyLimitBytes;
        const ask = (body: object) => swept.call(item, { tenant: swept.world.a, ...credential, body });
        for (const value of wrong) {
          // As many entries as fit into one body.
          const room = Math.floor(item.endpoint.bodyLimitBytes / (JSON.stringify(value).length + 100));
          const bad = fields.filter((field) => refuses(alone(field, value))).slice(0, room);
          if (bad.length === 0) continue;
          const body = { ...good, ...Object.fromEntries(bad.map((field) => [field, value])) };
          const named = refusedFor(await ask(body), JSON.stringify(value)?.slice(0, 40));
          // What cannot be stored is refused before the schema is looked at, and what follows from two fields after.
          const whole = JSON.stringify(body).includes("\\u0000");
          const told = bad.filter((field) => schemaNames(schema, body, field));
          expect(named, JSON.stringify(value)?.slice(0, 40)).toEqual(
            whole ? bad.toSorted() : expect.arrayContaining(told),
          );
        }
        for (const [at, field] of fields.entries()) {
          const values = wrong.filter((value) => fits(alone(field, value)) && refuses(alone(field, value)));
          const value = values[at % Math.max(1, values.length)];
          if (values.length > 0) refusedFor(await ask(alone(field, value)), `${field}: ${JSON.stringify(value)}`);
          const without = Object.fromEntries(Object.entries(good).filter(([name]) => name !== field));
          if (refuses(without)) refusedFor(await ask(without), `without ${field}`);
        }
      },
    );

    it.each(withBody)("$name answers a body that is no JSON object with a clear 400", async (item) => {
      const { token, headers } = await swept.credential(item, swept.world.a);
      const send = (raw: string | Uint8Array, type = "application/json") =>
        swept.request(item.endpoint.method, examplePath(item), {
          raw,
          ...(token === undefined ? {} : { token }),
          headers: { ...headers, "content-type": type },
        });
      for (const raw of noObjects) {
        const { status, body } = await send(raw);
        expect(status, String(raw).slice(0, 20)).toBe(400);
        expect(["INVALID_JSON", "VALIDATION_ERROR", "NO_UPDATES"]).toContain(body.code);
      }
      expect((await send("a=b", "application/x-www-form-urlencoded")).body.code).toBe("INVALID_JSON");
      const huge = await send(JSON.stringify({ filler: "x".repeat(item.endpoint.bodyLimitBytes) }));
      expect([huge.status, huge.body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    });

    const withQuery = shareOf(database).filter(({ endpoint }) => endpoint.schemas().query !== undefined);
    it.each(withQuery)("$name survives every kind of query", async (item) => {
      const credential = await swept.credential(item, swept.world.a);
      const names = Object.keys((item.endpoint.schemas().query as { shape?: object }).shape ?? { q: 1 });
      for (const form of forms) {
        // One request with all shows which are refused; each of the others is then sent alone and takes effect.
        const refused = new Set(await survives(item, credential, names.map(form).join("&")));
        for (const name of names.filter((one) => !refused.has(one))) await survives(item, credential, form(name));
      }
    });

    /** The fields that a refusal names. */
    async function survives(item: Case, { token, headers }: Credential, query: string): Promise<string[]> {
      const options = { ...(token === undefined ? {} : { token }), ...(headers === undefined ? {} : { headers }) };
      const answer = await withAgent(swept.server, item, {
        tenant: swept.world.a,
        work: () => swept.request(item.endpoint.method, `${examplePath(item)}?${query}`, options),
      });
      if (!toldOfAgent(item.endpoint, answer)) expect(answer.status, query).toBeLessThan(500);
      if (item.endpoint.transport === "json") expect(typeof answer.body, query).toBe("object");
      if (answer.body?.code !== "VALIDATION_ERROR") return [];
      return (answer.body.details as Issue[]).map(({ path }) => path.split(/[.[]/)[0] as string);
    }
  });

/** Whether the contract's schema names this field of a body in which others are wrong too. */
const schemaNames = (schema: z.ZodType, body: object, field: string): boolean =>
  schema.safeParse(body).error?.issues.some(({ path }) => path[0] === field) ?? false;
