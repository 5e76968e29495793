import { describe, expect, it } from "vitest";
import { plainElevation } from "#fixtures/nouns/access-control/elevation-requests";
import { ids, refused, stolenConnection } from "../../test/stolen-connection.ts";

const stolen = stolenConnection();

describe("a tenant's connection, taken over with everything it was ever told", () => {
  it("reads its own tenant's events, and tells, changes or takes back none", async () => {
    const { base, world, thief } = stolen;
    const columns = "(id, kind, org_id, subject_type, subject_id, data, occurred_at)";
    const forged = (orgId: string) =>
      `insert into events ${columns} values (gen_random_uuid(), 'site.created', '${orgId}', 'site', gen_random_uuid(), '{}', now())`;
    for (const { orgId } of [world.a, world.b]) await base.look(forged(orgId));
    // The server gives positions meanwhile.
    const events = "select seq, id, kind, org_id, subject_type, subject_id, data, occurred_at from events order by seq";
    const before = await base.look(events);
    const { rows } = await thief.query<{ org_id: string }>("select org_id from events");
    expect(rows.map((row) => row.org_id)).toEqual([world.a.orgId]);
    await refused(thief, forged(world.a.orgId)).toThrow(/row-level security/);
    await refused(thief, forged(world.b.orgId)).toThrow(/row-level security/);
    for (const statement of [
      "update events set kind = 'site.deleted'",
      "update events set position = null",
      "delete from events",
      "update event_cursors set position = 0",
      "delete from event_cursors",
    ])
      expect((await thief.query(statement)).rowCount, statement).toBe(0);
    await refused(thief, "select setval('events_seq_seq', 1)").toThrow(/permission denied/);
    expect(await base.look(events)).toEqual(before);
  });

  it("approves no request of its own tenant, and lets no call of a tool run", async () => {
    const { base, server, world, thief, own, enter } = stolen;
    const { orgId, deviceId, apiKeyId } = world.a;
    const { random, clock } = server.services;
    const [id, executionId] = [random.uuid(), random.uuid()];
    const asked = plainElevation(clock.now(), { id, orgId, deviceId, flowType: "ai_tool_action", riskTier: 3 });
    await server.db.insertInto("elevationRequests").values(asked).execute();
    const row = { id: executionId, orgId, elevationRequestId: id, apiKeyId, status: "pending" as const };
    const never = { claimedUntil: null, outcome: null, createdAt: clock.now(), updatedAt: clock.now() };
    await server.db
      .insertInto("toolExecutions")
      .values({ ...row, ...never })
      .execute();
    const seen = async () => [
      await base.look("select id, status, expires_at from elevation_requests order by id"),
      await base.look("select * from tool_executions order by id"),
    ];
    const before = await seen();
    for (const wall of [own, `org:${orgId}`]) {
      await enter(wall);
      expect(await ids(thief, "tool_executions")).toEqual([executionId]);
      for (const statement of [
        "update tool_executions set status = 'approved'",
        "delete from tool_executions",
        "update elevation_requests set status = 'approved', approved_at = now(), expires_at = now() + interval '1 day'",
      ])
        expect((await thief.query(statement)).rowCount, statement).toBe(0);
      await refused(
        thief,
        `insert into tool_executions (id, org_id, elevation_request_id, api_key_id, status, created_at, updated_at)
         select gen_random_uuid(), org_id, id, '${apiKeyId}', 'approved', now(), now() from elevation_requests`,
      ).toThrow(/row-level security/);
    }
    expect(await seen()).toEqual(before);
  });
});
