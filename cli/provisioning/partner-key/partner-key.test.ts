import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { createClient } from "#sdk/client";
import { fetchTransport, type Transport } from "#sdk/transport";
import { enrollmentKeyHash } from "#server/features/credentials/enrollment-keys/key-hash";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../server/test/harness.ts";
import { apply } from "../apply.ts";
import { idempotencyKeysOf } from "../idempotency-keys.ts";
import type { ItemResult } from "../item-result.ts";
import { shownSteps } from "../plan.ts";
import { readModel } from "../read-model.ts";
import { paced } from "../sender.ts";
import { deliver, type SinkContext, sinkHolds, withResolvedSinks } from "../sinks.ts";
import { carryOutByPartnerKey } from "./carry-out.ts";
import { checkPartnerAccess } from "./check-access.ts";
import { diffExports } from "./diff.ts";
import { readExports } from "./read-live.ts";
import { windowsOf, windowsText } from "./windows.ts";

const HOUR = 3_600_000;
const book = `apiVersion: rmm/v1
organizations:
  - slug: harbor
    name: Harbor Dental
    maxDevices: 40
    sites:
      - { name: HQ, timezone: America/Denver, address: { line1: 1 Main St, country: US, state: CO } }
      - { name: Lab, timezone: Asia/Tokyo, contact: { name: Ana } }
    contacts: [{ name: Ana Ruiz, email: ana@harbor.example }]
    enrollmentKeys:
      - { name: rollout, site: HQ, maxUsage: 25, expiresIn: 20d, sink: "file:secrets/rollout.key" }
      - { name: spare, sink: "file:secrets/spare.key" }
  - slug: gone
    name: Gone
    status: churned
    sites: [{ name: Somewhere }]
`;

interface Cut {
  after: number;
  loseAnswer?: boolean;
}

describe.each(databases)("provisioning with a partner key, on %s", (database) => {
  let server: TestServer;
  let seeded: Awaited<ReturnType<typeof seedPartnerPrincipal>>;
  let partnerId: string;
  let folder: string;

  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    partnerId = (await seedPartner(server, `p${Math.random().toString(36).slice(2)}`)).partnerId;
    seeded = await seedPartnerPrincipal(server.db, server.services, partnerId);
    folder = mkdtempSync(join(tmpdir(), "rmm-partner-key-"));
    return () => rmSync(folder, { recursive: true, force: true });
  });

  const sinks: SinkContext = {
    env: {},
    forPrograms: false,
    redeliver: false,
    writeUnmasked: async () => undefined,
    keepOut: () => undefined,
    writeOut: async () => undefined,
  };
  const never = new AbortController().signal;
  const client = (cut?: Cut) =>
    createClient({
      baseUrl: server.url,
      credentials: { apiKey: seeded.partnerKey },
      retries: 0,
      transport: cutting(cut),
    });

  async function planned(yaml: string, cut?: Cut, assumeMade = false) {
    const { model, problems } = await readModel(yaml);
    expect(problems).toEqual([]);
    const rmm = client(cut);
    const waited: number[] = [];
    const sender = paced({
      perMinute: 0,
      signal: never,
      rateLimitTries: Number.POSITIVE_INFINITY,
      // Waiting is time passing at the server.
      sleep: async (ms) => {
        waited.push(ms);
        server.clock.advance(ms);
      },
    });
    const live = await readExports(rmm, (call) => sender.send(call));
    const plan = diffExports(withResolvedSinks(model!, folder), live, {
      nowMs: server.clock.nowMs(),
      sinkHolds: (key) => sinkHolds(key, false),
      redeliver: false,
      assumeMade,
    });
    return { plan, rmm, sender, waited };
  }

  async function run(yaml: string, cut?: Cut) {
    const { plan, rmm, sender, waited } = await planned(yaml, cut);
    expect(plan.conflicts).toEqual([]);
    const results = await apply(plan, {
      rmm,
      sender,
      idempotencyKey: idempotencyKeysOf("of this test"),
      signal: never,
      allowDelete: false,
      now: () => server.clock.nowMs(),
      deliver: (sink, secret) => deliver(sink, secret, sinks),
      report: () => undefined,
      carryOut: carryOutByPartnerKey,
    });
    return { plan, results, waited };
  }

  const steps = async (yaml: string) =>
    shownSteps((await planned(yaml)).plan).map(({ slug, step }) => `${step.action} ${step.kind} ${slug}/${step.name}`);
  const done = (results: readonly ItemResult[]) => results.filter(({ outcome }) => outcome === "done").length;
  const rows = async () => {
    const orgs = await server.db
      .selectFrom("organizations")
      .select(["id", "slug"])
      .where("partnerId", "=", partnerId)
      .execute();
    const ids = orgs.map(({ id }) => id);
    if (ids.length === 0) return { orgs, sites: [], keys: [] };
    return {
      orgs,
      sites: await server.db.selectFrom("sites").select(["name", "address"]).where("orgId", "in", ids).execute(),
      keys: await server.db
        .selectFrom("enrollmentKeys")
        .select(["name", "keyHash", "maxUsage"])
        .where("orgId", "in", ids)
        .execute(),
    };
  };

  /** Each key once, and its secret in its file. */
  async function expectConverged() {
    const { orgs, sites, keys } = await rows();
    expect(orgs.map(({ slug }) => slug)).toEqual(["harbor"]);
    expect(sites.map(({ name }) => name).toSorted()).toEqual(["HQ", "Lab"]);
    expect(keys.map(({ name }) => name).toSorted()).toEqual(["rollout", "spare"]);
    const pepper = server.services.config.enrollmentKeyPeppers[0] as string;
    for (const { name, keyHash } of keys) {
      const secret = readFileSync(join(folder, "secrets", `${name}.key`), "utf8").trim();
      expect(enrollmentKeyHash(pepper, secret), name).toBe(keyHash);
    }
  }

  it("creates what it can, tells a person the rest, and does nothing a second time", async () => {
    const { plan, results } = await run(book);
    expect(done(results)).toBe(5);
    expect(results).toHaveLength(5);
    await expectConverged();
    const notes = plan.organizations.flatMap((one) => one.notes.map(({ name, message }) => `${name}: ${message}`));
    expect(notes).toEqual([
      "harbor: a partner key cannot set maxDevices: a person must set it",
      "1 in the file: a partner key creates no contacts: a person must add them",
      "gone: a partner key creates no churned organization: a person must create it",
    ]);
    expect(await steps(book)).toEqual([]);
    const edited = book
      .replace("name: Harbor Dental", "name: Harbor")
      .replace("Asia/Tokyo", "Asia/Seoul")
      .replace(/ {6}- \{ name: HQ.*\n/, "")
      .replace("site: HQ, ", "");
    const { plan: later } = await planned(edited);
    expect(shownSteps(later)).toEqual([]);
    const told = later.organizations[0]!.notes.map(({ name, message }) => `${name}: ${message}`).join("\n");
    expect(told).toContain("harbor: name Harbor Dental → Harbor: a person must change it");
    expect(told).toContain("Lab: differs in timezone");
    expect(told).toContain("HQ: the file does not list it: a person must delete it");
  });

  it("converges after being killed at any request, with or without its answer, and never mints a second key", async () => {
    let runs = 0;
    for (let after = 1; ; after = 1 + (after % 4)) {
      const cut = { after: 2 + after, loseAnswer: runs % 2 === 0 };
      const results = await run(book, cut).then(
        (ran) => ran.results,
        () => undefined,
      );
      runs += 1;
      if (results?.every(({ outcome }) => outcome === "done")) break;
      expect(runs).toBeLessThan(40);
    }
    expect(runs).toBeGreaterThan(2);
    await expectConverged();
    expect(await steps(book)).toEqual([]);
  });

  it("waits for the windows: 37 mints at 10 an hour are 4, and each key is there once", {
    timeout: 120_000,
  }, async () => {
    const keys = Array.from(
      { length: 37 },
      (_, at) => `      - { name: k${at}, expiresIn: 30d, sink: "file:secrets/k${at}.key" }`,
    );
    const many = `apiVersion: rmm/v1\norganizations:\n  - slug: many\n    name: Many\n    enrollmentKeys:\n${keys.join("\n")}\n`;
    const { plan } = await planned(many);
    expect(windowsText(windowsOf(plan))).toBe("37 mints, 10 an hour: 4 windows");
    const from = server.clock.nowMs();
    const { results, waited } = await run(many);
    expect(done(results)).toBe(38);
    const hours = (server.clock.nowMs() - from) / HOUR;
    expect(hours).toBeGreaterThan(2.9);
    expect(hours).toBeLessThan(3.6);
    expect(waited.length).toBeLessThan(37);
    expect((await rows()).keys).toHaveLength(37);
    expect(readdirSync(join(folder, "secrets"))).toHaveLength(37);
    server.clock.set("2026-03-02T09:00:00.000Z");
  });

  it("refuses before the first change where a scope or what minting asks is missing", async () => {
    const change = (set: object) =>
      server.db.updateTable("partnerServicePrincipals").set(set).where("id", "=", seeded.partnerPrincipalId).execute();
    const check = async () => {
      const { plan, rmm } = await planned(book);
      await checkPartnerAccess(rmm, plan, never);
    };
    await check();
    await change({ sourceCidrs: "[]" });
    await expect(check()).rejects.toMatchObject({
      code: "partner_provisioning_principal_restrictions_required",
      exit: "forbidden",
    });
    await change({ sourceCidrs: '["127.0.0.0/8","::1"]', scopes: '["organizations:read","sites:read","sites:write"]' });
    const lacking = await check().catch((error: Error) => error);
    expect(lacking).toMatchObject({ exit: "forbidden" });
    expect((lacking as Error).message).toContain("organizations:write and enrollment-keys:write");
    await change({ scopes: '["organizations:read"]' });
    await expect(planned(book)).rejects.toThrow("sites:read");
    expect((await rows()).orgs).toEqual([]);
  });

  it("makes no site a second time that the export withholds", async () => {
    await run(book.replace("name: Lab", "name: password=hunter2222"));
    const { plan } = await planned(book.replace("name: Lab", "name: password=hunter2222"));
    expect(shownSteps(plan)).toEqual([]);
    expect(plan.organizations[0]?.notes.map(({ message }) => message).join()).toContain("withholds");
  });

  it("asks for a file, or for --redeliver, where the existence of a key cannot be checked", async () => {
    const hidden = (sink: string) =>
      `apiVersion: rmm/v1\norganizations:\n  - slug: harbor\n    name: Harbor\n    enrollmentKeys: [{ name: a, sink: "${sink}" }]\n`;
    expect(await steps(hidden("stdout"))).toHaveLength(2);
    await run("apiVersion: rmm/v1\norganizations:\n  - { slug: harbor, name: Harbor }\n");
    const { plan } = await planned(hidden("github-output:key"));
    expect(plan.conflicts.map(({ message }) => message).join()).toContain("--redeliver");
    expect(existsSync(join(folder, "secrets"))).toBe(false);
    const { plan: assumed } = await planned(hidden("github-output:key"), undefined, true);
    expect([assumed.conflicts, shownSteps(assumed)]).toEqual([[], []]);
  });
});

/** A line that lets so many requests through, and then is dead. */
function cutting(cut?: Cut): Transport {
  const real = fetchTransport();
  let left = cut?.after ?? Number.POSITIVE_INFINITY;
  return async (request) => {
    if (left <= 0) throw new Error("the process is gone");
    left -= 1;
    const answer = await real(request);
    if (left === 0 && cut?.loseAnswer) throw new Error("the process is gone");
    return answer;
  };
}
