import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsonSchemaOf } from "#contract/json-schema";
import { rowOfRef } from "#fixtures/world";
import type { DatabaseName } from "../../harness.ts";
import { type Case, isPublic, searchIn, shareOf } from "../cases.ts";
import { namingFields } from "../ids.ts";
import { asksAgent, type Swept, startSweep } from "../sweep.ts";

/** Invalid page numbers, lists of ids and ids in paths. */
export const sweepOddRequests = (database: DatabaseName) =>
  describe(`odd requests on ${database}`, () => {
    let swept: Swept;
    beforeAll(async () => {
      swept = await startSweep(database);
    });
    afterAll(() => swept?.stop());

    const queryOf = ({ endpoint }: Case) => {
      const { query } = endpoint.schemas();
      return (query && jsonSchemaOf(query, "input").properties) ?? {};
    };
    const asked = async (item: Case, query: Record<string, unknown>) => {
      const tenant = swept.world.a;
      return swept.call(item, { tenant, ...(await swept.credential(item, tenant)), query });
    };

    const paged = shareOf(database).filter((item) => item.endpoint.paging?.kind === "page" && "page" in queryOf(item));
    it.each(paged)("$name clamps pages and limits, and reads what is no number as the default (C15)", async (item) => {
      const { default: usual, maximum } = queryOf(item)["limit"] as { default: number; maximum: number };
      const readings: [Record<string, string>, { page: number; limit: number }][] = [
        [{}, { page: 1, limit: usual }],
        [
          { page: "abc", limit: "-1" },
          { page: 1, limit: 1 },
        ],
        [{ page: "0" }, { page: 1, limit: usual }],
        [{ page: "-7" }, { page: 1, limit: usual }],
        [{ limit: "100000" }, { page: 1, limit: maximum }],
        [{ limit: "0" }, { page: 1, limit: 1 }],
        [{ limit: "1e2" }, { page: 1, limit: usual }],
        [{ limit: "2.5" }, { page: 1, limit: usual }],
        [{ limit: " 7 " }, { page: 1, limit: 7 }],
        [
          { page: "", limit: "" },
          { page: 1, limit: usual },
        ],
      ];
      for (const [query, wanted] of readings) {
        const answer = await asked(item, query);
        expect(answer.status, JSON.stringify([query, answer.body])).toBe(200);
        const { pagination, offset, limit } = answer.body;
        // Of diagnostic logs the answer says where the page begins instead.
        const place = pagination ?? { page: offset / limit + 1, limit };
        expect(place, JSON.stringify(query)).toMatchObject(wanted);
      }
      const beyond = await asked(item, { page: "99999999999999999999" });
      expect([beyond.status, beyond.body[item.endpoint.paging?.items as string]]).toEqual([200, []]);
    });

    const searchesOf = (item: Case) => ["search", "user", "resource"].filter((name) => name in queryOf(item));
    const searched = shareOf(database).filter(
      (item) =>
        item.endpoint.method === "GET" && item.endpoint.paging && !asksAgent(item) && searchesOf(item).length > 0,
    );
    it.each(searched)("$name takes a percent sign that is searched for itself (C13)", async (item) => {
      const found = async (query: Record<string, string>): Promise<unknown[]> => {
        const answer = await asked(item, { ...query, ...(searchIn(item) && { [searchIn(item) as string]: "a" }) });
        expect(answer.status, JSON.stringify([query, answer.body])).toBe(200);
        return answer.body.data ?? answer.body[item.endpoint.paging?.items as string];
      };
      const all = await found({});
      expect(all.length).toBeGreaterThan(0);
      expect(JSON.stringify(all)).not.toContain("%");
      for (const name of searchesOf(item))
        for (const text of ["%", "%%%%"]) expect(await found({ [name]: text }), `${name}=${text}`).toEqual([]);
    });

    const listsOf = ({ endpoint }: Case) => namingFields(endpoint).filter(({ at, many }) => at === "query" && many);
    const withList = shareOf(database).filter((item) => listsOf(item).length > 0);
    it.each(withList)(
      "$name honours every one of thirty ids, and refuses a list with one that is none (C15)",
      async (item) => {
        const random = () => swept.server.services.random.uuid();
        for (const { name, ref } of listsOf(item)) {
          const row = rowOfRef[ref];
          const known = row && swept.world.a[row];
          const others = Array.from({ length: 29 }, random);
          const none = await asked(item, { [name]: others.join(",") });
          expect([200, 403], name).toContain(none.status);
          if (known !== undefined) {
            const last = await asked(item, { [name]: [...others, known].join(",") });
            const alone = await asked(item, { [name]: known });
            // Ids out of reach are refused or match nothing, in both places alike.
            if (last.status === 200) expect(last.body).toEqual(alone.body);
            else expect(last.status).toBe(none.status);
          }
          expect((await asked(item, { [name]: [...others, "not-a-uuid"].join(",") })).body.code).toBe(
            "VALIDATION_ERROR",
          );
        }
      },
    );

    const withParams = shareOf(database).filter(({ endpoint }) => endpoint.path.includes(":"));
    it.each(withParams)("$name answers a malformed or unknown id with JSON and 400 or 404 (C16)", async (item) => {
      const names = [...item.endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
      const odd = [
        "not-a-uuid",
        "123",
        "[object Object]",
        "undefined",
        "\u0000",
        "%",
        "..%2f..",
        "é".repeat(50),
        "a'--",
      ];
      // One device alone would meet its limit of requests a minute.
      const isAgents = item.endpoint.access.kinds.includes("agent");
      const tenant = isAgents ? await swept.freshTenant() : swept.world.a;
      for (const id of [...odd, swept.server.services.random.uuid()]) {
        const credential = await swept.credential(item, tenant);
        // What names no row has a form of its own.
        const given = odd.includes(id) ? names : names.filter((name) => item.endpoint.refs[name] !== "opaque");
        const params = Object.fromEntries(given.map((name) => [name, id]));
        const answer = await swept.call(item, { tenant, ...credential, params });
        const told = `${id}: ${JSON.stringify(answer.body)}`;
        // A browser that returns from a provider is redirected, whatever the id.
        if (answer.status !== 302) expect(answer.headers.get("content-type"), told).toMatch(/^application\/json/);
        // A caller without a credential learns only that nothing is found.
        const nobodys = isPublic(item) ? [200, 302, 404] : [403, 404];
        expect(odd.includes(id) ? [400, 404] : nobodys, told).toContain(answer.status);
        expect(told).not.toMatch(/ at .+:\d+:\d+|node_modules/);
      }
    });
  });
