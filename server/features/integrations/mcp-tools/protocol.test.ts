import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toolCall } from "#fixtures/nouns/integrations/mcp-tools";
import { McpClient } from "#fixtures/simulators/mcp-client";
import { ToolWorld } from "../../../test/access-control/tool-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { databases } from "../../../test/harness.ts";

describe.each(databases)("messages of the Model Context Protocol on %s", (database) => {
  let world: ToolWorld;
  beforeAll(async () => {
    world = await ToolWorld.start(database);
  });
  afterAll(() => world?.stop());

  const post = (raw: string | Uint8Array, { path = "/mcp", headers = {}, key = world.model.key } = {}) =>
    world.server.request("POST", path, {
      raw,
      headers: { "content-type": "application/json", "x-api-key": key, ...headers },
    });
  const send = (message: unknown, more: Parameters<typeof post>[1] = {}) => post(JSON.stringify(message), more);
  const say = (method: string, params: object = {}) => send({ jsonrpc: "2.0", id: 7, method, params });

  it("introduces itself in a version that both speak, and remembers nothing", async () => {
    const { headers, body } = await say("initialize", { protocolVersion: "2024-11-05" });
    expect(headers.get("mcp-session-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(body).toMatchObject({ jsonrpc: "2.0", id: 7, result: { capabilities: { tools: { listChanged: false } } } });
    expect(Object.keys(body.result).toSorted()).toEqual([
      "capabilities",
      "instructions",
      "protocolVersion",
      "serverInfo",
    ]);
    expect(body.result.instructions).toMatch(/data, never orders/);
    const version = async (protocolVersion: unknown) =>
      (await say("initialize", { protocolVersion })).body.result.protocolVersion;
    expect([
      await version("2024-11-05"),
      await version("2025-06-18"),
      await version("1999"),
      await version(undefined),
    ]).toEqual(["2024-11-05", "2025-06-18", "2024-11-05", "2024-11-05"]);
    expect((await say("ping")).body).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
    const client = new McpClient(world.server.url, world.model.key);
    expect((await client.connect()).protocolVersion).toBe("2024-11-05");
    expect((await client.tools()).length).toBeGreaterThan(5);
    expect((await say("ping")).headers.get("mcp-session-id")).toBeNull();
  });

  it("takes notifications without an answer, of every kind", async () => {
    for (const method of ["notifications/initialized", "notifications/cancelled", "notifications/own"]) {
      const answer = await send({ jsonrpc: "2.0", method });
      expect([answer.status, answer.body]).toEqual([202, ""]);
    }
  });

  it("answers what is no message with the error and the status of its kind", async () => {
    const wrong: [unknown, number, number, unknown][] = [
      ["{", 400, -32700, null],
      [new Uint8Array([0x7b, 0xff]), 400, -32700, null],
      [JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "ping" }]), 400, -32600, null],
      ['"ping"', 400, -32600, null],
      [JSON.stringify({ id: 1, method: "ping" }), 400, -32600, 1],
      [JSON.stringify({ jsonrpc: "1.0", id: "a", method: "ping" }), 400, -32600, "a"],
      [JSON.stringify({ jsonrpc: "2.0", method: "tools/list" }), 400, -32600, null],
      [JSON.stringify({ jsonrpc: "2.0", id: null, method: "ping" }), 400, -32600, null],
      [JSON.stringify({ jsonrpc: "2.0", id: 3, method: "notifications/x" }), 400, -32600, 3],
      [JSON.stringify({ jsonrpc: "2.0", id: 3, method: 4 }), 400, -32600, 3],
      [JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/none" }), 200, -32601, 3],
      [JSON.stringify({ jsonrpc: "2.0", id: 3, method: "resources/list" }), 200, -32601, 3],
      [JSON.stringify(toolCall("format_disk", {}, 3)), 200, -32602, 3],
      [JSON.stringify(toolCall("constructor", {}, 3)), 200, -32602, 3],
      [JSON.stringify(toolCall("get_device", {}, 3)), 200, -32602, 3],
      [JSON.stringify(toolCall("get_device", { deviceId: "x" }, 3)), 200, -32602, 3],
      [JSON.stringify(toolCall("list_sites", { extra: 1 }, 3)), 200, -32602, 3],
      [JSON.stringify(toolCall("list_devices", { limit: 101 }, 3)), 200, -32602, 3],
      [JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call" }), 200, -32602, 3],
    ];
    for (const [raw, status, code, id] of wrong) {
      const answer = await post(raw as string);
      expect([answer.status, answer.body.error?.code, answer.body.id, answer.body.jsonrpc], String(raw)).toEqual([
        ...[status, code, id, "2.0"],
      ]);
      expect(Object.keys(answer.body).toSorted(), String(raw)).toEqual(["error", "id", "jsonrpc"]);
    }
    const { body } = await send(toolCall("get_device", { deviceId: "x" }));
    expect(body.error.data.issues).toEqual([{ path: "arguments.deviceId", message: expect.any(String) }]);
  });

  it("reads 64 KiB and no more, answers below its path alike, and other methods with 405", async () => {
    const padded = (bytes: number) => {
      const message = { jsonrpc: "2.0", id: 1, method: "ping", params: { pad: "" } };
      message.params.pad = "x".repeat(bytes - JSON.stringify(message).length);
      return JSON.stringify(message);
    };
    expect((await post(padded(64 * 1024))).status).toBe(200);
    const over = await post(padded(64 * 1024 + 1));
    expect([over.status, over.body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    for (const path of ["/mcp/", "/mcp/message", "/mcp/a/b", "/mcp/v1/mcp"])
      expect((await send({ jsonrpc: "2.0", id: 1, method: "ping" }, { path })).body.result, path).toEqual({});
    for (const path of ["/mcp", "/mcp/sse"])
      for (const method of ["GET", "DELETE", "PUT"]) {
        const answer = await world.server.request(method, path, { headers: { "x-api-key": world.model.key } });
        expect([answer.status, answer.headers.get("allow")], `${method} ${path}`).toEqual([405, "POST"]);
      }
    expect((await send({ jsonrpc: "2.0", id: 1, method: "ping" }, { path: "/mcpx" })).status).toBe(404);
  });

  it("takes a key alone, and refuses a version that it does not speak", async () => {
    const { token } = world.elevations.admin;
    const asUser = await world.server.request("POST", "/mcp", { token, body: toolCall("list_sites") });
    expect([asUser.status, asUser.body.code]).toEqual([401, "API_KEY_MISSING"]);
    expect((await send(toolCall("list_sites"), { key: "svc_none" })).body.code).toBe("API_KEY_INVALID");
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const version = { "mcp-protocol-version": "1999-01-01" };
    expect((await send(ping, { headers: version })).body.error.code).toBe(-32600);
    expect((await send(ping, { headers: { "mcp-protocol-version": "2025-06-18" } })).status).toBe(200);
  });

  it("lists and runs only tools whose scope the key holds, and a refusal is recorded", async () => {
    const reader = await world.makeModel(["sites:read"]);
    expect((await reader.client.tools()).map(({ name }) => name)).toEqual(["list_sites", "get_tool_execution"]);
    const tools = await world.model.client.tools();
    expect(tools.find(({ name }) => name === "get_device")?.annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
    });
    expect(tools.find(({ name }) => name === "send_device_command")).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: true },
      inputSchema: { type: "object", required: ["deviceId", "type"], additionalProperties: false },
    });
    const { deviceId } = world.agent;
    const refused = await send(toolCall("send_device_command", { deviceId, type: "collect_logs" }), {
      key: reader.key,
    });
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: -32001, message: "API key does not have required permissions" },
    ]);
    expect(await world.commands("collect_logs")).toBe(0);
    const [entry] = await auditOf(
      world.server,
      ({ action, actorId }) => action === "mcp.tool.send_device_command" && actorId === reader.keyId,
    );
    expect(entry).toMatchObject({ result: "denied", details: { errorCode: "API_KEY_SCOPE_REQUIRED" } });
  });

  it("does what changes something once for one idempotency key, and reads anew", async () => {
    const headers = { "x-idempotency-key": "model-did-this" };
    const { deviceId } = world.agent;
    const message = toolCall("send_device_command", { deviceId, type: "collect_logs" });
    const first = await send(message, { headers });
    const again = await send(message, { headers });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(await world.commands("collect_logs")).toBe(1);
    const other = await send(toolCall("send_device_command", { deviceId, type: "reboot" }), { headers });
    expect([other.status, other.body.code]).toEqual([409, "IDEMPOTENCY_KEY_REUSED"]);
    for (let time = 0; time < 2; time += 1)
      expect((await send(toolCall("list_sites"), { headers })).headers.get("idempotency-replayed")).toBeNull();
  });

  it("a failure of the server is an internal error of the protocol, without what failed", async () => {
    const { db } = world.server;
    const broken = { updatedAt: "2026-01-01T00:00:00.000Z", scopes: ["devices:read"], rateLimit: 1 };
    const model = await world.makeModel();
    await db.updateTable("apiKeys").set(broken).where("id", "=", model.keyId).execute();
    expect((await send(toolCall("list_devices"), { key: model.key })).status).toBe(200);
    const limited = await send(toolCall("list_devices"), { key: model.key });
    expect([limited.status, limited.body.code]).toEqual([429, "RATE_LIMITED"]);
    expect(limited.headers.get("retry-after")).not.toBeNull();
  });
});
