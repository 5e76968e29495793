import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { auditEntries } from "../test/audit-entries.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import { auditEntry } from "./entry.ts";
import { closeRefusalWindows, recordRefusal } from "./fold-refusals.ts";
import { auditHandle } from "./handle.ts";

const MINUTE = 60_000;

describe.each(databases)("refused requests on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    made += 1;
    orgId = (await seedPartner(server, `p${made}`, [`p${made}-org`])).orgIds[0] as string;
  });

  const refuse = (change: object = {}, code = "PERMISSION_DENIED") => {
    const event = {
      ...{ orgId, action: "site.update", actorType: "user", actorId: server.services.random.uuid() },
      ...{ ipAddress: "192.0.2.1", result: "denied", details: { errorCode: code, requestId: "r" } },
      ...change,
    };
    const now = new Date(server.clock.nowMs());
    const entry = auditEntry(event, { now });
    return server.db.transaction().execute((tx) => recordRefusal(auditHandle(tx), { entry, code }, now));
  };
  const recorded = async () => (await auditEntries(server)).filter((entry) => entry.orgId === orgId);
  const close = () => closeRefusalWindows(auditHandle(server.db), new Date(server.clock.nowMs()));
  const actorId = "01900000-0000-7000-8000-000000000001";

  it("are recorded one by one up to the tenth of a kind in five minutes, the others as one entry with their number", async () => {
    for (let at = 0; at < 25; at += 1) {
      server.clock.advance(1_000);
      await refuse({ actorId });
    }
    expect(await recorded()).toHaveLength(10);
    await close();
    expect(await recorded()).toHaveLength(10);
    server.clock.advance(5 * MINUTE);
    await close();
    const entries = await recorded();
    expect(entries).toHaveLength(11);
    expect(entries.at(-1)).toMatchObject({ actorId, action: "site.update", result: "denied", ipAddress: "192.0.2.1" });
    expect(entries.at(-1)?.details).toEqual({ errorCode: "PERMISSION_DENIED", repeated: 15 });
    await close();
    expect(await recorded()).toHaveLength(11);
  });

  it("begin a new window when the last has ended, which then is recorded first", async () => {
    for (let at = 0; at < 12; at += 1) await refuse({ actorId });
    server.clock.advance(5 * MINUTE);
    await refuse({ actorId });
    const entries = (await recorded()).toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
    expect(entries.map(({ details }) => details["repeated"])).toEqual([...Array(10).fill(undefined), 2, undefined]);
  });

  it("are like one another in chain, actor, action, code and address only; failed sign-ins never are", async () => {
    const kinds: [object, string?][] = [
      [{ actorId }],
      [{ actorId }, "NOT_FOUND"],
      [{ actorId, action: "site.delete" }],
      [{ actorId, ipAddress: "192.0.2.2" }],
      [{ actorId: server.services.random.uuid() }],
    ];
    for (const [change, code] of kinds) for (let at = 0; at < 12; at += 1) await refuse(change, code);
    expect(await recorded()).toHaveLength(50);
    const before = (await recorded()).length;
    for (let at = 0; at < 30; at += 1) await refuse({ actorId, action: "user.login.failed" }, "INVALID_CREDENTIALS");
    expect(await recorded()).toHaveLength(before + 30);
  });

  it("of one chain beyond 600 in an hour leave their number alone, and other chains all of theirs", async () => {
    for (let at = 0; at < 630; at += 1) await refuse();
    expect(await recorded()).toHaveLength(600);
    const mine = orgId;
    orgId = (await seedPartner(server, `other${made}`, [`other${made}-org`])).orgIds[0] as string;
    await refuse();
    expect(await recorded()).toHaveLength(1);
    orgId = mine;
    server.clock.advance(60 * MINUTE);
    await close();
    const [last] = (await recorded()).slice(-1);
    expect(await recorded()).toHaveLength(601);
    expect(last).toMatchObject({ actorType: "system", result: "denied", resourceId: null, details: { repeated: 30 } });
    await refuse();
    expect(await recorded()).toHaveLength(602);
  });

  it("are counted exactly when they come at once", async () => {
    await Promise.all(Array.from({ length: 40 }, () => refuse({ actorId })));
    expect(await recorded()).toHaveLength(10);
    server.clock.advance(5 * MINUTE);
    await Promise.all([close(), close(), refuse({ actorId })]);
    const repeated = (await recorded())
      .map(({ details }) => details["repeated"])
      .filter((count) => count !== undefined);
    expect(repeated).toEqual([30]);
    expect(await recorded()).toHaveLength(12);
  });
});
