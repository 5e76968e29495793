import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsonSchemaOf, secretPaths } from "#contract/json-schema";
import { tableNames } from "#server/db/tables";
import { SECRET_MASK } from "#server/http/drop-masked";
import type { DatabaseName } from "../../harness.ts";
import { allCases, type Case } from "../cases.ts";
import { type Swept, startSweep } from "../sweep.ts";

const secretsOf = ({ endpoint }: Case): string[] => {
  const { body } = endpoint.schemas();
  return body === undefined ? [] : secretPaths(jsonSchemaOf(body, "input"));
};

/** It proves who makes the change, and is stored nowhere. */
const isProof = (path: string) => /^reauth[A-Z]/.test(path);

/** Changes that can set a stored secret, found by the contract whatever nouns the run is about: it costs next to nothing. */
const changes = allCases
  .filter(({ endpoint }) => endpoint.method === "PATCH" || endpoint.method === "PUT")
  .flatMap((item) => secretsOf(item).map((path) => ({ name: `${item.name}: ${path}`, item, path })))
  .filter(({ path }) => !isProof(path));

/** What is made with a secret: there is none that the mask could stand for. */
const creations = allCases
  .filter(({ endpoint }) => endpoint.status === 201 && endpoint.from === "person")
  .flatMap((item) => secretsOf(item).map((path) => ({ name: `${item.name}: ${path}`, item, path })));

/** The body with this secret; in a list, of each of its entries. */
function withSecret(body: object, path: string, value: string): object {
  const [list = "", field] = path.split("[].");
  if (field === undefined) return { ...body, [list]: value };
  const entries = (body as Record<string, object[] | undefined>)[list];
  if (!entries?.length) throw new Error(`the example has nothing in ${list}`);
  return { ...body, [list]: entries.map((entry) => ({ ...entry, [field]: value })) };
}

/** The mask in place of every secret that can be changed. */
export const sweepMasked = (database: DatabaseName) =>
  describe(`masked secrets on ${database}`, () => {
    let swept: Swept;
    beforeAll(async () => {
      swept = await startSweep(database);
    });
    afterAll(() => swept?.stop());

    /** What is stored of secrets, by table. */
    async function stored(): Promise<string[]> {
      const found: string[] = [];
      for (const table of tableNames)
        for (const row of await swept.db.selectFrom(table).selectAll().execute())
          for (const [column, value] of Object.entries(row))
            if (/Sealed$/.test(column) && value !== null) found.push(`${table}.${column} ${value}`);
      return found.sort();
    }

    it("finds the secrets by the contract", () => expect(changes.map(({ name }) => name)).not.toEqual([]));

    it.each(changes)("$name is kept by the mask, and changed by anything else", async ({ item, path }) => {
      expect(path, "a secret deeper than in a list needs a request of its own here").toMatch(/^\w+(\[\]\.\w+)?$/);
      const tenant = await swept.freshTenant();
      const { person: _, ...ready } = await swept.prepared(item, tenant);
      const example = item.example(tenant).body as object;
      const send = async (value: string) => {
        const answer = await swept.call(item, { ...ready, body: withSecret(example, path, value) });
        expect(answer.status, JSON.stringify(answer.body)).toBe(item.endpoint.status);
        return stored();
      };
      await send("planted-secret-1");
      const before = await stored();
      expect(await send(SECRET_MASK)).toEqual(before);
      expect(await send("planted-secret-2")).not.toEqual(before);
      if (path.includes("[]")) return;
      const alone = await swept.call(item, { ...ready, body: { [path]: SECRET_MASK } });
      expect(alone.status, JSON.stringify(alone.body)).toBe(item.endpoint.status);
    });

    it.each(creations)("$name is never made as the mask", async ({ item, path }) => {
      const tenant = await swept.freshTenant();
      const { person: _, ...ready } = await swept.prepared(item, tenant);
      const before = await stored();
      const body = withSecret(item.example(tenant).body as object, path, SECRET_MASK);
      const answer = await swept.call(item, { ...ready, body });
      expect([answer.status, answer.body.code, answer.body.details]).toEqual([
        400,
        "VALIDATION_ERROR",
        [expect.objectContaining({ path })],
      ]);
      expect(await stored()).toEqual(before);
    });
  });
