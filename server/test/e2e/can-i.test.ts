import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { auditEntries } from "../audit-entries.ts";
import { seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

/** Here the answer depends on the target: all users of an organization may list its members. */
const ofTarget = (path: string, code: string): boolean =>
  /^\/(users|roles)/.test(path) && code === "FULL_PARTNER_ACCESS_REQUIRED";

describe("rmm auth can-i", () => {
  let server: TestServer;
  let rmm: Rmm;
  let partnerId: string;
  let orgId: string;

  beforeAll(async () => {
    server = await startTestServer("sqlite");
    const seeded = await seedPartner(server, "acme", ["acme-west"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
    rmm = rmmHere({ RMM_SERVER: server.url });
  });
  afterAll(async () => {
    rmm?.close();
    await server?.stop();
  });

  const ask = (credential: Record<string, string>, ...words: string[]) =>
    rmm.run(["auth", "can-i", ...words], { env: credential });
  const asUser = async (user: Parameters<TestServer["signIn"]>[0]) => ({
    RMM_TOKEN: (await server.signIn(user)).token,
  });

  it("answers a user as the server would: permission, endpoint and command", async () => {
    const viewer = await asUser({ role: "Partner Viewer", partnerId });
    for (const [words, code] of [
      [["sites:read"], 0],
      [["sites:write"], 5],
      [["GET", "/orgs/sites"], 0],
      [["POST /api/v1/orgs/sites"], 5],
      [["enrollment-keys", "create"], 5],
      [["POST", "/partner-api/sites"], 5],
      [["POST", "/auth/login"], 0],
    ] as const) {
      const ran = await ask(viewer, ...words);
      expect(ran, words.join(" ")).toMatchObject({ code, stdout: code === 0 ? "yes\n" : "no\n" });
      if (code === 5) expect(ran.stderr).toMatch(/Partner Viewer|partner key/);
    }
  });

  it("exits 4 when only a second factor is missing, and 2 for an unknown name", async () => {
    const plain = await asUser({ role: "Partner Admin", partnerId, mfa: false });
    expect(await ask(plain, "POST", "/enrollment-keys")).toMatchObject({ code: 4, stdout: "no\n" });
    const typo = await ask(plain, "sties:write");
    expect(typo).toMatchObject({ code: 2, stdout: "" });
    expect(typo.stderr).toContain("sites:write");
    expect((await ask(plain, "GET /orgs/organization")).stderr).toContain("There is GET /orgs/organizations");
    expect((await ask({}, "sites:write")).code).toBe(4);
  });

  it("agrees with the server about a user, for every endpoint without a body", {
    timeout: 120_000,
  }, async () => {
    for (const user of [
      { role: "Org Viewer", orgId },
      { role: "Partner Technician", partnerId, orgAccess: "selected" as const, orgIds: [orgId] },
      { role: "System Admin", mfa: false },
    ]) {
      const credential = await asUser(user);
      const ran = await ask(credential, "--list", "--json");
      expect(ran.code, ran.stderr).toBe(0);
      const rows = JSON.parse(ran.stdout) as { method: string; path: string; allowed: boolean; command: string }[];
      const asked = rows.filter(({ method, path }) => method === "GET" && !path.startsWith("/auth/"));
      expect(asked.length).toBeGreaterThan(20);
      for (const { method, path, allowed, command } of asked) {
        const url = path.replace(/:\w+/g, server.services.random.uuid());
        const { status, body } = await server.request(method, url, { token: credential.RMM_TOKEN });
        // The server checks the row after the right to call the endpoint.
        const { code = "" } = body as { code?: string };
        const about = /^(ORG|SITE|PARTNER)_/.test(code) && code !== "PARTNER_CONTEXT_REQUIRED";
        const refused = [401, 403].includes(status) || code === "PARTNER_CONTEXT_REQUIRED";
        const letIn = !refused || about || ofTarget(path, code);
        expect(letIn, `${user.role}: ${command} ${status} ${body.code}`).toBe(allowed);
      }
    }
  });

  it("probes a partner key with requests that change nothing, and learns all its scopes from one refusal", async () => {
    const all = await seedPartnerPrincipal(server.db, server.services, partnerId);
    for (const words of ["sites:read", "sites:write", "enrollment-keys:write", "POST /partner-api/organizations"]) {
      expect(await ask({ RMM_API_KEY: all.partnerKey }, words), words).toMatchObject({ code: 0, stdout: "yes\n" });
    }
    expect(await ask({ RMM_API_KEY: all.partnerKey }, "POST /orgs/sites")).toMatchObject({ code: 5, stdout: "no\n" });
    const { db } = server;
    const change = (set: object) =>
      db.updateTable("partnerServicePrincipals").set(set).where("id", "=", all.partnerPrincipalId).execute();
    await change({ scopes: JSON.stringify(["devices:read"]) });
    const less = await ask({ RMM_API_KEY: all.partnerKey }, "sites:write", "--json");
    expect(less.code).toBe(5);
    expect(JSON.parse(less.stdout)).toMatchObject({ allowed: false, credential: "partnerKey", source: "RMM_API_KEY" });
    expect(less.stdout).toContain("devices:read");
    expect(less.stdout + less.stderr).not.toContain(all.partnerKey);
    expect((await ask({ RMM_API_KEY: all.partnerKey }, "scripts:read")).code).toBe(5);
    const rows = JSON.parse((await ask({ RMM_API_KEY: all.partnerKey }, "--list", "--json")).stdout) as {
      command: string;
      allowed: boolean | null;
    }[];
    expect(rows.filter(({ allowed }) => allowed).map(({ command }) => command)).toContain("partner-api devices");
    expect(rows.find(({ command }) => command === "partner-api create-site")?.allowed).toBe(false);
    expect(
      (await auditEntries(server)).filter(({ result, action }) => result === "success" && /create/.test(action)),
    ).toEqual([]);
    expect(await db.selectFrom("enrollmentKeys").select("id").execute()).toEqual([]);
  });

  it("answers a key for the commands that take keys, and says what a scope does not open", async () => {
    const { RMM_TOKEN } = await asUser({ role: "Partner Admin", partnerId });
    const body = { orgId, name: "ci", scopes: ["devices:read"] };
    const { key } = (await server.request("POST", "/api-keys", { token: RMM_TOKEN, body })).body;
    const held = await ask({ RMM_API_KEY: key }, "devices:read", "--json");
    expect([held.code, JSON.parse(held.stdout)]).toMatchObject([0, { allowed: true, reasons: [] }]);
    const [limit] = JSON.parse(held.stdout).limits;
    expect(limit).toMatch(/^it opens custom-fields values; .*devices list.* are for a signed-in user$/);
    expect(held.stderr).toContain(limit);
    for (const [what, reason] of [
      ["devices list", "it is for a signed-in user"],
      ["GET /devices", "it is for a signed-in user"],
      ["devices:write", "the key does not have devices:write; it has devices:read"],
      ["tickets:read", "no command takes tickets:read from an API key"],
      ["organizations:write", "are for a signed-in user"],
    ] as const) {
      const ran = await ask({ RMM_API_KEY: key }, what);
      expect([what, ran.code, ran.stdout]).toEqual([what, 5, "no\n"]);
      expect(ran.stderr).toContain(reason);
    }
    const everything = await asUser({ role: "System Admin" });
    const ofKeys = await ask(everything, "enrollment-keys:write");
    expect(ofKeys).toMatchObject({ code: 5, stdout: "no\n" });
    expect(ofKeys.stderr).toContain("a scope of keys");
  });

  it("tells a principal without an expiry or an allowlist that it may mint nothing", async () => {
    const open = await seedPartnerPrincipal(server.db, server.services, (await seedPartner(server, "open")).partnerId);
    await server.db
      .updateTable("partnerServicePrincipals")
      .set({ expiresAt: null })
      .where("id", "=", open.partnerPrincipalId)
      .execute();
    const ran = await ask({ RMM_API_KEY: open.partnerKey }, "enrollment-keys:write");
    expect(ran).toMatchObject({ code: 5, stdout: "no\n" });
    expect(ran.stderr).toContain("source allowlist");
    // Also after a refusal has named the scopes, because minting needs more than scopes.
    await server.db
      .updateTable("partnerServicePrincipals")
      .set({ scopes: ["enrollment-keys:write"] })
      .where("id", "=", open.partnerPrincipalId)
      .execute();
    const list = JSON.parse((await ask({ RMM_API_KEY: open.partnerKey }, "--list", "--json")).stdout) as {
      command: string;
      allowed: boolean | null;
    }[];
    expect(list.find(({ command }) => command === "partner-api create-enrollment-key")?.allowed).toBe(false);
  });

  it("answers for an API key from the contract, and says what it cannot know", async () => {
    const key = { RMM_API_KEY: "svc_0123456789abcdefghijklmnopqrstuv" };
    expect(await ask(key, "GET /devices")).toMatchObject({ code: 5, stdout: "no\n" });
  });
});
