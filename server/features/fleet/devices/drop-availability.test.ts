import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { DAY } from "#server/platform/clock";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { dropAvailability } from "./drop-availability.ts";
import { schedules } from "./schedules.ts";

describe.each(databases)("availability of devices on %s", (database) => {
  let server: TestServer;
  let tenants: [Tenant, Tenant];

  beforeAll(async () => {
    server = await startTestServer(database);
    const seed = (name: string) => seedTenant(server.db, server.services, name);
    tenants = [await seed("acme"), await seed("other")];
    await server.db.deleteFrom("deviceAvailability").execute();
  });
  afterAll(() => server?.stop());

  const daysAgo = (days: number) => new Date(server.clock.nowMs() - days * DAY).toISOString();
  const store = ({ orgId, deviceId }: Tenant, days: number, state: "online" | "offline") =>
    server.db
      .insertInto("deviceAvailability")
      .values({ id: server.services.random.uuid(), orgId, deviceId, state, at: daysAgo(days) })
      .execute();
  const kept = async ({ deviceId }: Tenant) =>
    (
      await server.db
        .selectFrom("deviceAvailability")
        .select("at")
        .where("deviceId", "=", deviceId)
        .orderBy("at")
        .execute()
    ).map(({ at }) => at);

  it("is kept for 400 days, with what held at their beginning", async () => {
    const [one, other] = tenants;
    for (const days of [900, 500, 401, 399, 1]) await store(one, days, days % 2 ? "online" : "offline");
    await store(other, 800, "online");
    expect(await dropAvailability(server.services)).toBe(2);
    expect(await kept(one)).toEqual([401, 399, 1].map(daysAgo));
    expect(await kept(other)).toEqual([daysAgo(800)]);
    expect(await dropAvailability(server.services)).toBe(0);
  });

  it("is thinned every night", () => {
    expect(schedules.find(({ name }) => name === "device-availability.retention")?.cron).toBe("20 4 * * *");
  });
});
