import { Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../test-api.ts";
import { specs } from "../test-commands.ts";
import { testCommand } from "../test-shell.ts";
import { takesMany } from "./endpoint-flags.ts";
import { takesIfNotExists } from "./existing.ts";

const command = testCommand();
const partnerKey = `svc_sp_${"a".repeat(43)}`;
const exported = (rows: object[]) => ({
  body: { schemaVersion: "1", data: rows, nextCursor: null, withheld: 0 },
});
let stub: Stub;
let busy = 0;
let running = 0;
let most = 0;
beforeAll(async () => {
  stub = await stubApi({
    "POST /orgs/sites": async ({ body }) => {
      running++;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return busy-- > 0
        ? refusal(429, "RATE_LIMITED", {}, { "retry-after": "0" })
        : { status: 201, body: { id: "made", ...(body as object) } };
    },
    [`PATCH /devices/${ids.hq}/custom-fields`]: ({ body }) => ({ body: { values: body } }),
    "GET /partner-api/organizations": () =>
      exported([
        { id: ids.contoso, orgId: ids.contoso, name: "Contoso", slug: "contoso-dental" },
        { id: ids.fabrikam, orgId: ids.fabrikam, name: "Fabrikam", slug: "fabrikam" },
        { id: ids.twin, orgId: ids.twin, name: "Old", slug: "old", removed: true },
      ]),
    "POST /partner-api/organizations": () => ({ status: 201, body: { id: "made" } }),
    "GET /partner-api/sites": () => exported([{ id: ids.hq, orgId: ids.contoso, siteId: ids.hq, name: "HQ" }]),
    "POST /partner-api/sites": () => ({ status: 201, body: { id: "made" } }),
    "GET /partner-service-principals": () => ({
      body: {
        data: [
          { id: ids.hq, name: "B", keys: [{ id: "k0", name: "of another", status: "active" }] },
          {
            id: ids.twin,
            name: "A",
            keys: [
              { id: "k1", name: "CI", status: "active" },
              { id: "k2", name: "gone", status: "revoked" },
            ],
          },
        ],
      },
    }),
    [`POST /partner-service-principals/${ids.twin}/keys`]: () => ({
      status: 201,
      body: { keyId: "k3", key: partnerKey },
    }),
    "GET /orgs/sites": (_seen, query) => paged([{ id: ids.hq, orgId: ids.contoso, name: "HQ" }], query),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  busy = 0;
  most = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], stdin: string) =>
  command.run([...argv, "-f", "-"], { stdin, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });
const create = ["sites", "create", "--org", "contoso-dental", "--timezone", "UTC", "--json"];
const report = ({ stdout }: { stdout: string }) => JSON.parse(stdout);

describe("a list of entries", () => {
  it("names line and field of what is wrong with one, and does the others", async () => {
    const rows = {
      csv: "name,maxUsage\nA,1\nB,many\n,3\nD,4\n",
      yaml: "- name: A\n- name: B\n  nme: x\n- maxUsage: 3\n- name: D\n",
    };
    const json = '[\n {"name": "A"},\n {"name": "B",\n  "nme": "x, {"},\n {"maxUsage": 3}, {"name": "D"}]';
    const ndjson = '{"name":"A"}\n\n{"name":"B","nme":1}\n{"maxUsage":3}\n{"name":"D"}\n';
    const keys = ["enrollment-keys", "create", "--org", "contoso-dental", "--json"];
    for (const [text, lines, field] of [
      [rows.csv, [2, 3, 4, 5], "maxUsage"],
      [rows.yaml, [1, 2, 4, 5], "nme"],
      [json, [2, 3, 5, 5], "nme"],
      [ndjson, [1, 3, 4, 5], "nme"],
    ] as const) {
      stub.seen.length = 0;
      const ran = await run(keys, text);
      const items = report(ran);
      expect([ran.code, ...items.map((one: { outcome: string }) => one.outcome)], text).toEqual([
        ...[9, "done", "failed", "failed", "done"],
      ]);
      expect(
        items.map(({ item }: { item: { line: number } }) => item.line),
        text,
      ).toEqual(lines);
      expect(
        items.map(({ item }: { item: { name: string | null } }) => item.name),
        text,
      ).toEqual(["A", "B", null, "D"]);
      expect(items[1].error.message, text).toMatch(new RegExp(`stdin:${lines[1]}.*${field}`));
      expect(items[2].error).toMatchObject({ code: "MISSING_INPUT", details: [{ path: "name" }] });
      expect(writesOf(stub)).toHaveLength(2);
    }
  });

  it("of values under any name: only the key of its kind names the thing, and no key if the argument does", async () => {
    const set = ["custom-fields", "set-values"];
    const device = ids.hq;
    const several = JSON.stringify([
      { device, id: "A-17", floor: 2 },
      { id: device, floor: 3 },
    ]);
    const ran = await run([...set, "--json"], several);
    expect(report(ran).map((one: { outcome: string }) => one.outcome)).toEqual(["done", "failed"]);
    expect(report(ran)[1].error.message).toContain("stdin:1: no device is named");
    const one = await run([...set, device], JSON.stringify({ device: "laptop", id: "A-18" }));
    expect(one.code, one.stderr).toBe(0);
    expect(writesOf(stub).map(({ path, body }) => [path, body])).toEqual([
      [`/api/v1/devices/${device}/custom-fields`, { id: "A-17", floor: 2 }],
      [`/api/v1/devices/${device}/custom-fields`, { device: "laptop", id: "A-18" }],
    ]);
  });

  it("tells people once what an entry lacks", async () => {
    const argv = ["partners", "create", "-f", "-"];
    const options = { stdin: '[{"name":"A"},{"name":"B"}]', env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } };
    expect((await command.run(argv, options)).stdout.match(/slug/g)).toHaveLength(2);
    const refused = '[{"name":"A","slug":"a","maxOrganizations":"as many as there may ever be"}]';
    for (const columns of [40, 60, 80]) {
      const { stdout } = await command.run(argv, {
        ...{ stdin: refused, tty: true, columns },
        env: { ...options.env, NO_COLOR: "1" },
      });
      expect(stdout.replaceAll(/\s+/g, " ")).toContain("failed");
      for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(Math.max(columns, 60));
    }
  });

  it("has items of the shape that plan and apply print", async () => {
    const [item] = report(await run(create, '[{"name":"HQ"}]'));
    expect(item).toMatchObject({
      outcome: "done",
      kind: "site",
      key: "contoso-dental/HQ",
      changes: expect.arrayContaining([{ field: "name", before: null, after: "HQ" }]),
      item: { line: 1, name: "HQ" },
      result: { id: "made" },
    });
  });

  it("waits where the server asks for it, and goes on", async () => {
    busy = 2;
    const ran = await run([...create, "--concurrency", "1"], '[{"name":"A"},{"name":"B"}]');
    expect(ran.code).toBe(0);
    expect(report(ran).map((one: { outcome: string }) => one.outcome)).toEqual(["done", "done"]);
    expect(writesOf(stub).length).toBeGreaterThan(2);
  });

  it("writes each entry when it is done with --ndjson", async () => {
    const seen: number[] = [];
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        seen.push(
          ...chunk
            .toString()
            .trim()
            .split("\n")
            .map(() => writesOf(stub).length),
        );
        done();
      },
    });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const argv = ["sites", "create", "--org", "contoso-dental", "--ndjson", "-f", "-"];
    const ran = await command.run(argv, { env, stdout, stdin: '[{"name":"A"},{"name":"B"},{"name":"C"}]' });
    expect([ran.code, seen]).toEqual([0, [1, 2, 3]]);
  });

  it("sends as many at once as --concurrency says, one where it says nothing", async () => {
    const six = JSON.stringify(Array.from({ length: 6 }, (_, at) => ({ name: `S${at}` })));
    await run(create, six);
    expect(most).toBe(1);
    await run([...create, "--concurrency", "3"], six);
    expect(most).toBe(3);
    expect((await run([...create, "--concurrency", "99"], six)).code).toBe(2);
  });

  it("leaves what is there alone with --if-not-exists", async () => {
    const ran = await run([...create, "--if-not-exists"], '[{"name":"HQ"},{"name":"New"}]');
    expect(report(ran).map((one: { outcome: string }) => one.outcome)).toEqual(["exists", "done"]);
    expect(writesOf(stub).map(({ body }) => (body as { name: string }).name)).toEqual(["New"]);
    expect(stub.seen.filter(({ path }) => path.includes("/orgs/sites?"))).toHaveLength(1);
  });

  it("gives a repeated run the keys of the first, and equal entries keys of their own", async () => {
    const keys = async () => {
      stub.seen.length = 0;
      await run(
        ["enrollment-keys", "create", "--org", "contoso-dental", "--json"],
        '[{"name":"A"},{"name":"A"},{"name":"B"}]',
      );
      return writesOf(stub).map(({ headers }) => headers["x-idempotency-key"]);
    };
    const first = await keys();
    expect(new Set(first).size).toBe(3);
    expect(await keys()).toEqual(first);
  });

  it("looks for rows of a partner key in its exports, without what is gone, and for keys among those of their principal", async () => {
    const list = (text: string, ...argv: string[]) =>
      command.run([...argv, "--json", "--if-not-exists", "-f", "-"], {
        stdin: text,
        env: { RMM_SERVER: stub.url, RMM_TOKEN: argv[0] === "partner-api" ? partnerKey : "token-of-ana" },
      });
    const outcomes = async (ran: Promise<{ stdout: string }>) =>
      report(await ran).map(({ outcome }: { outcome: string }) => outcome);
    const tenants = '[{"name":"Contoso","slug":"contoso-dental"},{"name":"Old","slug":"old"}]';
    expect(await outcomes(list(tenants, "partner-api", "create-organization"))).toEqual(["exists", "done"]);
    const places = JSON.stringify(["HQ", "Lab"].map((name) => ({ org: "contoso-dental", name })));
    expect(await outcomes(list(places, "partner-api", "create-site"))).toEqual(["exists", "done"]);
    const keys = '[{"name":"ci"},{"name":"gone"},{"name":"of another"}]';
    expect(await outcomes(list(keys, "partner-service-principals", "issue-key", ids.twin))).toEqual([
      ...["exists", "done", "done"],
    ]);
  });

  it("is taken with --concurrency wherever it is taken, and with --if-not-exists by every create", async () => {
    for (const spec of await specs()) {
      const { stdout } = await command.run([spec.noun, spec.name, "--help"]);
      const name = `${spec.noun} ${spec.name}`;
      expect(stdout.includes("--concurrency"), name).toBe(takesMany(spec));
      // A partner key sees no enrollment keys: it could not tell whether one is there.
      if (/^(create|issue)/.test(spec.name) && name !== "partner-api create-enrollment-key")
        expect([name, takesIfNotExists(spec)]).toEqual([name, true]);
      expect(stdout.includes("--if-not-exists"), name).toBe(takesIfNotExists(spec));
    }
  });
});

describe("the end of a key", () => {
  it("is a time from now or a date, in a flag and in a file", async () => {
    const keys = ["enrollment-keys", "create", "--org", "contoso-dental", "--name", "K", "--json"];
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const end = "2026-04-01T09:00:00.000Z";
    for (const text of ["30d", "+30d", end]) {
      stub.seen.length = 0;
      await command.run([...keys, "--expires-at", text], { env });
      await run(keys, JSON.stringify([{ expiresAt: text }]));
      await run(keys, `expiresAt,maxUsage\n${text},1\n`);
      expect(writesOf(stub).map(({ body }) => (body as { expiresAt: string }).expiresAt)).toEqual([end, end, end]);
    }
  });
});
