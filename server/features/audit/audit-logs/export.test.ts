import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvLine, guarded, unguarded } from "#contract/core/csv";
import { auditEntry } from "#server/audit/entry";
import { auditEntries } from "../../../test/audit-entries.ts";
import { auditedServer } from "../../../test/audited-server.ts";
import { databases, type SignedInUser } from "../../../test/harness.ts";
import { EXPORTED_MAX } from "./export.ts";

const header =
  "id,timestamp,actorId,actorName,actorEmail,action,resourceType,resourceId,resourceName,category,result,ipAddress,userAgent,details";

interface CsvRow {
  id: string;
  [column: string]: string;
}
const rowsOf = (text: string): CsvRow[] =>
  (parse(text, { columns: true, bom: false, record_delimiter: "\n" }) as CsvRow[]).map(
    (row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, unguarded(cell)])) as CsvRow,
  );

describe("a line of CSV", () => {
  const cell = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("=", "+", "-", "@", "'", '"', ",", ";", "\t", "\r", "\n", " ", "a", "1") }),
  );

  it("is read back as it was, whatever the cells hold, and no cell of it is a formula (C30)", () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), (cells) => {
        const line = csvLine(cells.map(guarded));
        const [read, ...more] = parse(line, { record_delimiter: "\n" }) as string[][];
        expect(more).toEqual([]);
        expect(read?.map(unguarded)).toEqual(cells);
        for (const one of read ?? []) expect(one).not.toMatch(/^[=+\-@\t\r\n]/);
      }),
    );
  });
});

describe.each(databases)("exports of the audit log on %s", (database) => {
  const here = auditedServer(database);

  const send = (method: string, path: string, body?: object, who = here.admin) =>
    here.server.request(method, path, { token: who.token, ...(body ? { body } : {}) });
  const asJson = (body: object = {}, who = here.admin) => send("POST", "/audit-logs/export", body, who);
  const asCsv = (query = "", who = here.admin) => send("GET", `/audit-logs/export${query}`, undefined, who);
  const listed = (query: string, who = here.admin) =>
    send("GET", `/audit-logs/logs?limit=100${query}`, undefined, who).then(({ body }) => body);
  /** Entries that are written as they are. */
  const plant = async (events: Partial<Parameters<typeof auditEntry>[0]>[]) => {
    const entries = events.map((event, at) =>
      auditEntry(
        { orgId: here.world.a.orgId, action: "site.update", actorType: "user", result: "success", ...event },
        { now: new Date(here.server.clock.nowMs() + at) },
      ),
    );
    return here.record(entries);
  };
  const recorded = async () => {
    await here.server.settled();
    const { data } = await listed("&action=audit_logs.export");
    return data as { user: { id: string }; result: string; details: Record<string, unknown> }[];
  };

  it("has the columns, a download's name, and every entry that the list has, in its order (C30)", async () => {
    await plant([{ resourceName: 'Branch "one", two' }, { resourceName: "line\nend" }, { resourceName: null }]);
    const { data, pagination } = await listed("&action=site.update");
    const csv = await asCsv("?action=site.update");
    expect([csv.status, csv.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(csv.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-logs-\d{4}-\d\d-\d\d\.csv"$/);
    expect(csv.body.split("\n")[0]).toBe(header);
    const rows = rowsOf(csv.body);
    expect(rows.map(({ id }) => id)).toEqual(data.map(({ id }: { id: string }) => id));
    for (const [at, entry] of data.entries())
      expect(rows[at]).toEqual({
        ...{ id: entry.id, timestamp: entry.timestamp, action: entry.action, category: entry.category },
        ...{ actorId: entry.user.id, actorName: entry.user.name, actorEmail: entry.user.email ?? "" },
        ...{ resourceType: entry.resource.type, resourceId: entry.resource.id ?? "" },
        ...{ resourceName: entry.resource.name ?? "", result: entry.result, ipAddress: entry.ipAddress ?? "" },
        ...{ userAgent: entry.userAgent ?? "", details: expect.any(String) },
      });
    expect(rows.map(({ details }) => JSON.parse(details as string))).toEqual(
      data.map(({ details }: { details: object }) => details),
    );
    expect(csv.headers.get("x-total-count")).toBe(String(pagination.total));
    expect([csv.headers.get("x-truncated"), csv.headers.get("x-oldest")]).toEqual(["false", data.at(-1).timestamp]);
    const json = await asJson({ filters: { action: "site.update" } });
    expect(json.body).toEqual({ data, total: pagination.total, truncated: false, oldest: data.at(-1).timestamp });
    const posted = await asJson({ format: "csv", filters: { action: "site.update" } });
    expect([posted.headers.get("content-type"), posted.body]).toEqual(["text/csv; charset=utf-8", csv.body]);
  });

  it("runs no formula in a spreadsheet (C30)", async () => {
    const names = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "'=1", "plain"];
    await plant(names.map((resourceName) => ({ action: "contact.update", resourceName })));
    const { body } = await asCsv("?action=contact.update");
    const cells = (parse(body, { columns: true, record_delimiter: "\n" }) as CsvRow[]).map(
      (row) => row["resourceName"],
    );
    expect(cells.toReversed()).toEqual([...names.slice(0, 7).map((name) => `'${name}`), ...["''=1", "plain"]]);
    expect(
      rowsOf(body)
        .map((row) => row["resourceName"])
        .toReversed(),
    ).toEqual(names);
  });

  it("runs no formula of any column, and holds what requests brought as it was (C30)", async () => {
    const formulas = {
      ...{ actorEmail: "-1", resourceType: "@SUM(1)", resourceName: "-2+3", ipAddress: "=3", userAgent: "@SUM(1)" },
    };
    await plant([{ ...formulas, action: "ticket.update", details: { actorName: "=4", reason: '-2+3,"\t\r\n日本"' } }]);
    const name = '=HYPERLINK("http://x","y") 日本';
    // The entry of a change has the name from before it.
    for (const next of [name, "Alpha One"]) {
      const renamed = await here.server.request("PATCH", `/orgs/organizations/${here.world.a.orgId}`, {
        token: here.admin.token,
        body: { name: next },
        headers: { "user-agent": "@SUM(1)" },
      });
      expect(renamed.status).toBe(200);
    }
    await here.server.settled();
    for (const [query, wanted] of [
      ["?action=ticket.update", { ...formulas, actorName: "=4" }],
      ["?resource=HYPERLINK", { resourceName: name, userAgent: "@SUM(1)" }],
    ] as const) {
      const { body } = await asCsv(query);
      const [row, ...more] = parse(body, { columns: true, record_delimiter: "\n" }) as CsvRow[];
      expect([query, more]).toEqual([query, []]);
      for (const cell of Object.values(row as CsvRow)) expect(cell).not.toMatch(/^[=+\-@\t\r\n]/);
      expect(rowsOf(body)[0]).toMatchObject(wanted);
    }
    const { data } = (await asJson({ filters: { action: "ticket.update" } })).body;
    expect(data).toMatchObject([
      {
        ...{ user: { name: "=4", email: "-1" }, resource: { type: "@SUM(1)", name: "-2+3" } },
        ...{ ipAddress: "=3", userAgent: "@SUM(1)", details: { reason: '-2+3,"\t\r\n日本"' } },
      },
    ]);
  });

  it("is recorded itself, with what it held and what was asked (C30)", async () => {
    const range = { from: "2020-01-01", to: "2020-01-02" };
    await asJson({ filters: { action: "site", user: "ana" }, dateRange: range });
    await asCsv(`?orgId=${here.world.a.orgId}&action=site.update`);
    const [second, first] = await recorded();
    expect(first).toMatchObject({ user: { id: here.admin.userId }, result: "success" });
    // In the caller's own chain, also where one organization was named.
    const own = { orgId: null, partnerId: here.world.a.partnerId };
    expect((await auditEntries(here.server, "audit_logs.export")).slice(-2)).toMatchObject([own, own]);
    expect(first?.details).toMatchObject({
      ...{ format: "json", rowCount: 0, total: 0, truncated: false, filters: { action: "site", user: "ana" } },
      dateRange: { from: "2020-01-01T00:00:00.000Z", to: "2020-01-02T23:59:59.999Z" },
    });
    const total = (await listed(`&orgId=${here.world.a.orgId}&action=site.update`)).pagination.total;
    expect(second?.details).toMatchObject({
      ...{ format: "csv", rowCount: total, total, dateRange: {} },
      filters: { action: "site.update", orgId: here.world.a.orgId },
    });
  });

  it("takes one actor, and everything that a list takes", async () => {
    const other = await here.server.signIn({ role: "Partner Admin", partnerId: here.world.a.partnerId });
    await plant([
      { action: "role.update", actorId: other.userId, resourceName: "by other" },
      { action: "role.update", actorId: here.admin.userId, resourceName: "by admin" },
      { action: "role.update", actorId: here.admin.userId, orgId: here.world.a.secondOrgId, resourceName: "elsewhere" },
    ]);
    const names = async (query: string) =>
      rowsOf((await asCsv(`?action=role.update${query}`)).body)
        .map((row) => row["resourceName"])
        .toReversed();
    expect(await names("")).toEqual(["by other", "by admin", "elsewhere"]);
    expect(await names(`&userId=${other.userId}`)).toEqual(["by other"]);
    expect(await names(`&userId=${here.admin.userId}&orgId=${here.world.a.orgId}`)).toEqual(["by admin"]);
    expect(await names("&resource=elsew")).toEqual(["elsewhere"]);
    expect(await names("&to=2020-01-01")).toEqual([]);
  });

  it("refuses what is wrong, and another tenant's organization, with nothing recorded as exported", async () => {
    const before = (await recorded()).length;
    expect((await asCsv("?from=2026-02-02&to=2026-02-01")).status).toBe(400);
    expect((await asJson({ dateRange: { from: "2026-02-02", to: "2026-02-01" } })).status).toBe(400);
    expect((await asJson({ format: "xml" })).status).toBe(400);
    expect((await asJson({ filter: {} })).status).toBe(400);
    const foreign = [await asJson({ orgId: here.world.b.orgId }), await asCsv(`?orgId=${here.world.b.orgId}`)];
    expect(foreign.map(({ status, body }) => [status, body.code])).toEqual([
      [403, "ORG_ACCESS_DENIED"],
      [403, "ORG_ACCESS_DENIED"],
    ]);
    const reader = await here.server.signIn({
      ...{ role: "Reader", partnerId: here.world.a.partnerId, permissions: ["audit:read"] },
    });
    for (const refused of [await asJson({}, reader), await asCsv("", reader)])
      expect([refused.status, refused.body.code]).toEqual([403, "PERMISSION_DENIED"]);
    // Refusals are recorded after the answer.
    await expect.poll(async () => (await recorded()).length).toBe(before + 4);
    expect((await recorded()).slice(0, 4).map(({ result }) => result)).toEqual(Array(4).fill("denied"));
  });

  it("holds what the caller sees in lists: totals, rows, deleted organizations, and nothing else", async () => {
    const site = (siteId: string) => ({ details: { siteIds: [siteId] } });
    await plant([
      { action: "script.update", resourceType: "site", resourceName: "hq", ...site(here.world.a.siteId) },
      {
        action: "script.update",
        resourceType: "site",
        resourceName: "elsewhere",
        ...site(here.server.services.random.uuid()),
      },
      { action: "script.update", resourceType: "site", resourceName: "unplaced" },
      { action: "script.update", orgId: here.world.a.secondOrgId, resourceName: "second" },
      { action: "script.update", orgId: null, partnerId: here.world.a.partnerId, resourceName: "partner" },
      { action: "script.update", orgId: here.world.b.orgId, resourceName: "foreign" },
    ]);
    const { orgId, secondOrgId, partnerId, siteId } = here.world.a;
    const role = "Partner Admin";
    const callers: [SignedInUser, string[]][] = [
      [here.admin, ["hq", "elsewhere", "unplaced", "second", "partner"]],
      [
        await here.server.signIn({ role, partnerId, orgAccess: "selected", orgIds: [orgId] }),
        ["hq", "elsewhere", "unplaced"],
      ],
      [await here.server.signIn({ role, partnerId, orgAccess: "none", orgIds: [] }), []],
      [await here.server.signIn({ role: "Org Admin", orgId }), ["hq", "elsewhere", "unplaced"]],
      [await here.server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] }), ["hq"]],
    ];
    for (const [who, names] of callers) {
      const json = (await asJson({ filters: { action: "script.update" } }, who)).body;
      expect(json.data.map(({ resource }: { resource: { name: string } }) => resource.name).toReversed()).toEqual(
        names,
      );
      expect(json.total).toBe(names.length);
      const csv = await asCsv("?action=script.update", who);
      expect(
        rowsOf(csv.body)
          .map((row) => row["resourceName"])
          .toReversed(),
      ).toEqual(names);
      expect(csv.headers.get("x-total-count")).toBe(String(names.length));
    }
    await here.server.db
      .updateTable("organizations")
      .set({ deletedAt: here.server.clock.now() })
      .where("id", "=", secondOrgId)
      .execute();
    const rest = await asJson({ orgId: secondOrgId, filters: { action: "script.update" } });
    expect([rest.body.total, rest.body.data[0].resource.name]).toEqual([1, "second"]);
  });

  it("ends at its most, says so, and goes on from its oldest without a gap", async () => {
    const more = 250;
    const ids = await plant(
      Array.from({ length: EXPORTED_MAX + more }, (_, at) => ({ action: "device.update", resourceName: `pc-${at}` })),
    );
    const first = (await asJson({ filters: { action: "device.update" } })).body;
    expect([first.data.length, first.total, first.truncated]).toEqual([EXPORTED_MAX, ids.length, true]);
    expect(first.oldest).toBe(first.data.at(-1).timestamp);
    const csv = await asCsv(`?action=device.update&to=${first.oldest}`);
    const rest = rowsOf(csv.body);
    expect([csv.headers.get("x-total-count"), csv.headers.get("x-truncated")]).toEqual([String(more + 1), "false"]);
    const all = [...first.data.map(({ id }: { id: string }) => id), ...rest.map(({ id }) => id)];
    expect([...new Set(all)]).toEqual(ids.toReversed());
    expect((await recorded())[1]?.details).toMatchObject({
      ...{ rowCount: EXPORTED_MAX, total: ids.length, truncated: true },
    });
  }, 120_000);
});
