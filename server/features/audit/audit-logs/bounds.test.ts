import { beforeAll, describe, expect, it } from "vitest";
import { auditEntry } from "#server/audit/entry";
import { auditedServer } from "../../../test/audited-server.ts";
import { databases } from "../../../test/harness.ts";

const MIDNIGHT = "2026-03-31T00:00:00.000Z";
const NOON = "2026-03-31T12:00:00.000Z";
const LAST = "2026-03-31T23:59:59.999Z";
const NEXT = "2026-04-01T00:00:00.000Z";
const instants = [MIDNIGHT, NOON, LAST, NEXT];

const lists = ["", "/logs", "/search"];
/** Each counts one of the two entries of an instant; the last counts both. */
const reports = ["/reports/user-activity", "/reports/security-events", "/reports/compliance", "/stats"];

describe.each(databases)("bounds of a range of audit entries on %s", (database) => {
  const here = auditedServer(database);

  beforeAll(async () => {
    const entries = instants.flatMap((instant) =>
      (["user.login", "organization.update"] as const).map((action) =>
        auditEntry(
          {
            ...{ orgId: here.world.a.orgId, actorType: action === "user.login" ? "user" : "system", action },
            ...{ resourceName: instant, result: "success" },
          },
          { now: new Date(instant) },
        ),
      ),
    );
    await here.record(entries);
  });

  const read = (path: string) => here.server.request("GET", `/audit-logs${path}`, { token: here.admin.token });
  const exported = (dateRange: object) =>
    here.server.request("POST", "/audit-logs/export", {
      token: here.admin.token,
      body: { filters: { action: "user.login" }, dateRange },
    });
  const asked = (range: Record<string, string>) =>
    Object.entries(range)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join("&");

  /** The instants of the entries that each list and export gives for a range, oldest first, with what each report counts. */
  const found = async (range: Record<string, string>, query = asked(range)) => {
    const all: Record<string, unknown> = {};
    for (const list of lists) {
      const { body } = await read(`${list}?${query}&action=user.login${list === "/search" ? "&q=login" : ""}`);
      all[list] = (body.entries ?? body.data).map(({ timestamp }: { timestamp: string }) => timestamp).toReversed();
    }
    const csv = (await read(`/export?${query}&action=user.login`)).body as string;
    all["csv"] = csv
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(",")[1]?.replaceAll('"', ""))
      .toReversed();
    const json = (await exported(range)).body;
    all["json"] = json.data.map(({ timestamp }: { timestamp: string }) => timestamp).toReversed();
    for (const report of reports) all[report] = (await read(`${report}?${query}`)).body.totalEvents;
    return all;
  };
  const everywhere = (wanted: readonly string[]) => ({
    ...Object.fromEntries([...lists, "csv", "json"].map((name) => [name, wanted])),
    ...Object.fromEntries(reports.map((name) => [name, name === "/stats" ? 2 * wanted.length : wanted.length])),
  });

  it.each([
    ["one day", { from: "2026-03-31", to: "2026-03-31" }, [MIDNIGHT, NOON, LAST]],
    ["a day to its end", { to: "2026-03-31", from: "2026-03-30" }, [MIDNIGHT, NOON, LAST]],
    ["a day from its start", { from: "2026-04-01", to: "2026-04-02" }, [NEXT]],
    ["two instants", { from: NOON, to: NEXT }, [NOON, LAST, NEXT]],
    ["one instant", { from: LAST, to: LAST }, [LAST]],
    ["offsets", { from: "2026-03-31T02:00:00+02:00", to: "2026-03-31T14:00:00+02:00" }, [MIDNIGHT, NOON]],
    ["a moment later", { from: "2026-03-31T02:00:00.001+02:00", to: "2026-03-31T13:59:59.999+02:00" }, []],
  ])("of %s are the same in every list, export and report (C36)", async (_, range, wanted) => {
    expect(await found(range)).toEqual(everywhere(wanted));
  });

  it("may have a plus sign as it is in the address (C36)", async () => {
    const range = { from: "2026-03-31T02:00:00+02:00", to: "2026-03-31T14:00:00+02:00" };
    expect(await found(range, `from=${range.from}&to=${range.to}`)).toEqual(everywhere([MIDNIGHT, NOON]));
  });

  it("that are no times, or end before they begin, are refused everywhere (C36)", async () => {
    const refused: Record<string, string>[] = [{ from: "yesterday" }, { to: "2026-02-30" }, { from: NEXT, to: LAST }];
    for (const range of refused) {
      const answers = [await exported(range)];
      for (const path of [...lists, "/export", ...reports]) answers.push(await read(`${path}?${asked(range)}&q=login`));
      for (const { status, body } of answers) expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    }
  });

  it("are told by stats as they were read (C36)", async () => {
    const rangeOf = async (range: Record<string, string>) => (await read(`/stats?${asked(range)}`)).body.range;
    expect(await rangeOf({ from: "2026-03-31", to: "2026-03-31" })).toEqual({ from: MIDNIGHT, to: LAST });
    expect(await rangeOf({ from: "2026-03-31T14:00:00+02:00" })).toEqual({ from: NOON, to: null });
  });
});
