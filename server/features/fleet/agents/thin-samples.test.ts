import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { DAY, HOUR, MINUTE, SECOND } from "#server/platform/clock";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { schedules } from "./schedules.ts";
import { thinSamples } from "./thin-samples.ts";

describe.each(databases)("samples of devices on %s", (database) => {
  let server: TestServer;
  let tenant: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    server = await startTestServer(database);
    tenant = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
  });
  afterAll(() => server?.stop());

  const at = (ms: number) => new Date(ms).toISOString();
  const store = (of: Tenant, rows: { at: number; cpu: number; extra?: Record<string, unknown> }[]) =>
    server.db
      .insertInto("deviceMetrics")
      .values(
        rows.map(({ at: ms, cpu, extra = {} }) => ({
          orgId: of.orgId,
          deviceId: of.deviceId,
          timestamp: at(ms),
          cpuPercent: cpu,
          ramPercent: 50,
          diskPercent: 10,
          extra,
        })),
      )
      .execute();
  const samples = async (of: Tenant) =>
    (
      await server.db
        .selectFrom("deviceMetrics")
        .select("timestamp")
        .where("deviceId", "=", of.deviceId)
        .orderBy("timestamp")
        .execute()
    ).map(({ timestamp }) => timestamp);
  const hours = (of: Tenant) =>
    server.db.selectFrom("deviceMetricHours").selectAll().where("deviceId", "=", of.deviceId).orderBy("hour").execute();

  it("are kept for 30 days and then become the means of their whole hours, once, which stay for 400 days", async () => {
    await server.db.deleteFrom("deviceMetrics").execute();
    const now = server.clock.nowMs();
    const month = Math.floor((now - 30 * DAY) / HOUR) * HOUR;
    const old = month - 2 * HOUR;
    await store(tenant, [
      { at: old, cpu: 10, extra: { processCount: 100, note: "text", uptime: 5 } },
      { at: old + 10 * MINUTE, cpu: 20, extra: { processCount: 200 } },
      { at: old + HOUR - 1, cpu: 60 },
      { at: old + HOUR, cpu: 5 },
      { at: month, cpu: 1 },
      { at: now - MINUTE, cpu: 2 },
    ]);
    await store(other, [{ at: now - DAY, cpu: 3 }]);
    expect(await thinSamples(server.services)).toBe(4);
    expect(await samples(tenant)).toEqual([at(month), at(now - MINUTE)]);
    expect(await samples(other)).toEqual([at(now - DAY)]);
    const means = [
      {
        orgId: tenant.orgId,
        deviceId: tenant.deviceId,
        hour: at(old),
        samples: 3,
        cpuPercent: 30,
        ramPercent: 50,
        diskPercent: 10,
        extra: { processCount: 150, uptime: 5 },
      },
      expect.objectContaining({ hour: at(old + HOUR), samples: 1, cpuPercent: 5, extra: {} }),
    ];
    expect(await hours(tenant)).toEqual(means);
    expect(await thinSamples(server.services)).toBe(0);
    expect(await hours(tenant)).toEqual(means);
    server.clock.advance(370 * DAY - 3 * HOUR);
    await thinSamples(server.services);
    expect((await hours(tenant)).map(({ hour }) => hour)).toContain(at(old));
    server.clock.advance(3 * HOUR + DAY);
    await thinSamples(server.services);
    expect((await hours(tenant)).map(({ hour }) => hour)).not.toContain(at(old));
    expect(await samples(tenant)).toEqual([]);
  });

  it("are thinned where the device has left the organization too", async () => {
    await server.db.deleteFrom("deviceMetrics").execute();
    await server.db.deleteFrom("deviceMetricHours").execute();
    const left = { ...tenant, orgId: tenant.secondOrgId };
    await store(left, [{ at: server.clock.nowMs() - 40 * DAY, cpu: 7 }]);
    expect(await thinSamples(server.services)).toBe(1);
    expect(await hours(left)).toMatchObject([{ orgId: left.orgId, cpuPercent: 7 }]);
    server.clock.advance(400 * DAY);
    await thinSamples(server.services);
    expect(await hours(left)).toEqual([]);
  });

  it("of many hours are thinned in batches that split no hour", async () => {
    await server.db.deleteFrom("deviceMetrics").execute();
    await server.db.deleteFrom("deviceMetricHours").execute();
    const start = Math.floor((server.clock.nowMs() - 60 * DAY) / HOUR) * HOUR;
    const rows = Array.from({ length: 5_100 }, (_, n) => ({ at: start + n * 15 * SECOND, cpu: 40 }));
    for (let from = 0; from < rows.length; from += 500) await store(tenant, rows.slice(from, from + 500));
    expect(await thinSamples(server.services)).toBe(5_100);
    const found = await hours(tenant);
    expect(found.map((one) => one.samples)).toEqual([...Array.from({ length: 21 }, () => 240), 60]);
    expect(found.every((one) => one.cpuPercent === 40)).toBe(true);
  });

  it("of an hour with more than any page of them make one mean, and hold up nothing that comes after", async () => {
    await server.db.deleteFrom("deviceMetrics").execute();
    await server.db.deleteFrom("deviceMetricHours").execute();
    const start = Math.floor((server.clock.nowMs() - 60 * DAY) / HOUR) * HOUR;
    const rows = Array.from({ length: 5_100 }, (_, n) => ({ at: start + n * 500, cpu: n % 2 === 0 ? 10 : 30 }));
    const later = { at: start + 2 * HOUR, cpu: 70, extra: { processCount: 9 } };
    for (let from = 0; from < rows.length; from += 500) await store(tenant, rows.slice(from, from + 500));
    await store(tenant, [later]);
    expect(await thinSamples(server.services)).toBe(5_101);
    expect(await hours(tenant)).toMatchObject([
      { hour: at(start), samples: 5_100, cpuPercent: 20 },
      { hour: at(later.at), samples: 1, cpuPercent: 70, extra: { processCount: 9 } },
    ]);
    expect(await samples(tenant)).toEqual([]);
  });

  it("are thinned by a schedule of their room", () =>
    expect(schedules.map(({ name }) => name)).toContain("device-metrics.retention"));
});
