import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Elevations, promptOf, type Standing } from "#fixtures/simulators/agent/elevations";
import { enrollFleet, type SimulatedAgent } from "#fixtures/simulators/agent/fleet";
import { type AgentTransport, agentTransport } from "#fixtures/simulators/agent/transport";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { cleanUp } from "#server/features/access-control/elevation-requests/clean-up";
import { auditOf } from "../audit-of.ts";
import { makeKey, makeSite } from "../enroll.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

describe.each(databases)("a prompt, from the device to its cleanup, by the rmm process on %s", (database) => {
  let server: TestServer;
  let admin: SignedInUser;
  let agent: SimulatedAgent;
  let transport: AgentTransport;
  let elevations: Elevations;
  let rmm: RmmProcess;

  beforeAll(async () => {
    server = await startTestServer(database, { PAM_ACTUATOR_ENABLED: "true" });
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme-west"]);
    const orgId = orgIds[0] as string;
    await makeSite(server, orgId, "HQ");
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    const { raw } = await makeKey(server, { orgId });
    const fleet = await enrollFleet({
      baseUrl: server.url,
      enrollmentKey: raw,
      count: 1,
      now: () => server.clock.nowMs(),
    });
    agent = fleet.agents[0] as SimulatedAgent;
    transport = agentTransport({ baseUrl: server.url });
    const { agentId, agentToken: token } = agent.identity;
    const path = `/agents/${agentId}/elevation-requests`;
    elevations = new Elevations({
      report: (body) => transport.send(path, { token, body }),
      standing: (id) => transport.send<Standing>(`${path}/${id}`, { method: "GET", token }),
      monotonicMs: () => server.clock.nowMs(),
    });
    rmm = rmmProcess({ RMM_SERVER: server.url, RMM_TOKEN: admin.token });
  });
  afterAll(async () => {
    await transport?.close();
    rmm?.close();
    await server?.stop();
  });

  /** Carries out what waits for the device. */
  async function work(): Promise<string[]> {
    const { agentId, agentToken: token } = agent.identity;
    const done: string[] = [];
    for (const { id, type, payload } of (await agent.heartbeat()).commands) {
      const about = String(payload["elevationRequestId"]);
      const result = type === "actuate_elevation" ? await elevations.actuate(about) : elevations.revoke(about);
      await transport.send(`/agents/${agentId}/commands/${id}/result`, {
        token,
        body: { status: "completed", result },
      });
      done.push(type);
    }
    return done;
  }

  const json = async (...argv: string[]) => {
    const ran = await rmm.run([...argv, "--json", "--yes"]);
    expect(ran.code, ran.stderr).toBe(0);
    return JSON.parse(ran.stdout);
  };
  const prompt = (seed: string) => promptOf(agent.machine, seededRandom(seed), server.clock.nowMs());

  it("waits, is approved, carried out, active, revoked, ended on the device, and told by the audit log", async () => {
    const id = (await elevations.report(prompt("one"), server.clock.nowMs())) as string;
    const listed = await json("pam", "list", "--status", "pending");
    expect(listed.map((one: { id: string }) => one.id)).toEqual([id]);
    expect(elevations.active).toEqual([]);
    await json("pam", "approve", id, "--for", "30m", "--reason", "known tool");
    expect(elevations.active).toEqual([]);
    await json("pam", "actuate", agent.identity.deviceId, "--elevation-request-id", id);
    expect(await work()).toEqual(["actuate_elevation"]);
    expect(elevations.active).toEqual([id]);
    expect((await json("pam", "active")).map((one: { id: string }) => one.id)).toEqual([id]);
    await json("pam", "revoke", id, "--reason", "work is done");
    expect(await work()).toEqual(["revoke_elevation"]);
    expect(elevations.active).toEqual([]);
    const shown = await json("pam", "get", id);
    expect(shown).toMatchObject({ status: "revoked", enforcementStatus: "cleaned", revokedReason: "work is done" });
    expect(shown.events.map(({ event }: { event: string }) => event)).toEqual([
      "requested",
      "approved",
      "command_executed",
      "activated",
      "revoked",
      "cleaned",
    ]);
    const entries = await auditOf(server, ({ resourceId }) => resourceId === id);
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["pam.elevation_request.approve", "pam.elevation_request.revoke"]),
    );
  });

  it("a process that is another one by then gets nothing, nor does one that was denied", async () => {
    const first = prompt("two");
    const id = (await elevations.report(first, server.clock.nowMs())) as string;
    await json("pam", "approve", id);
    elevations.processes.set(first.pid, { ...first, sha256: "0".repeat(64) });
    await json("pam", "actuate", agent.identity.deviceId, "--elevation-request-id", id);
    await work();
    expect(elevations.active).toEqual([]);
    expect(await json("pam", "get", id)).toMatchObject({
      enforcementStatus: "failed",
      enforcementError: "target_changed",
    });
    const other = (await elevations.report(prompt("three"), server.clock.nowMs())) as string;
    await json("pam", "deny", other, "--reason", "no");
    expect((await elevations.actuate(other)).outcome).toBe("error");
    const refused = await rmm.run([
      "pam",
      "actuate",
      agent.identity.deviceId,
      "--elevation-request-id",
      other,
      "--json",
    ]);
    expect(refused.code).toBe(6);
    expect(elevations.active).toEqual([]);
    await cleanUp(server.services);
  });
});
