import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createClient } from "#sdk/client";
import { fetchTransport, type Transport } from "#sdk/transport";
import {
  databases,
  type SignedInUser,
  seedPartner,
  startTestServer,
  type TestServer,
} from "../../server/test/harness.ts";
import { apply } from "./apply.ts";
import { idempotencyKeysOf } from "./idempotency-keys.ts";
import type { ItemResult } from "./item-result.ts";
import { makePlan } from "./make-plan.ts";
import { shownSteps } from "./plan.ts";
import { readModel } from "./read-model.ts";
import { paced } from "./sender.ts";
import { deliver, type SinkContext, withResolvedSinks } from "./sinks.ts";

const book = `apiVersion: rmm/v1
organizations:
  - slug: harbor
    name: Harbor Dental
    contractStart: 2026-01-01
    maxDevices: 40
    billingContact: { name: Ana Ruiz, zip: 01067 }
    sites:
      - { name: HQ, timezone: America/Denver, address: { line1: 1 Main St, country: US } }
      - { name: Lab, timezone: Asia/Tokyo }
    contacts:
      - { name: Ana Ruiz, email: ana@harbor.example, roles: [billing, admin], isPrimary: true }
      - { name: 山田 太郎, email: yamada@harbor.example, site: Lab, isPrimary: true }
    enrollmentKeys:
      - { name: rollout, site: HQ, maxUsage: 25, expiresIn: 30d, sink: "file:secrets/harbor.key" }
  - slug: old-customer
    name: Old Customer
    status: churned
    sites: [{ name: Somewhere }]
  - slug: paused
    name: Paused
    status: suspended
    enrollmentKeys: [{ name: later, sink: "file:secrets/paused.key" }]
`;

interface Cut {
  /** Requests that reach the server; what follows fails as if the process was gone. */
  after: number;
  /** The last one reaches the server, but its answer is lost. */
  loseAnswer?: boolean;
}

describe.each(databases)("rmm apply on %s", (database) => {
  let server: TestServer;
  let admin: SignedInUser;
  let folder: string;

  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    const { partnerId } = await seedPartner(server, `p${Math.random().toString(36).slice(2)}`);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    folder = mkdtempSync(join(tmpdir(), "rmm-apply-"));
    return () => rmSync(folder, { recursive: true, force: true });
  });

  /** Time passes, and the caller goes on with a fresh token of the same session. */
  const passHours = (hours: number) => {
    server.clock.advance(hours * 3_600_000);
    const { iat, exp, typ, ...claims } = JSON.parse(
      Buffer.from(admin.token.split(".")[1] as string, "base64url").toString(),
    );
    expect({ iat, exp, typ }).toMatchObject({ typ: "access" });
    admin = { ...admin, token: server.services.accessTokens.sign(claims) };
  };

  const client = (cut?: Cut, token = admin.token) =>
    createClient({ baseUrl: server.url, credentials: { token }, retries: 0, transport: cutting(cut) });

  const out: string[] = [];
  const sinks: SinkContext = {
    env: {},
    forPrograms: false,
    redeliver: false,
    writeUnmasked: async (line) => void out.push(line),
    keepOut: () => undefined,
    writeOut: async (line) => void out.push(line),
  };

  async function setUp(yaml: string, options: { cut?: Cut; redeliver?: boolean; token?: string } = {}) {
    const { model, problems } = await readModel(yaml);
    expect(problems).toEqual([]);
    const rmm = client(options.cut, options.token);
    const signal = new AbortController();
    const sender = paced({ perMinute: 0, signal: signal.signal, sleep: async () => undefined });
    const context = { ...sinks, redeliver: options.redeliver ?? false };
    const made = await makePlan(withResolvedSinks(model!, folder), {
      rmm,
      sender,
      nowMs: server.clock.nowMs(),
      sinks: context,
      checkSinks: true,
    });
    return { ...made, rmm, sender, signal, context };
  }

  async function run(yaml: string, options: Parameters<typeof setUp>[1] & { allowDelete?: boolean } = {}) {
    const { plan, rmm, sender, signal, context } = await setUp(yaml, options);
    expect(plan.conflicts).toEqual([]);
    return apply(plan, {
      rmm,
      sender,
      idempotencyKey: idempotencyKeysOf("of this test"),
      signal: signal.signal,
      allowDelete: options.allowDelete ?? false,
      now: () => server.clock.nowMs(),
      deliver: (sink, secret) => deliver(sink, secret, context),
      report: () => undefined,
    });
  }

  const short = (results: readonly ItemResult[]) =>
    results.map(({ outcome, action, kind, item }) => `${outcome} ${action} ${kind} ${item.name}`);
  const planned = async (yaml: string) =>
    shownSteps((await setUp(yaml)).plan).map(
      ({ slug, step }) =>
        `${step.action} ${step.kind} ${slug}/${step.name}: ${step.changes.map(({ field }) => field).join(",")}`,
    );
  const counts = async () => {
    const orgs = await client()
      .organizations.list({ query: { limit: 100 } })
      .toArray();
    const inside = await Promise.all(
      orgs.map(async ({ id }) => ({
        sites: (
          await client()
            .sites.list({ query: { orgId: id } })
            .toArray()
        ).length,
        contacts: (await client().contacts.list({ params: { id } }).toArray()).length,
        keys: (
          await client()
            .enrollmentKeys.list({ query: { orgId: id } })
            .toArray()
        ).length,
      })),
    );
    const sum = (name: "sites" | "contacts" | "keys") => inside.reduce((total, one) => total + one[name], 0);
    return { orgs: orgs.length, sites: sum("sites"), contacts: sum("contacts"), keys: sum("keys") };
  };
  const all = { orgs: 3, sites: 3, contacts: 2, keys: 2 };

  it("creates everything, and a second run changes nothing", async () => {
    const results = await run(book);
    expect(results.filter(({ outcome }) => outcome !== "done")).toEqual([]);
    expect(await counts()).toEqual(all);
    expect(await planned(book)).toEqual([]);
    const key = readFileSync(join(folder, "secrets/harbor.key"), "utf8");
    expect(key).toMatch(/^[0-9a-f]{64}\n$/);
    expect(statSync(join(folder, "secrets/harbor.key")).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "secrets")).mode & 0o777).toBe(0o700);
    const statuses = (await client().organizations.list().toArray())
      .map(({ slug, status }) => `${slug} ${status}`)
      .sort();
    expect(statuses).toEqual(["harbor active", "old-customer churned", "paused suspended"]);
  });

  it("plans exactly the edits, and converges on them", async () => {
    await run(book);
    const edited = book
      .replace("maxDevices: 40", "maxDevices: null")
      .replace("timezone: Asia/Tokyo", "timezone: Asia/Seoul")
      .replace("roles: [billing, admin]", "roles: [admin]")
      .replace("email: yamada@harbor.example, site: Lab", "email: taro@harbor.example, site: HQ");
    expect(await planned(edited)).toEqual([
      "update organization harbor/harbor: maxDevices",
      "update site harbor/Lab: timezone",
      "update contact harbor/Ana Ruiz: roles",
      "update contact harbor/山田 太郎: email,site",
    ]);
    expect(short(await run(edited)).every((line) => line.startsWith("done"))).toBe(true);
    expect(await planned(edited)).toEqual([]);
    expect(await counts()).toEqual(all);
  });

  it("deletes only with --allow-delete, and only what the file manages", async () => {
    await run(book);
    const less = book.replace(/ {6}- \{ name: 山田.*\n/, "").replace(/ {6}- \{ name: Lab.*\n/, "");
    expect(short(await run(less))).toEqual(["held delete contact 山田 太郎", "held delete site Lab"]);
    expect(await counts()).toEqual(all);
    expect(short(await run(less, { allowDelete: true }))).toEqual([
      "done delete contact 山田 太郎",
      "done delete site Lab",
    ]);
    expect(await planned(less)).toEqual([]);
    expect(await counts()).toEqual({ ...all, sites: 2, contacts: 1 });
  });

  it("opens a churned organization before it changes it, and closes it last", async () => {
    await run(book);
    const reopened = book.replace("name: Old Customer\n    status: churned", "name: Back Again\n    status: active");
    expect((await run(reopened)).filter(({ outcome }) => outcome !== "done")).toEqual([]);
    const closed = reopened
      .replace("name: Back Again\n    status: active", "name: Gone\n    status: churned")
      .replace("[{ name: Somewhere }]", "[{ name: Somewhere }, { name: Else }]");
    expect((await run(closed)).filter(({ outcome }) => outcome !== "done")).toEqual([]);
    expect(await planned(closed)).toEqual([]);
  });

  it("converges after being killed at any request, without a duplicate and without a second key", async () => {
    const small = `apiVersion: rmm/v1
organizations:
  - slug: small
    name: Small
    status: suspended
    sites: [{ name: HQ }]
    contacts: [{ name: Ana, site: HQ, isPrimary: true }]
    enrollmentKeys: [{ name: only, site: HQ, expiresIn: 90m, sink: "file:secrets/small.key" }]
`;
    let kills = 0;
    for (const loseAnswer of [false, true]) {
      for (let after = 1; ; after++) {
        const results = await run(small, { cut: { after, loseAnswer } }).catch(() => undefined);
        if (results?.every(({ outcome }) => outcome === "done")) break;
        kills++;
        if (after % 2 === 0) server.clock.advance(60_000);
        expect((await run(small)).filter(({ outcome }) => outcome !== "done")).toEqual([]);
        expect(await counts()).toEqual({ orgs: 1, sites: 1, contacts: 1, keys: 1 });
        expect(await planned(small)).toEqual([]);
        expect(readFileSync(join(folder, "secrets/small.key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
        await startOver();
      }
      await startOver();
    }
    expect(kills).toBeGreaterThan(15);
  }, 180_000);

  /** Another partner, so that every run starts from nothing. */
  async function startOver() {
    const { partnerId } = await seedPartner(server, `p${Math.random().toString(36).slice(2)}`);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    rmSync(join(folder, "secrets"), { recursive: true, force: true });
  }

  const oneKey = `apiVersion: rmm/v1
organizations:
  - { slug: k, name: K, enrollmentKeys: [{ name: only, maxUsage: 3, expiresIn: 12h, sink: "file:secrets/k.key" }] }
`;
  const keyFile = () => join(folder, "secrets/k.key");
  const keysOf = async () => (await client().enrollmentKeys.list().toArray()).map(({ id }) => id);

  it("fetches the same secret when the process died between mint and sink", async () => {
    await run(oneKey);
    const secret = readFileSync(keyFile(), "utf8");
    const ids = await keysOf();
    rmSync(keyFile());
    passHours(1);
    expect(short(await run(oneKey))).toEqual(["done deliver enrollmentKey only"]);
    expect(readFileSync(keyFile(), "utf8")).toBe(secret);
    expect(await keysOf()).toEqual(ids);
  });

  it("makes nothing twice when two runs race", async () => {
    const yaml = oneKey.replace("name: K,", "name: K, sites: [{ name: HQ }], contacts: [{ name: Ana, site: HQ }],");
    const [one, two] = await Promise.all([run(yaml), run(yaml)]);
    expect([...one, ...two].filter(({ outcome }) => outcome !== "done")).toEqual([]);
    expect(await counts()).toEqual({ orgs: 1, sites: 1, contacts: 1, keys: 1 });
    expect(readFileSync(keyFile(), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    expect(await planned(yaml)).toEqual([]);
  });

  it("does not bring back the first secret of a key that was rotated since", async () => {
    await run(oneKey);
    const [id] = await keysOf();
    rmSync(keyFile());
    passHours(1);
    await client().enrollmentKeys.rotate({ params: { id: id as string } });
    const { plan } = await setUp(oneKey);
    expect(shownSteps(plan)).toEqual([]);
    expect(plan.organizations[0]!.notes).toMatchObject([{ left: "lost" }]);
  });

  it("says rotate, with the command, when the secret is lost for good", async () => {
    await run(oneKey);
    const [id] = await keysOf();
    rmSync(keyFile());
    passHours(23.5);
    const { plan } = await setUp(oneKey);
    expect(shownSteps(plan)).toEqual([]);
    expect(plan.organizations[0]!.notes).toMatchObject([
      { left: "lost", command: `rmm enrollment-keys rotate ${id} --yes --secret-file ${keyFile()}` },
    ]);
  });

  it("never mints over a key of that name that someone made by hand", async () => {
    await run(oneKey.replace(/, enrollmentKeys.*/, " }"));
    const org = (await client().organizations.list().toArray())[0]!;
    await client().enrollmentKeys.create({ body: { orgId: org.id, name: "Only" } });
    const results = await run(oneKey);
    expect(results).toMatchObject([
      {
        outcome: "failed",
        action: "deliver",
        error: { code: "SECRET_LOST", hint: expect.stringContaining("rmm enrollment-keys rotate") },
      },
    ]);
    expect(await keysOf()).toHaveLength(1);
    expect(existsSync(keyFile())).toBe(false);
  });

  it("creates an object again that was created and removed by hand while the server remembered the request", async () => {
    const yaml = oneKey.replace("name: K,", "name: K, sites: [{ name: HQ }], contacts: [{ name: Ana }],");
    await run(yaml);
    const [before] = await keysOf();
    const org = (await client().organizations.list().toArray())[0]!;
    await client().enrollmentKeys.remove({ params: { id: before as string } });
    await client().sites.remove({ params: { id: (await client().sites.list().toArray())[0]!.id } });
    await client().contacts.remove({
      params: {
        contactId: (
          await client()
            .contacts.list({ params: { id: org.id } })
            .toArray()
        )[0]!.id,
      },
    });
    rmSync(keyFile());
    server.clock.advance(1000);
    expect((await run(yaml)).map(({ outcome }) => outcome)).toEqual(["done", "done", "done"]);
    expect(await keysOf()).toHaveLength(1);
    expect(await keysOf()).not.toEqual([before]);
    expect(await planned(yaml)).toEqual([]);
    rmSync(keyFile());
    server.clock.advance(1000);
    expect(short(await run(yaml))).toEqual(["done deliver enrollmentKey only"]);
    expect(await keysOf()).toHaveLength(1);
  });

  it("leaves other organizations alone when one fails, and does not try what depends on the failure", async () => {
    const yaml = `apiVersion: rmm/v1
organizations:
  - { slug: one, name: One, sites: [{ name: HQ }], contacts: [{ name: Ana, site: HQ }] }
  - { slug: two, name: Two, sites: [{ name: HQ }], contacts: [{ name: Ana, site: HQ }] }
`;
    const { plan, rmm, sender, signal } = await setUp(yaml);
    const { partnerId } = plan;
    await server.db
      .updateTable("partners")
      .set({ maxOrganizations: 1 })
      .where("id", "=", partnerId as string)
      .execute();
    const results = await apply(plan, {
      rmm,
      sender,
      idempotencyKey: idempotencyKeysOf("of this test"),
      signal: signal.signal,
      allowDelete: false,
      now: () => 0,
      deliver: async () => undefined,
      report: () => undefined,
    });
    expect(results.filter(({ outcome }) => outcome === "done")).toHaveLength(3);
    expect(results.filter(({ outcome }) => outcome === "failed")).toMatchObject([
      { kind: "organization", error: { code: "ORG_LIMIT_REACHED" } },
    ]);
    expect(results.filter(({ outcome }) => outcome === "skipped")).toHaveLength(2);
  });

  it("finishes what is in hand when interrupted, and leaves the rest for the next run", async () => {
    const { plan, rmm, sender, signal, context } = await setUp(book);
    const results = await apply(plan, {
      rmm,
      sender,
      idempotencyKey: idempotencyKeysOf("of this test"),
      signal: signal.signal,
      allowDelete: false,
      now: () => server.clock.nowMs(),
      deliver: (sink, secret) => deliver(sink, secret, context),
      report: () => signal.abort(),
    });
    const outcomes = new Set(results.map(({ outcome }) => outcome));
    expect(outcomes).toEqual(new Set(["done", "skipped"]));
    expect((await run(book)).filter(({ outcome }) => outcome !== "done")).toEqual([]);
    expect(await counts()).toEqual(all);
  });

  it("never overwrites a file, and says so before anything is created", async () => {
    rmSync(join(folder, "secrets"), { recursive: true, force: true });
    await import("node:fs/promises").then(({ mkdir }) => mkdir(join(folder, "secrets")));
    writeFileSync(keyFile(), "mine\n");
    const { plan } = await setUp(oneKey);
    expect(plan.conflicts).toMatchObject([{ line: 3, message: expect.stringContaining("never overwritten") }]);
    expect(readFileSync(keyFile(), "utf8")).toBe("mine\n");
  });

  it("works in system scope for the partner that the file names, and refuses another partner's file", async () => {
    const { partnerId } = await seedPartner(server, `sys${Math.random().toString(36).slice(2)}`);
    const system = await server.signIn({ role: "System Admin" });
    const slug = (await client(undefined, system.token).partners.get({ params: { id: partnerId } })).slug;
    const yaml = `partner: ${slug}\n${book}`;
    expect((await run(yaml, { token: system.token })).filter(({ outcome }) => outcome !== "done")).toEqual([]);
    expect(shownSteps((await setUp(yaml, { token: system.token })).plan)).toEqual([]);
    await expect(setUp(book, { token: system.token })).rejects.toMatchObject({ exit: "usage" });
    await expect(setUp(`partner: nobody\n${book}`, { token: system.token })).rejects.toMatchObject({
      exit: "notFound",
    });
    await expect(setUp(yaml)).rejects.toMatchObject({ exit: "forbidden" });
  });
});

/** Lets the first requests through and fails all that follow, as a killed process would. */
function cutting(cut: Cut | undefined): Transport {
  const real = fetchTransport();
  let seen = 0;
  return async (request) => {
    seen++;
    if (cut && seen > cut.after) throw Object.assign(new Error("killed"), { sent: false });
    const response = await real(request);
    if (cut?.loseAnswer && seen === cut.after) throw Object.assign(new Error("killed"), { sent: true });
    return response;
  };
}
