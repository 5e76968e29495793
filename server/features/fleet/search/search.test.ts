import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("search on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let secondOrgId: string;
  let siteId: string;
  let branchId: string;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    ({
      partnerId,
      orgIds: [orgId, secondOrgId],
    } = (await seedPartner(server, "acme", ["acme", "acme-two"])) as unknown as {
      partnerId: string;
      orgIds: [string, string];
    });
    siteId = await makeSite(server, orgId, "HQ");
    branchId = await makeSite(server, orgId, "Branch");
    const secondSite = await makeSite(server, secondOrgId);
    const other = await seedPartner(server, "other", ["other"]);
    const otherOrg = other.orgIds[0] as string;
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
    await makeDevices(server, [
      { orgId, siteId, hostname: "PC_01", lastUser: "CORP\\ada", status: "online" },
      { orgId, siteId, hostname: "PCX01", displayName: "Till" },
      { orgId, siteId, hostname: "50%OFF", displayName: "Straße Kasse" },
      { orgId, siteId: branchId, hostname: "back\\slash", lastUser: 'o\'neil "x"' },
      { orgId, siteId, hostname: "PC_01-gone", status: "decommissioned" },
      { orgId: secondOrgId, siteId: secondSite, hostname: "far-PC_01" },
      { orgId: otherOrg, siteId: await makeSite(server, otherOrg), hostname: "PC_01", lastUser: "profile" },
    ]);
  });
  afterAll(() => server?.stop());

  const ask = (query: string, as = token) => server.request("GET", `/search?${query}`, { token: as });
  async function titles(q: string, as = token) {
    const { status, body } = await ask(`q=${encodeURIComponent(q)}`, as);
    expect(status, q).toBe(200);
    return body.results.map(({ title }: { title: string }) => title);
  }

  it("finds devices by hostname, display name and last user, those first that begin with the text", async () => {
    expect((await ask("q=pc_0")).body.results).toEqual([
      { id: expect.any(String), type: "devices", title: "PC_01", description: "PC_01 · online · CORP\\ada" },
      { id: expect.any(String), type: "devices", title: "far-PC_01", description: "far-PC_01 · online" },
    ]);
    expect(await titles("  KASSE ")).toEqual(["Straße Kasse"]);
    expect(await titles("straße")).toEqual(["Straße Kasse"]);
    expect(await titles("CORP\\")).toEqual(["PC_01"]);
    expect(await titles('o\'neil "X"')).toEqual(["back\\slash"]);
  });

  it("takes the text literally, however long it is (C13)", async () => {
    expect(await titles("PC_01")).toEqual(["PC_01", "far-PC_01"]);
    expect(await titles("%")).toEqual(["Straße Kasse"]);
    expect(await titles("_")).toEqual(["far-PC_01", "PC_01"]);
    expect(await titles("\\")).toEqual(["back\\slash", "PC_01"]);
    expect(await titles("%%%")).toEqual([]);
    expect(await titles('"')).toEqual(["back\\slash"]);
    expect(await titles('pc" OR hostname:"pc')).toEqual([]);
  });

  it("reads each parameter once, and refuses what is blank, too long or no number (C15)", async () => {
    const refused = ["", "q=", "q=%20%20", `q=${"a".repeat(101)}`, "q=a&limit=0", "q=a&limit=51", "q=a&limit=x"];
    for (const query of [...refused, "q=a&limit=1e1", "q=a&limit=-1", "q=a&limit=", "q=a%00b", "q[]=a", "q[x]=1"]) {
      const { status, body } = await ask(query);
      expect([query, status, body.code]).toEqual([query, 400, "VALIDATION_ERROR"]);
    }
    expect((await ask("q=a&q=b")).status).toBe(400);
    expect((await ask(`q=${"🦀".repeat(100)}`)).status).toBe(200);
  });

  it("shows a quarter of each kind first, then what is left", async () => {
    await makeDevices(
      server,
      Array.from({ length: 30 }, (_, index) => ({
        ...{ orgId, siteId },
        hostname: `key-${String(index).padStart(2, "0")}`,
      })),
    );
    const kinds = async (limit: number) =>
      (await ask(`q=key&limit=${limit}`)).body.results.map(({ type }: { type: string }) => type);
    const counted = async (limit: number) => {
      const all = await kinds(limit);
      return [all.length, all.filter((type: string) => type === "settings").length];
    };
    // Two pages are called so.
    expect(await counted(20)).toEqual([20, 2]);
    expect(await counted(50)).toEqual([32, 2]);
    expect(await counted(4)).toEqual([4, 1]);
    expect(await counted(1)).toEqual([1, 0]);
    expect((await ask("q=key&limit=3")).body.results.map(({ title }: { title: string }) => title)).toEqual([
      "key-00",
      "key-01",
      "API keys",
    ]);
  });

  it("shows each kind to who may read it, and pages of settings to who may open them", async () => {
    const viewer = await server.signIn({ role: "Org Viewer", orgId });
    const billing = await server.signIn({ role: "Partner Billing Viewer", partnerId, orgAccess: "all" });
    const admin = await server.signIn({ role: "System Admin" });
    expect(await titles("PC_01", billing.token)).toEqual([]);
    expect(await titles("pc_01", viewer.token)).toEqual(["PC_01"]);
    expect(await titles("p", billing.token)).toContain("Partner");
    expect(await titles("partner", viewer.token)).toEqual([]);
    expect(await titles("partner", admin.token)).toEqual([]);
    expect(await titles("users", viewer.token)).toEqual([]);
    expect(await titles("users", admin.token)).toEqual(["Users"]);
    expect((await ask("q=PROFILE", viewer.token)).body.results).toEqual([
      {
        ...{ id: "settings-profile", type: "settings", title: "Profile", href: "/settings/profile" },
        description: "Your name, password and sessions",
      },
    ]);
  });

  it("reaches what its caller reaches, and nothing of organizations that lists hide", async () => {
    const one = await server.signIn({ role: "Partner Technician", partnerId, orgAccess: "selected", orgIds: [orgId] });
    const none = await server.signIn({ role: "Partner Technician", partnerId, orgAccess: "none" });
    const confined = await server.signIn({ role: "Org Admin", orgId, siteIds: [branchId] });
    const system = await server.signIn({ role: "System Admin" });
    for (const text of ["pc_01", "pc", "_"]) {
      expect(await titles(text, one.token)).not.toContain("far-PC_01");
      expect(await titles(text, none.token)).not.toContain("PC_01");
      expect((await titles(text, system.token)).filter((title: string) => title === "PC_01")).toHaveLength(2);
    }
    expect(await titles("pc_01", confined.token)).toEqual([]);
    expect(await titles("lash", confined.token)).toEqual(["back\\slash"]);
    const hidden = server.db.updateTable("organizations").where("id", "=", secondOrgId);
    await hidden.set({ status: "archived" }).execute();
    expect(await titles("pc_01")).toEqual(["PC_01"]);
    await hidden.set({ status: "active" }).execute();
  });

  it("finds what it may show among very many that it may not", async () => {
    const crowd = Array.from({ length: 400 }, (_, index) => ({ orgId, siteId, hostname: `crowd-${index}` }));
    await makeDevices(server, [...crowd, { orgId, siteId: branchId, hostname: "the-crowd" }]);
    const confined = await server.signIn({ role: "Org Admin", orgId, siteIds: [branchId] });
    expect(await titles("crowd", confined.token)).toEqual(["the-crowd"]);
    expect((await titles("crowd")).slice(0, 3)).toEqual(["crowd-0", "crowd-1", "crowd-10"]);
    expect(await titles("owd-")).toHaveLength(20);
  });
});
