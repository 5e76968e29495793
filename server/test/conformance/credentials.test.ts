import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases } from "../harness.ts";
import { cases, forUsers, type Swept, startSweep } from "./sweep.ts";

describe.each(databases)("credentials on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    swept = await startSweep(database);
  });
  afterAll(() => swept?.server.stop());

  const closed = cases.filter(({ endpoint }) => !endpoint.access.kinds.includes("public"));
  const forAgents = cases.filter(({ endpoint }) => endpoint.access.kinds.includes("agent"));

  it.each(closed)("$name answers 401 without a credential and with a wrong one", async (item) => {
    const wanted = item.endpoint.access.kinds.includes("agent") ? "INVALID_AGENT_CREDENTIALS" : "UNAUTHENTICATED";
    const forged = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"sub":"x"}').toString("base64url")}.`;
    for (const token of [undefined, "nonsense", forged, `agt_${"0".repeat(64)}`, `svc_${"a".repeat(32)}`]) {
      const answer = await swept.call(item, { tenant: swept.world.a, token });
      expect({ token, status: answer.status, code: answer.body.code }).toEqual({ token, status: 401, code: wanted });
    }
  });

  it.each(forUsers)("$name refuses an API key and an agent's token", async (item) => {
    const withKey = await swept.call(item, {
      tenant: swept.world.a,
      headers: { "x-api-key": `svc_${"a".repeat(32)}` },
    });
    expect([withKey.status, withKey.body.code]).toEqual([401, "UNAUTHENTICATED"]);
    const withAgent = await swept.call(item, { tenant: swept.world.a, token: swept.world.a.agentToken });
    expect([withAgent.status, withAgent.body.code]).toEqual([401, "UNAUTHENTICATED"]);
  });

  it.each(forAgents)("$name refuses a user's token", async (item) => {
    const { token } = await swept.caller("partner", swept.world.a);
    const answer = await swept.call(item, { tenant: swept.world.a, token });
    expect([answer.status, answer.body.code]).toEqual([401, "INVALID_AGENT_CREDENTIALS"]);
  });

  it("refuses a session from the moment it is revoked, its user disabled, or its time is over", async () => {
    const me = cases.find((item) => item.name === "users.me")!;
    const changes = [
      (sessionId: string) =>
        swept.server.db
          .updateTable("sessions")
          .set({ revokedAt: swept.server.clock.now() })
          .where("id", "=", sessionId)
          .execute(),
      (_: string, userId: string) =>
        swept.server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", userId).execute(),
      (_: string, userId: string) => swept.server.db.deleteFrom("partnerUsers").where("userId", "=", userId).execute(),
    ];
    for (const change of changes) {
      const { token, sessionId, userId } = await swept.caller("partner", swept.world.a);
      expect((await swept.call(me, { tenant: swept.world.a, token })).status).toBe(200);
      await change(sessionId, userId);
      expect((await swept.call(me, { tenant: swept.world.a, token })).status).toBe(401);
    }
  });
});
