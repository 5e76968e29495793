import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enrollFleet, type SimulatedAgent } from "#fixtures/simulators/agent/fleet";
import { type AgentTransport, agentTransport } from "#fixtures/simulators/agent/transport";
import { McpClient } from "#fixtures/simulators/mcp-client";
import { makeKey, makeSite } from "../enroll.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

describe.each(databases)("a model that restarts a device, and the person who lets it, on %s", (database) => {
  let server: TestServer;
  let approver: SignedInUser;
  let agent: SimulatedAgent;
  let transport: AgentTransport;
  let client: McpClient;
  let rmm: RmmProcess;

  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme-west"]);
    const orgId = orgIds[0] as string;
    await makeSite(server, orgId, "HQ");
    const maker = await server.signIn({ role: "Partner Admin", partnerId });
    approver = await server.signIn({ role: "Partner Admin", partnerId });
    const fleet = await enrollFleet({
      ...{ baseUrl: server.url, enrollmentKey: (await makeKey(server, { orgId })).raw, count: 1 },
      now: () => server.clock.nowMs(),
    });
    agent = fleet.agents[0] as SimulatedAgent;
    transport = agentTransport({ baseUrl: server.url });
    const body = { orgId, name: "assistant", scopes: ["devices:read", "devices:execute"] };
    const { key } = (await server.request("POST", "/api-keys", { token: maker.token, body })).body;
    client = new McpClient(server.url, key);
    rmm = rmmProcess({ RMM_SERVER: server.url, RMM_TOKEN: approver.token });
  });
  afterAll(async () => {
    await transport?.close();
    rmm?.close();
    await server?.stop();
  });

  const handedOut = async () => (await agent.heartbeat()).commands.map(({ type }) => type);

  it("asks, waits for `rmm pam approve`, and learns that the device was told", async () => {
    await client.connect();
    expect((await client.tools()).map(({ name }) => name)).toContain("send_device_command");
    const { data } = await client.call("list_devices", { search: agent.machine.hostname });
    const deviceId = data.data[0].id as string;
    const asked = (await client.call("send_device_command", { deviceId, type: "reboot" })).data;
    expect(asked).toMatchObject({ status: "pending", riskTier: 3 });
    expect(await handedOut()).not.toContain("reboot");

    const shown = await rmm.run(["pam", "list", "--status", "pending", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject([{ id: asked.elevationRequestId, toolName: "send_device_command" }]);
    const approved = await rmm.run(["pam", "approve", asked.elevationRequestId, "--reason", "after hours", "--yes"]);
    expect(approved.code, approved.stderr).toBe(0);
    expect(approved.stderr).toMatch(/^Tool +send_device_command$/m);
    expect(approved.stderr).toContain('"type":"reboot"');
    await server.workJobs();
    const { toolExecutionId } = asked;
    const done = (await client.call("get_tool_execution", { toolExecutionId })).data;
    expect(done).toMatchObject({ status: "completed", result: { type: "reboot", deviceId, status: "pending" } });
    expect(await handedOut()).toContain("reboot");
  });

  it("is told of a denial, and the device of nothing", async () => {
    const { data } = await client.call("list_devices");
    const asked = (await client.call("send_device_command", { deviceId: data.data[0].id, type: "reboot" })).data;
    const denied = await rmm.run(["pam", "deny", asked.elevationRequestId, "--reason", "in use", "--yes"]);
    expect(denied.code, denied.stderr).toBe(0);
    await server.workJobs();
    const { toolExecutionId } = asked;
    expect((await client.call("get_tool_execution", { toolExecutionId })).data).toMatchObject({ status: "rejected" });
    expect(await handedOut()).not.toContain("reboot");
  });
});
