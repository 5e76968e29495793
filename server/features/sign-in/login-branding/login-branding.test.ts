import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

const PNG = "data:image/png;base64,iVBORw0KGgo=";

describe.each(databases)("login branding on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const path = "/partners/me/login-branding";
  const read = async (token = admin.token) => (await server.request("GET", path, { token })).body;
  const put = (body: object, token = admin.token) => server.request("PUT", path, { token, body });

  it("is empty at first, then replaced as a whole, for this partner alone", async () => {
    const nothing = { logoUrl: null, accentColor: null, headline: null };
    expect(await read()).toEqual(nothing);
    const all = { logoUrl: PNG, accentColor: "#0a7cff", headline: "Welcome" };
    const saved = await put({ ...all, accentColor: "#0A7CFF", headline: " Welcome " });
    expect([saved.status, saved.body]).toEqual([200, all]);
    expect(await read()).toEqual(all);
    const cleared = await put({ headline: "Only this" });
    expect(cleared.body).toEqual({ ...nothing, headline: "Only this" });
    expect((await put({})).body).toEqual(nothing);
    const foreign = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect(await read(foreign.token)).toEqual(nothing);
    const entries = await auditEntries(server, "partner.login_branding.update");
    expect(entries.map(({ details, partnerId }) => [{ changedFields: details["changedFields"] }, partnerId])).toEqual([
      [{ changedFields: ["logoUrl", "accentColor", "headline"] }, acme.partnerId],
      [{ changedFields: ["logoUrl", "accentColor", "headline"] }, acme.partnerId],
      [{ changedFields: ["headline"] }, acme.partnerId],
    ]);
  });

  it.each([
    { logoUrl: "http://cdn.example/logo.png" },
    { logoUrl: "https://user:pw@cdn.example/logo.png" },
    { logoUrl: "javascript:alert(1)" },
    { logoUrl: "data:image/svg+xml;base64,PHN2Zz4=" },
    { logoUrl: "data:image/gif;base64,R0lGODlh" },
    { logoUrl: "data:text/html;base64,PGI+" },
    { logoUrl: "data:image/png,raw" },
    { logoUrl: "data:image/png;base64," },
    { logoUrl: "data:image/png;base64,not base64" },
    { logoUrl: `data:image/png;base64,${"A".repeat(400 * 1024)}` },
    { accentColor: "blue" },
    { accentColor: "#12345" },
    { accentColor: "#12345g" },
    { accentColor: "#1234567" },
    { headline: "x".repeat(121) },
    { colour: "#123456" },
  ])("refuses what is malformed %#", async (body) => {
    const { status, body: told } = await put(body);
    expect([status, told.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("takes an address, and pixels of each kind", async () => {
    for (const logoUrl of [
      "https://cdn.example/logo.svg",
      PNG,
      "data:image/jpeg;base64,/9j/4AAQ",
      "data:image/webp;base64,UklGRg==",
    ])
      expect((await put({ logoUrl })).body.logoUrl).toBe(logoUrl);
    expect((await put({ headline: "🦊".repeat(120) })).body.headline).toBe("🦊".repeat(120));
  });

  it("is held to its form by the database too", async () => {
    const set = (change: object) =>
      server.db.updateTable("partnerLoginBranding").set(change).where("partnerId", "=", acme.partnerId).execute();
    await put({});
    for (const accentColor of ["blue", "#12345", "#12345g", "#1234567", "1234567", ""])
      await expect(set({ accentColor })).rejects.toThrow(/check/i);
    await expect(set({ headline: "x".repeat(121) })).rejects.toThrow(/check/i);
    await set({ accentColor: "#aBcDeF" });
  });

  it("belongs to the whole partner: it takes full access to change, and no other caller reaches it", async () => {
    const partial = await server.signIn({
      role: "Partner Admin",
      partnerId: acme.partnerId,
      orgAccess: "selected",
      orgIds: [acme.orgId],
    });
    expect((await put({ headline: "x" }, partial.token)).body.code).toBe("FULL_PARTNER_ACCESS_REQUIRED");
    expect((await server.request("GET", path, { token: partial.token })).status).toBe(200);
    const plain = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId, mfa: false });
    expect((await put({ headline: "x" }, plain.token)).body.code).toBe("MFA_REQUIRED");
    const member = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    const attempts = [put({ headline: "x" }, member.token), server.request("GET", path, { token: member.token })];
    for (const attempt of await Promise.all(attempts)) expect(attempt.status).toBe(403);
  });

  it("is read by every role of the partner, and changed by those alone that may write organizations", async () => {
    await put({ headline: "As it was" });
    for (const role of ["Partner Viewer", "Partner Technician", "Partner Billing"]) {
      const { token } = await server.signIn({ role, partnerId: acme.partnerId });
      expect((await put({ headline: "Changed" }, token)).body.code, role).toBe("PERMISSION_DENIED");
      expect((await read(token)).headline, role).toBe("As it was");
    }
    const writer = await server.signIn({
      role: "Brand keeper",
      permissions: ["organizations:write"],
      partnerId: acme.partnerId,
    });
    expect((await put({ headline: "Changed" }, writer.token)).body.headline).toBe("Changed");
  });
});
