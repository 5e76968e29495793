import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases } from "../harness.ts";
import { type Case, cases, credentialOf, type Swept, startSweep } from "./sweep.ts";

describe.each(databases)("bodies on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    swept = await startSweep(database);
  });
  afterAll(() => swept?.server.stop());

  const withBody = cases.filter(({ endpoint }) => endpoint.schemas().body !== undefined);
  const credentialFor = (item: Case) => credentialOf(swept, item, swept.world.a);
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

  it.each(withBody)(
    "$name accepts and refuses what the contract's schema does, one wrong field at a time",
    async (item) => {
      const credential = await credentialFor(item);
      const schema = item.endpoint.schemas().body!;
      const good = (item.example(swept.world.a).body ?? {}) as Record<string, unknown>;
      const fields = new Set([...Object.keys(good), ...Object.keys((schema as { shape?: object }).shape ?? {})]);
      const tries = [...fields].flatMap((field) => [
        ...wrong.map((value) => ({ ...good, [field]: value })),
        Object.fromEntries(Object.entries(good).filter(([name]) => name !== field)),
      ]);
      // What machines report is kept with U+FFFD for each NUL, so it is no error there (see `request-body.ts`).
      const scrubbed = item.endpoint.path.startsWith("/agents/");
      const refused = tries.filter((candidate) => !schema.safeParse(candidate).success);
      for (const body of refused.filter((candidate) => !scrubbed || !JSON.stringify(candidate).includes("\\u0000"))) {
        const answer = await swept.call(item, { tenant: swept.world.a, ...credential, body });
        expect([answer.status, answer.body.code], JSON.stringify(body).slice(0, 200)).toEqual([
          400,
          "VALIDATION_ERROR",
        ]);
        expect(
          answer.body.details.every(
            (issue: { path: unknown; message: unknown }) =>
              typeof issue.path === "string" && typeof issue.message === "string",
          ),
        ).toBe(true);
      }
    },
  );

  it.each(withBody)("$name answers a body that is no JSON object with a clear 400", async (item) => {
    const credential = await credentialFor(item);
    const path = item.endpoint.path.replace(
      /:([A-Za-z]+)/g,
      (_, name: string) => (item.example(swept.world.a).params as Record<string, string>)[name]!,
    );
    const raw = (body: string | Uint8Array, type = "application/json") =>
      fetch(`${swept.server.url}/api/v1${path}`, {
        method: item.endpoint.method,
        headers: {
          "content-type": type,
          ...credential.headers,
          ...(credential.token ? { authorization: `Bearer ${credential.token}` } : {}),
        },
        body: body as BodyInit,
      }).then(async (response) => ({ status: response.status, body: (await response.json()) as { code: string } }));
    for (const text of [
      "{",
      "null",
      "[]",
      '"x"',
      "1",
      "{}garbage",
      new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
      `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
    ]) {
      const answer = await raw(text);
      expect(answer.status, String(text).slice(0, 20)).toBe(400);
      expect(["INVALID_JSON", "VALIDATION_ERROR", "NO_UPDATES"]).toContain(answer.body.code);
    }
    expect((await raw("a=b", "application/x-www-form-urlencoded")).body.code).toBe("INVALID_JSON");
    const huge = await raw(JSON.stringify({ filler: "x".repeat(item.endpoint.bodyLimitBytes) }));
    expect([huge.status, huge.body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  const withQuery = cases.filter(({ endpoint }) => endpoint.schemas().query !== undefined);
  it.each(withQuery)("$name survives every kind of query", async (item) => {
    const credential = await credentialFor(item);
    const names = Object.keys((item.endpoint.schemas().query as { shape?: object }).shape ?? { q: 1 });
    const queries = names.flatMap((name) => [
      `${name}=a&${name}=b`,
      `${name}[]=a`,
      `${name}[x]=1`,
      `${name}=`,
      `${name}=%00`,
      `${name}=${"x".repeat(2_000)}`,
      `${name}=-1`,
      `${name}=1e9`,
      `${name}=%25`,
      `${name}=_`,
    ]);
    const path = item.endpoint.path.replace(
      /:([A-Za-z]+)/g,
      (_, name: string) => (item.example(swept.world.a).params as Record<string, string>)[name]!,
    );
    for (const query of queries) {
      const answer = await swept.server.request(item.endpoint.method, `${path}?${query}`, {
        ...(credential.token ? { token: credential.token } : {}),
        ...(credential.headers ? { headers: credential.headers } : {}),
      });
      expect(answer.status, query).toBeLessThan(500);
      if (item.endpoint.transport === "json") expect(typeof answer.body, query).toBe("object");
    }
  });
});
