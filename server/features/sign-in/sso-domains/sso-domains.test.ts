import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DnsSimulator, startDns } from "#fixtures/simulators/dns";
import { seedTenant, type Tenant } from "#fixtures/world";
import { domainOf } from "#server/features/sign-in/sso-logins/domain-of";
import { MINUTE } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";
import { orgsWithVerifiedDomain } from "./orgs-with-verified-domain.ts";
import { recheckDomains } from "./recheck.ts";

describe.each(databases)("email domains on %s", (database) => {
  let dns: DnsSimulator;
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    dns = await startDns();
    server = await startTestServer(database, { DNS_RESOLVER: dns.server });
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(async () => {
    await server?.stop();
    await dns?.stop();
  });

  const send = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, `/sso/domains${path}`, { token, ...(body ? { body } : {}) });
  const create = (domain: string, orgId = acme.orgId, token?: string) => send("POST", "", { domain, orgId }, token);
  const codeOf = async (answer: ReturnType<typeof send>) => {
    const { status, body } = await answer;
    return [status, body.code];
  };

  it("are named with the record that proves them, once per organization", async () => {
    const { status, body } = await create(" Mail.Corp.Example. ");
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      orgId: acme.orgId,
      domain: "mail.corp.example",
      verified: false,
      verifiedAt: null,
      lastCheckedAt: null,
      recordName: "_svc-verify.mail.corp.example",
      recordValue: expect.stringMatching(/^svc-domain-verify=[0-9a-f]{48}$/),
      createdAt: server.clock.now(),
    });
    const again = await create("mail.corp.EXAMPLE");
    expect([again.status, again.body]).toEqual([201, body]);
    const elsewhere = (await create("mail.corp.example", acme.secondOrgId)).body;
    expect(elsewhere.recordValue).not.toBe(body.recordValue);
    const race = await Promise.all(Array.from({ length: 6 }, () => create("race.example")));
    expect(new Set(race.map((answer) => answer.body.id)).size).toBe(1);
  });

  it.each([
    "https://corp.example",
    "corp.example:443",
    "corp.example/path",
    "*.corp.example",
    "user@corp.example",
    "corp",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "-corp.example",
    "corp..example",
    "corp.example.1",
    "_dmarc.corp.example",
    `${"a".repeat(64)}.example`,
    "",
  ])("%j is none", async (domain) => {
    expect(await codeOf(create(domain))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("meet the address of a person, however either is written", async () => {
    expect((await create("Bücher.example")).body.domain).toBe("xn--bcher-kva.example");
    expect(domainOf('"odd@name"@BÜCHER.example')).toBe("xn--bcher-kva.example");
  });

  it("are verified by exactly their own record, and stay so when it goes", async () => {
    const { id, recordName, recordValue } = (await create("proven.example")).body;
    const verify = async () => (await send("POST", `/${id}/verify`)).body;
    const missing = { verified: false, reason: "txt_not_found" };
    expect(await verify()).toEqual(missing);
    const foreign = (await create("proven.example", acme.secondOrgId)).body;
    for (const text of [foreign.recordValue, `${recordValue}0`, recordValue.slice(0, -1), "v=spf1 -all"]) {
      dns.setTexts(recordName, [text]);
      expect(await verify()).toEqual(missing);
    }
    dns.setTexts("proven.example", [recordValue]);
    expect(await verify()).toEqual(missing);
    expect(await orgsWithVerifiedDomain(server.db, "proven.example")).toEqual([]);
    dns.setTexts(recordName, ["v=spf1 -all", recordValue]);
    const at = server.clock.now();
    expect(await verify()).toEqual({ verified: true });
    expect(await orgsWithVerifiedDomain(server.db, "proven.example")).toEqual([acme.orgId]);
    server.clock.advance(MINUTE);
    dns.setTexts(recordName, []);
    expect(await verify()).toEqual({ verified: true });
    const [listed] = (await send("GET", `?orgId=${acme.orgId}`)).body.data.filter(
      (one: { id: string }) => one.id === id,
    );
    expect(listed).toMatchObject({ verified: true, verifiedAt: at, lastCheckedAt: server.clock.now() });
    const tried = (await auditEntries(server, "sso.domain.verify")).filter((entry) => entry.resourceId === id);
    expect(tried.map((entry) => (entry.details as { verified: boolean }).verified)).toEqual([
      ...Array(6).fill(false),
      true,
      true,
    ]);
  });

  it("are not verified by a name system that does not answer", async () => {
    const silent = await startTestServer(database);
    const tenant = await seedTenant(silent.db, silent.services, "silent");
    const { token } = await silent.signIn({ role: "Org Admin", orgId: tenant.orgId });
    const answer = await silent.request("POST", `/sso/domains/${tenant.ssoDomainId}/verify`, { token });
    expect([answer.status, answer.body]).toEqual([200, { verified: false, reason: "txt_not_found" }]);
    await silent.stop();
  });

  it("are looked at again each day, which takes nothing away and proves nothing new", async () => {
    const { id, recordName, recordValue } = (await create("daily.example")).body;
    dns.setTexts(recordName, [recordValue]);
    await send("POST", `/${id}/verify`);
    const { id: open, ...pending } = (await create("pending.example")).body;
    dns.setTexts(pending.recordName, [pending.recordValue]);
    dns.setTexts(recordName, []);
    server.clock.advance(MINUTE);
    dns.asked.length = 0;
    await recheckDomains(server.services);
    const rows = await server.db.selectFrom("ssoDomains").selectAll().where("id", "in", [id, open]).execute();
    const [proven, still] = [rows.find((row) => row.id === id), rows.find((row) => row.id === open)];
    expect(proven).toMatchObject({ lastCheckedAt: server.clock.now(), verifiedAt: expect.any(String) });
    expect(still).toMatchObject({ lastCheckedAt: null, verifiedAt: null });
    expect(dns.asked).toContain(`TXT ${recordName}`);
    expect(dns.asked).not.toContain(`TXT ${pending.recordName}`);
  });

  it("can be forgotten, and need a new record when they are named again", async () => {
    const first = (await create("gone.example")).body;
    dns.setTexts(first.recordName, [first.recordValue]);
    await send("POST", `/${first.id}/verify`);
    expect((await send("DELETE", `/${first.id}`)).body).toEqual({ success: true });
    expect(await codeOf(send("DELETE", `/${first.id}`))).toEqual([404, "NOT_FOUND"]);
    const second = (await create("gone.example")).body;
    expect(second).toMatchObject({ verified: false });
    expect(second.recordValue).not.toBe(first.recordValue);
  });

  it("are one organization's own affair, not for callers confined to sites nor while it is being closed", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.siteId] });
    const attempts = (id: string, orgId: string, token?: string) => [
      create("confined.example", orgId, token),
      send("POST", `/${id}/verify`, undefined, token),
      send("DELETE", `/${id}`, undefined, token),
    ];
    for (const attempt of attempts(acme.ssoDomainId, acme.orgId, confined.token))
      expect(await codeOf(attempt)).toEqual([403, "SITE_ACCESS_DENIED"]);
    const { id } = (await create("closing.example", acme.secondOrgId)).body;
    const close = (status: "archived" | "active") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", acme.secondOrgId).execute();
    await close("archived");
    for (const attempt of attempts(id, acme.secondOrgId)) expect(await codeOf(attempt)).toEqual([409, "ORG_READ_ONLY"]);
    await close("active");
    expect(await codeOf(send("POST", `/${other.ssoDomainId}/verify`))).toEqual([404, "NOT_FOUND"]);
    expect(await codeOf(create("x.example", other.orgId))).toEqual([403, "ORG_ACCESS_DENIED"]);
    expect(await codeOf(send("POST", "", { domain: "x.example" }))).toEqual([400, "ORG_ID_REQUIRED"]);
    const member = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    expect((await send("POST", "", { domain: "own.example" }, member.token)).body.orgId).toBe(acme.orgId);
    const orgs = (await send("GET", "", undefined, member.token)).body.data.map((one: { orgId: string }) => one.orgId);
    expect(new Set(orgs)).toEqual(new Set([acme.orgId]));
  });
});
