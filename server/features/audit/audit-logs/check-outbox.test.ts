import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditHandle } from "#server/audit/handle";
import { enqueueAudit } from "#server/audit/outbox";
import { jsonLog } from "#server/platform/log";
import { entriesOf } from "../../../test/audit-world.ts";
import { tamper } from "../../../test/e2e/tamper.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { checkOutbox } from "./check-outbox.ts";

describe.each(databases)("the hourly check of the outbox on %s", (database) => {
  let server: TestServer;
  const lines: Record<string, unknown>[] = [];
  const incomplete = () => lines.filter(({ event }) => event === "audit.outbox_incomplete");
  const enqueue = (count: number) =>
    server.db.transaction().execute((tx) => enqueueAudit(auditHandle(tx), entriesOf(count)));

  beforeAll(async () => {
    const log = jsonLog("error", (line) => void lines.push(JSON.parse(line) as Record<string, unknown>));
    server = await startTestServer(database, {}, { log });
  });
  afterAll(() => server?.stop());

  it("reports nothing while entries come, are rolled back and move, from any number of connections", async () => {
    await Promise.all(Array.from({ length: 12 }, (_, index) => enqueue(1 + (index % 3))));
    await expect(
      server.db.transaction().execute(async (tx) => {
        await enqueueAudit(auditHandle(tx), entriesOf(5));
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    await checkOutbox(server.services);
    server.services.wakeAuditWriter();
    await server.settled();
    await checkOutbox(server.services);
    await enqueue(2);
    await checkOutbox(server.services);
    expect(incomplete()).toEqual([]);
  });

  it("reports at every check how many entries were removed by whoever took the triggers down first", async () => {
    // With the triggers down, what the writer moves is not counted either.
    server.services.wakeAuditWriter();
    await server.settled();
    // Two counted entries, taken away again; the writer cannot come between.
    const ids = ["0190c0de-0000-7000-8000-0000000000e1", "0190c0de-0000-7000-8000-0000000000e2"];
    await tamper(
      server,
      `insert into audit_outbox (audit_id, entry) values ('${ids[0]}', '["x"]'), ('${ids[1]}', '["x"]');
       update audit_outbox_counts set entries = entries + 2 where lane = 0;
       delete from audit_outbox where audit_id in ('${ids[0]}', '${ids[1]}')`,
    );
    for (const count of [1, 2]) {
      await checkOutbox(server.services);
      expect(incomplete()).toHaveLength(count);
    }
    expect(incomplete()[0]).toMatchObject({ severity: "p1", missing: 2 });
    const metrics = await server.request("GET", "/metrics");
    expect(metrics.body).toMatch(/^audit_outbox_missing_entries 2$/m);
  });
});
