import { request } from "node:http";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { auditEntries } from "../../../test/audit-entries.ts";
import { addEntries } from "../../../test/evidence/many-entries.ts";
import { type Answer, databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { type Rest, restVerifications } from "../../../test/resting.ts";
import { holdsSnapshot, waitsForLock } from "../../../test/snapshots.ts";

const ENTRIES = 3_000;

/** A thread that starts, or ends, takes long on a busy machine. */
const LONGEST_MS = 60_000;
const eventually = <T>(look: () => T | Promise<T>) => expect.poll(look, { timeout: LONGEST_MS });

describe.each(databases)(
  "a verification that nobody waits for any more on %s",
  { timeout: 4 * LONGEST_MS },
  (database) => {
    let server: TestServer;
    let token: string;
    let orgIds: string[];
    let rest: Rest;

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
      rest = await restVerifications();
    });
    afterEach(() => rest.goOn());

    const held = () => holdsSnapshot(server.services.store);
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
      expect(answer).toMatchObject({
        status: 200,
        body: { ok: true, breakCount: 0, head: { chainSeq: expect.any(Number) } },
      });
    const entriesOf = async (orgId: string | undefined) =>
      (
        await server.db
          .selectFrom("auditChain")
          .select("chainSeq")
          .where("chainId", "=", orgId as string)
          .execute()
      ).length;

    it("ends with its snapshot and frees its place, and is no success; the next ones answer in full", async () => {
      const leave = [asking(orgIds[0]), asking(orgIds[1])];
      await eventually(rest.verifying).toBe(2);
      await eventually(held).toBe(true);
      expect((await verify(orgIds[2])).status).toBe(429);
      for (const go of leave) go();
      await eventually(held).toBe(false);
      await eventually(rest.verifying).toBe(0);
      await eventually(recorded).toEqual(["failure", "failure"]);
      for (const { details } of await auditEntries(server, "audit_logs.verify")) {
        expect(details).toMatchObject({ errorCode: "SERVICE_UNAVAILABLE" });
        expect(details).not.toHaveProperty("ok");
      }
      await rest.goOn();
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
      await eventually(held).toBe(true);
      const other = verify(orgIds[2]);
      await server.request("GET", "/health");
      leave();
      await eventually(async () => (await recorded()).length).toBe(before + 1);
      await rest.goOn();
      expectWhole(await other);
    });

    it.runIf(database === "postgres")("ends while the database makes it wait", async () => {
      const owner = new pg.Client({ connectionString: server.services.store.url as string });
      await owner.connect();
      try {
        await owner.query("begin; lock table public.audit_logs in access exclusive mode");
        const leave = asking(orgIds[0]);
        await eventually(() => waitsForLock(server.services.store.url as string)).toBe(true);
        leave();
        await eventually(held).toBe(false);
      } finally {
        await owner.end();
      }
      await rest.goOn();
      expectWhole(await verify(orgIds[0]));
    });
  },
);
