import { request } from "node:http";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { auditEntries } from "../../../test/audit-entries.ts";
import { addEntries } from "../../../test/evidence/many-entries.ts";
import { type Answer, databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { restVerifications } from "../../../test/resting.ts";
import { holdsSnapshot } from "../../../test/snapshots.ts";

const ENTRIES = 3_000;

describe.each(databases)("a verification that nobody waits for any more on %s", (database) => {
  let server: TestServer;
  let token: string;
  let orgIds: string[];
  let goOn: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    server = await startTestServer(database);
    const seeded = await seedPartner(server, "acme", ["one", "two", "three"]);
    orgIds = seeded.orgIds;
    token = (await server.signIn({ role: "Partner Admin", partnerId: seeded.partnerId })).token;
    for (const orgId of orgIds)
      await addEntries(server, { orgId, partnerId: seeded.partnerId, count: ENTRIES }, server.clock.now());
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    goOn = await restVerifications();
  });
  afterEach(() => goOn?.());

  const release = async () => {
    await goOn?.();
    goOn = undefined;
  };
  const verify = (orgId: string | undefined): Promise<Answer> =>
    server.request("POST", "/audit-logs/verify", { token, body: { orgId } });

  /** Asks as `verify` does; returns what ends the connection. */
  function asking(orgId: string | undefined): () => void {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const call = request(`${server.url}/api/v1/audit-logs/verify`, { method: "POST", headers });
    call.on("error", () => undefined);
    call.end(JSON.stringify({ orgId }));
    return () => void call.destroy();
  }

  const recorded = async () => (await auditEntries(server, "audit_logs.verify")).map(({ result }) => result);
  const expectWhole = (answer: Answer) =>
    expect(answer).toMatchObject({ status: 200, body: { ok: true, breakCount: 0, head: { chainSeq: expect.any(Number) } } });
  const entriesOf = async (orgId: string | undefined) =>
    (await server.db.selectFrom("auditChain").select("chainSeq").where("chainId", "=", orgId as string).execute()).length;

  it("ends with its snapshot and frees its place, and is no success; the next ones answer in full", async () => {
    const leave = [asking(orgIds[0]), asking(orgIds[1])];
    await expect.poll(async () => (await verify(orgIds[2])).status).toBe(429);
    await expect.poll(() => holdsSnapshot(server.services.store)).toBe(true);
    for (const go of leave) go();
    await expect.poll(() => holdsSnapshot(server.services.store)).toBe(false);
    await expect.poll(recorded).toEqual(["failure", "failure"]);
    for (const { details } of await auditEntries(server, "audit_logs.verify")) {
      expect(details).toMatchObject({ errorCode: "SERVICE_UNAVAILABLE" });
      expect(details).not.toHaveProperty("ok");
    }
    await release();
    await server.settled();
    const counts = await Promise.all(orgIds.map(entriesOf));
    const [one, two] = await Promise.all([verify(orgIds[0]), verify(orgIds[1])]);
    for (const [index, answer] of [one, two].entries()) {
      expectWhole(answer as Answer);
      expect(answer?.body.entriesChecked).toBe(counts[index]);
    }
    expect(await server.db.selectFrom("auditIncidents").selectAll().execute()).toEqual([]);
  });

  it("goes on for whoever else waits for the same chain", async () => {
    const before = (await recorded()).length;
    const leave = asking(orgIds[2]);
    await expect.poll(() => holdsSnapshot(server.services.store)).toBe(true);
    const other = verify(orgIds[2]);
    // The limit of the partner is two: a third chain is refused only where the others take one place each.
    const leaveToo = asking(orgIds[2]);
    await server.request("GET", "/health");
    leave();
    leaveToo();
    await expect.poll(async () => (await recorded()).length).toBe(before + 2);
    await release();
    expectWhole(await other);
  });

  it.runIf(database === "postgres")("ends while the database makes it wait", async () => {
    const owner = new pg.Client({ connectionString: server.services.store.url as string });
    await owner.connect();
    try {
      await owner.query("begin; lock table public.audit_logs in access exclusive mode");
      const leave = asking(orgIds[0]);
      const waiting = async () => {
        const { rowCount } = await owner.query(
          "select 1 from pg_stat_activity where application_name = 'rmm-audit-verify' and wait_event_type = 'Lock'",
        );
        return rowCount;
      };
      await expect.poll(waiting).toBe(1);
      leave();
      await expect.poll(() => holdsSnapshot(server.services.store)).toBe(false);
    } finally {
      await owner.end();
    }
    await release();
    expectWhole(await verify(orgIds[0]));
  });
});
