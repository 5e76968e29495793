import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../test/agent-socket.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite, type TestKey } from "../../../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { forgetReplaced } from "./replaced-tokens.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

describe.each(databases)("replaced tokens of agents on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let otherId: string;
  let key: TestKey;
  const people: Record<string, string> = {};

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000", TRUST_PROXY_HEADERS: "true" });
    const made = await seedPartner(server, "acme", ["acme", "other"]);
    partnerId = made.partnerId;
    [orgId, otherId] = made.orgIds as [string, string];
    const siteId = await makeSite(server, orgId, "HQ");
    key = await makeKey(server, { orgId, siteId });
    const member = async (options: object = {}) =>
      (await server.signIn({ role: "Org Admin", orgId, ...options })).userId;
    people["admin"] = await member();
    people["elsewhere"] = await member({ siteIds: [await makeSite(server, orgId, "Quay")] });
    people["reader"] = await member({ permissions: ["devices:read", "devices:write", "devices:execute"] });
    people["stranger"] = await member({ orgId: otherId });
  });
  afterAll(() => server?.stop());

  const machine = async (hostname: string, fields: object = {}) => {
    const { body } = await enroll(server, key, { hostname, ...fields });
    const { deviceId: id, agentId } = body as { deviceId: string; agentId: string };
    const call = (method: string, rest: string, token: string, sent?: object) =>
      server.request(method, `/agents/${agentId}${rest}`, {
        ...{ token, headers: { "x-forwarded-for": "203.0.113.9", "x-request-id": `by-${hostname}` } },
        ...(sent === undefined ? {} : { body: sent }),
      });
    return {
      ...{ id, agentId, agentToken: body.agentToken as string, watchdogToken: body.watchdogToken as string },
      beat: (token: string) => call("POST", "/heartbeat", token, { status: "ok" }),
      poll: (token: string) => call("GET", "/commands", token),
      rotate: async (token: string = body.agentToken) => (await call("POST", "/rotate-token", token)).body,
      denied: async (of = orgId) => {
        await server.settled();
        const entries = await server.db
          .selectFrom("auditLogs")
          .select(["result"])
          .where("orgId", "=", of)
          .where("action", "=", "agent.token.rotate")
          .where("resourceId", "=", id)
          .execute();
        return entries.filter(({ result }) => result === "denied").length;
      },
      told: async (userId: string | undefined) => {
        const rows = server.db.selectFrom("notifications").select(["title", "type", "priority", "metadata", "siteId"]);
        const mine = await rows.where("userId", "=", userId as string).execute();
        return mine.filter(({ metadata }) => (metadata as { deviceId?: string })["deviceId"] === id);
      },
    };
  };
  const refused = { status: 401, body: { code: "INVALID_AGENT_CREDENTIALS" } };

  it("are refused and told of once a day, whichever of the two and however it is used", async () => {
    const pc = await machine("copied");
    const fresh = await pc.rotate();
    expect((await pc.beat(pc.agentToken)).status).toBe(200);
    expect(await pc.denied()).toBe(0);
    server.clock.advance(10 * MINUTE);
    for (let n = 0; n < 3; n += 1) {
      expect(await pc.poll(pc.agentToken)).toMatchObject(refused);
      expect(await pc.beat(pc.watchdogToken)).toMatchObject(refused);
      const { refused: socket } = await connect(server.url, pc.agentId, { token: pc.agentToken });
      expect(socket).toMatchObject(refused);
    }
    expect(await pc.denied()).toBe(1);
    const [entry] = await auditOf(server, ({ details }) => details["reason"] === "replaced_token");
    expect(entry).toMatchObject({
      ...{ action: "agent.token.rotate", result: "denied", orgId, actorType: "agent", actorId: pc.id },
      ...{ resourceId: pc.id, resourceName: "copied", ipAddress: "203.0.113.9" },
      details: { reason: "replaced_token", requestId: "by-copied" },
    });
    expect(JSON.stringify(entry)).not.toMatch(/agt_|[0-9a-f]{64}/);
    const about = { type: "security", priority: "high", metadata: { deviceId: pc.id, ip: "203.0.113.9" } };
    expect(await pc.told(people["admin"])).toMatchObject([about]);
    for (const who of ["elsewhere", "reader", "stranger"]) expect(await pc.told(people[who])).toEqual([]);
    server.clock.advance(DAY + 30 * MINUTE);
    await pc.beat(pc.agentToken);
    expect([await pc.denied(), (await pc.told(people["admin"])).length]).toEqual([2, 2]);
    expect((await pc.beat(fresh.agentToken)).status).toBe(200);
  });

  it("are those of a re-enrollment and of an answer that was lost, too", async () => {
    const again = await machine("again");
    await enroll(server, key, { hostname: "again" }, { token: again.agentToken });
    server.clock.advance(10 * MINUTE);
    expect(await again.beat(again.agentToken)).toMatchObject(refused);
    expect(await again.denied()).toBe(1);

    const pc = await machine("lost");
    const lost = await pc.rotate();
    await pc.rotate();
    // Nobody had it, and it never lasts: the device itself asked for another.
    expect(await pc.beat(lost.agentToken)).toMatchObject(refused);
    expect(await pc.denied()).toBe(1);

    const nonce = "c".repeat(64);
    const repeated = await machine("repeated", { enrollmentNonce: nonce });
    await enroll(server, key, { hostname: "repeated", enrollmentNonce: nonce });
    server.clock.advance(10 * MINUTE);
    expect(await repeated.beat(repeated.agentToken)).toMatchObject(refused);
    expect(await repeated.denied()).toBe(1);
  });

  it("go with their device to another organization, which is told then", async () => {
    const pc = await machine("moved");
    await pc.rotate();
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    const to = { orgId: otherId, siteId: await makeSite(server, otherId, "New") };
    expect((await server.request("POST", `/devices/${pc.id}/move-org`, { token, body: to })).status).toBe(200);
    server.clock.advance(10 * MINUTE);
    expect(await pc.beat(pc.agentToken)).toMatchObject(refused);
    expect([await pc.denied(), await pc.denied(otherId)]).toEqual([0, 1]);
    expect((await pc.told(people["stranger"])).length).toBe(1);
    expect(await pc.told(people["admin"])).toEqual([]);
  });

  it("are known for thirty days, and count as guesses like any other that does not exist", async () => {
    const pc = await machine("old");
    await pc.rotate();
    const known = () =>
      server.db.selectFrom("replacedAgentTokens").select("tokenHash").where("deviceId", "=", pc.id).execute();
    expect(await known()).toHaveLength(2);
    server.clock.advance(30 * DAY);
    expect(await pc.beat(pc.agentToken)).toMatchObject(refused);
    expect(await pc.denied()).toBe(0);
    await forgetReplaced(server.services);
    expect(await known()).toEqual([]);
    server.clock.advance(MINUTE * 2);
    const other = await machine("guessing");
    await other.rotate();
    server.clock.advance(10 * MINUTE);
    const answers: number[] = [];
    for (let n = 0; n < 302; n += 1) answers.push((await other.beat(other.agentToken)).status);
    expect([answers[0], answers.at(-1), await other.denied()]).toEqual([401, 429, 1]);
  });
});
