import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { auditHandle } from "#server/audit/handle";
import { anchorGrowth } from "#server/audit/keeper";
import { listStatements } from "#server/audit/statements";
import { DAY, HOUR } from "#server/platform/clock";
import { rmmHere } from "../../../test/e2e/rmm-process.ts";
import { tamper } from "../../../test/e2e/tamper.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { verifyEveryChain } from "./schedules.ts";

describe.each(databases)("what is proven on %s", (database) => {
  let server: TestServer;
  let admin: SignedInUser;
  let system: SignedInUser;
  let partnerId: string;
  let stranger: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    ({ partnerId } = await seedPartner(server, "acme", []));
    const other = await seedPartner(server, "other", []);
    stranger = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    await signIn();
  });
  afterAll(() => server?.stop());

  /** Again after a day: tokens do not last. */
  const signIn = async () => {
    await server.db.updateTable("users").set({ isPlatformAdmin: false }).execute();
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    system = await server.signIn({ role: "System Admin", email: `root-${server.clock.nowMs()}@msp.example` });
  };
  const post = (path: string, body: object, { token } = admin) => server.request("POST", path, { token, body });
  const verify = async (orgId: string, who = admin) => {
    const answer = await post("/audit-logs/verify", { orgId }, who);
    await server.settled();
    return answer;
  };
  const chainsOf = async (who: SignedInUser) => {
    const path = "/audit-logs/anchors?each=true&limit=100";
    const { body } = await server.request("GET", path, { token: who.token });
    return body.data.map(({ chainKind, chainId }: { chainKind: string; chainId: string }) => `${chainKind} ${chainId}`);
  };
  /** An organization with so many entries. */
  const makeOrg = async (slug: string, entries = 4): Promise<string> => {
    const made = await post("/orgs/organizations", { name: slug, slug });
    for (let count = 1; count < entries; count += 1)
      await post("/orgs/sites", { orgId: made.body.id, name: `Site ${count}` });
    await server.settled();
    return made.body.id;
  };
  const removeOrg = (id: string) =>
    server.request("DELETE", `/orgs/organizations/${id}`, { token: admin.token }).then(() => server.settled());
  const vanish = (id: string) =>
    tamper(
      server,
      `delete from audit_logs where org_id = '${id}'`,
      `delete from audit_chain where chain_id = '${id}'`,
      `delete from audit_anchors where chain_id = '${id}'`,
    );
  const incidents = async () => {
    const rows = await server.db.selectFrom("auditIncidents").selectAll().execute();
    return rows.map(({ chainId }) => chainId);
  };
  const gauge = async () =>
    /^audit_chain_broken_orgs (\d+)$/m.exec((await server.request("GET", "/metrics")).body)?.[1];
  /** What `rmm audit verify --all` says of each chain, in system scope. */
  const everyVerdict = async (): Promise<Record<string, boolean>> => {
    const rmm = rmmHere({ RMM_SERVER: server.url });
    const ran = await rmm.run(["audit", "verify", "--all", "--json"], { env: { RMM_TOKEN: system.token } });
    rmm.close();
    await server.settled();
    const rows = JSON.parse(ran.stdout) as { chain: { id: string }; verdict: string }[];
    return Object.fromEntries(rows.map(({ chain, verdict }) => [chain.id, verdict === "ok"]));
  };
  const file = () => server.services.config.anchorFile;
  const kept = () => readFileSync(file(), "utf8").trim().split("\n");

  it("a deleted organization's chain is verified by id, listed and read by its partner, and by nobody else", async () => {
    const orgId = await makeOrg("gone");
    await removeOrg(orgId);
    expect((await verify(orgId)).body).toMatchObject({ ok: true, orgId, entriesChecked: 5 });
    expect((await verify(orgId, stranger)).body.code).toBe("ORG_ACCESS_DENIED");
    expect(await chainsOf(admin)).toContain(`organization ${orgId}`);
    expect(await chainsOf(system)).toContain(`organization ${orgId}`);
    expect(await chainsOf(stranger)).not.toContain(`organization ${orgId}`);
    const granted = await server.signIn({
      ...{ role: "Partner Admin", partnerId, orgAccess: "selected", orgIds: [orgId] },
    });
    expect(await chainsOf(granted)).toEqual([`organization ${orgId}`]);
    const none = await server.signIn({ role: "Partner Admin", partnerId, orgAccess: "none" });
    expect(await chainsOf(none)).toEqual([]);
    const read = (who: SignedInUser) =>
      server.request("GET", `/audit-logs/logs?orgId=${orgId}&action=site.create`, { token: who.token });
    expect((await read(admin)).body.pagination.total).toBe(3);
    expect((await read(stranger)).body.code).toBe("ORG_ACCESS_DENIED");
  });

  it("a deleted partner's chain, and those of its organizations, are verified by id, listed, and missed when they vanish", async () => {
    const asSystem = (path: string, body: object) => post(path, body, system);
    const made = await asSystem("/orgs/partners", { name: "Gone MSP", slug: "gone-msp" });
    const partner: string = made.body.id;
    const org = (await asSystem("/orgs/organizations", { partnerId: partner, name: "Its", slug: "its" })).body.id;
    await server.settled();
    await anchorGrowth(server.services);
    const removed = await server.request("DELETE", `/orgs/partners/${partner}`, { token: system.token });
    await server.settled();
    expect([made.status, removed.status, typeof org]).toEqual([201, 200, "string"]);
    for (const [chain, body] of [
      [`partner ${partner}`, { partnerId: partner }],
      [`organization ${org}`, { orgId: org }],
    ] as const) {
      expect(await chainsOf(system)).toContain(chain);
      expect(await chainsOf(admin)).not.toContain(chain);
      const verdict = await asSystem("/audit-logs/verify", body);
      expect([verdict.status, verdict.body.ok, verdict.body.entriesChecked > 0]).toEqual([200, true, true]);
      expect((await post("/audit-logs/verify", body, stranger)).status).toBe(403);
    }
    await server.settled();
    expect(await everyVerdict()).toMatchObject({ [partner]: true, [org]: true });
    // Entries, seals and anchors of the partner's chain are taken away: the anchor file still names it.
    await tamper(
      server,
      `delete from audit_logs where partner_id = '${partner}'`,
      `delete from audit_chain where chain_id = '${partner}'`,
      `delete from audit_anchors where chain_id = '${partner}'`,
    );
    expect(await chainsOf(system)).toContain(`partner ${partner}`);
    expect(await everyVerdict()).toMatchObject({ [partner]: false, [org]: true });
    await server.db.deleteFrom("auditIncidents").execute();
    await verifyEveryChain(server.services);
    expect(await incidents()).toEqual([partner]);
    await server.db.deleteFrom("auditIncidents").execute();
    await server.settled();
    writeFileSync(
      file(),
      `${kept()
        .filter((line) => !line.includes(partner))
        .join("\n")}\n`,
    );
  });

  it("a chain that vanished whole, with anchors and organization, is found through the anchor file (C33)", async () => {
    const orgId = await makeOrg("vanished");
    await anchorGrowth(server.services);
    await removeOrg(orgId);
    await vanish(orgId);
    await tamper(server, `update organizations set deleted_at = '2026-03-02T09:00:00.000Z' where id = '${orgId}'`);
    expect(await chainsOf(admin)).toContain(`organization ${orgId}`);
    const { body } = await verify(orgId);
    expect([body.ok, body.entriesChecked]).toEqual([false, 0]);
    expect(body.anchors.problems).toMatchObject([{ reason: "seq_regressed", anchoredHeadSeq: 4, liveHeadSeq: null }]);
    await server.db.deleteFrom("auditIncidents").execute();
    await verifyEveryChain(server.services);
    expect(await incidents()).toEqual([orgId]);
    // The row of the organization too: system scope still learns of it.
    await server.db.deleteFrom("sites").where("orgId", "=", orgId).execute();
    await server.db.deleteFrom("auditRetention").where("orgId", "=", orgId).execute();
    await server.db.deleteFrom("organizations").where("id", "=", orgId).execute();
    expect(await chainsOf(system)).toContain(`organization ${orgId}`);
    expect((await verify(orgId, system)).body).toMatchObject({ ok: false, orgId });
    await server.db.deleteFrom("auditIncidents").execute();
    writeFileSync(
      file(),
      `${kept()
        .filter((line) => !line.includes(orgId))
        .join("\n")}\n`,
    );
  });

  it("a broken chain is told once: entry in the system chain, mail to administrators, gauge, until it holds again", async () => {
    const orgId = await makeOrg("broken");
    await anchorGrowth(server.services);
    // A mail about another chain may still be on its way.
    const mails = () => server.mails.filter(({ text }) => text.includes(orgId));
    const mailed = (count: number) => vi.waitFor(() => expect(mails()).toHaveLength(count), { timeout: 20_000 });
    const entries = async () => {
      await server.settled();
      const { body } = await server.request("GET", "/audit-logs/logs?action=audit_logs.verify", {
        token: system.token,
      });
      return body.data.filter(({ user }: { user: { role: string } }) => user.role === "system");
    };
    const before = (await entries()).length;
    const id = `(select audit_id from audit_chain where chain_id = '${orgId}' and chain_seq = 2)`;
    const [{ action }] = (await server.db
      .selectFrom("auditLogs")
      .select("action")
      .where("orgId", "=", orgId)
      .orderBy("id")
      .offset(1)
      .limit(1)
      .execute()) as [{ action: string }];
    await tamper(server, `update audit_logs set action = 'nothing.happened' where id = ${id}`);
    expect((await verify(orgId)).body).toMatchObject({ ok: false, breakCount: 1 });
    await mailed(1);
    expect(mails()[0]?.to).toBe(system.email);
    expect(mails()[0]?.text).toContain("content_mismatch at position 2");
    expect(mails()[0]?.text).toContain(`rmm audit verify --org ${orgId}`);
    const told = await entries();
    expect(told).toHaveLength(before + 1);
    expect(told[0]).toMatchObject({
      ...{ action: "audit_logs.verify", result: "failure", resource: { type: "audit_chain", id: orgId } },
      details: {
        ok: false,
        chainKind: "organization",
        breakCount: 1,
        breaks: [{ kind: "content_mismatch", chainSeq: 2 }],
      },
    });
    expect([await gauge(), await incidents()]).toEqual(["1", [orgId]]);
    const notified = async (who: SignedInUser) => {
      const { body } = await server.request("GET", "/notifications?type=security", { token: who.token });
      return body.data.filter(({ metadata }: { metadata: { chainId: string } }) => metadata.chainId === orgId);
    };
    expect(await notified(admin)).toMatchObject([{ orgId, priority: "urgent" }]);
    expect(await notified(system)).toMatchObject([{ orgId: null, partnerId: null, priority: "urgent" }]);
    expect(await notified(stranger)).toEqual([]);

    await verify(orgId);
    await verifyEveryChain(server.services);
    expect(await notified(admin)).toHaveLength(1);
    server.clock.advance(DAY + HOUR);
    await verifyEveryChain(server.services);
    await mailed(2);
    await signIn();
    expect(await entries()).toHaveLength(before + 1);

    await tamper(server, `update audit_logs set action = '${action}' where id = ${id}`);
    expect((await verify(orgId)).body).toMatchObject({ ok: true });
    expect([await gauge(), await incidents()]).toEqual(["0", []]);
    await tamper(server, `update audit_logs set action = 'again' where id = ${id}`);
    await verify(orgId);
    await mailed(3);
    expect(await entries()).toHaveLength(before + 2);
    await server.db.deleteFrom("auditIncidents").execute();
  });

  it("an anchor is refused over a chain that contradicts the last one, and that is an incident of its own", async () => {
    const orgId = await makeOrg("cut");
    const whole = await makeOrg("whole");
    await anchorGrowth(server.services);
    await tamper(
      server,
      `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${orgId}' and chain_seq > 2)`,
      `delete from audit_chain where chain_id = '${orgId}' and chain_seq > 2`,
    );
    await post("/orgs/sites", { orgId: whole, name: "Another" });
    await server.settled();
    await anchorGrowth(server.services);
    expect(await incidents()).toContain(orgId);
    const db = auditHandle(server.db);
    const count = async (id: string) =>
      (await listStatements(db, { kind: "organization", id }, { limit: 10, offset: 0 })).length;
    expect([await count(orgId), await count(whole)]).toEqual([1, 2]);
    await server.db.deleteFrom("auditIncidents").execute();
  });

  it("an anchor file that is away costs no verdict and no anchor, and is completed when it is back", async () => {
    const orgId = await makeOrg("filed");
    await anchorGrowth(server.services);
    const away = join(dirname(file()), "away.ndjson");
    renameSync(file(), away);
    // Neither readable nor writable, whoever the test runs as.
    mkdirSync(file());
    const during = await verify(orgId);
    expect([during.status, during.body.ok]).toEqual([200, true]);
    expect(during.body.anchors.latest).toMatchObject({ anchorSeq: 1, headChainSeq: 4 });
    await post("/orgs/sites", { orgId, name: "While away" });
    await server.settled();
    const grown = await verify(orgId);
    expect(grown.body.anchors.latest.anchorSeq).toBe(2);
    await anchorGrowth(server.services);
    rmSync(file(), { recursive: true });
    renameSync(away, file());
    const before = kept().length;
    expect((await verify(orgId)).body).toMatchObject({ ok: true, anchors: { problems: [] } });
    const lines = kept().map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(before);
    const seqs = lines.filter(({ chainId }) => chainId === orgId).map(({ anchorSeq }) => anchorSeq);
    const db = auditHandle(server.db);
    const stored = await listStatements(db, { kind: "organization", id: orgId }, { limit: 10, offset: 0 });
    expect(seqs).toEqual(stored.map(({ anchorSeq }) => anchorSeq).reverse());
  });

  it("a file that lost lines is completed at its end only: what is missing inside stays missing", async () => {
    const orgId = await makeOrg("torn");
    for (let count = 0; count < 3; count += 1) {
      await post("/orgs/sites", { orgId, name: `More ${count}` });
      await server.settled();
      await anchorGrowth(server.services);
    }
    const lines = kept();
    const own = lines.filter((line) => line.includes(orgId));
    const seqs = () =>
      kept()
        .filter((line) => line.includes(orgId))
        .map((line) => JSON.parse(line).anchorSeq);
    // The second one is gone; the third is torn in the middle by a crash.
    const torn = own[2]!.slice(0, 50);
    writeFileSync(file(), `${[...lines.filter((line) => !own.includes(line)), own[0]].join("\n")}\n${torn}`);
    await verify(orgId);
    expect(seqs().slice(0, 3)).toEqual([1, 2, 3]);
    writeFileSync(
      file(),
      `${kept()
        .filter((line) => line !== own[1])
        .join("\n")}\n`,
    );
    await verify(orgId);
    expect(seqs()).not.toContain(2);
  });

  it("nobody who can write to the database writes to the anchor file: unsigned and forged anchors are not copied", async () => {
    const orgId = await makeOrg("forged");
    await anchorGrowth(server.services);
    await tamper(
      server,
      `insert into audit_anchors (chain_kind, chain_id, anchor_seq, head_chain_seq, entry_count, anchored_at)
        values ('organization', '${orgId}', 2, 0, 0, '2026-03-02T09:00:00.000Z')`,
      `insert into audit_anchors (chain_kind, chain_id, anchor_seq, head_chain_seq, entry_count, anchored_at, signature, signing_key_id)
        values ('organization', '${orgId}', 3, 0, 0, '2026-03-02T09:00:00.000Z', 'AAAA', 'anchor-0000000000000000')`,
    );
    const { body } = await verify(orgId);
    expect(body.ok).toBe(false);
    const own = kept().filter((line) => line.includes(orgId));
    expect(own.map((line) => JSON.parse(line).anchorSeq)).toEqual([1]);
    await server.db.deleteFrom("auditIncidents").execute();
  });
});
