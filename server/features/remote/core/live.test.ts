import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "#server/main";
import { silentLog } from "#server/platform/log";
import { problem } from "#server/problem";
import { type AgentOf, type Answers, startAgent, wellAnswers } from "../../../test/answering-agent.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite, type TestKey } from "../../../test/enroll.ts";
import {
  type Answer,
  databases,
  type SignedInUser,
  seedPartner,
  send,
  startTestServer,
  type TestServer,
} from "../../../test/harness.ts";

describe.each(databases)("live calls on %s", (database) => {
  let server: TestServer;
  let second: RunningServer | undefined;
  let orgId: string;
  let partnerId: string;
  let key: TestKey;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const { clock, services, mails } = server;
    const mailer = { delivers: true, send: async (mail: (typeof mails)[number]) => void mails.push(mail) };
    const shared = { config: { ...services.config, port: 0 }, clock, log: silentLog, mailer, background: false };
    if (database === "postgres") second = await startServer(shared);
    const made = await seedPartner(server, "acme", ["acme"]);
    orgId = made.orgIds[0] as string;
    partnerId = made.partnerId;
    await makeSite(server, orgId, "HQ");
    key = await makeKey(server, { orgId });
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(async () => {
    await second?.stop();
    await server?.stop();
  });

  const machine = async (hostname: string): Promise<AgentOf> => (await enroll(server, key, { hostname })).body;
  const at = ({ deviceId }: AgentOf, rest: string) => `/system-tools/devices/${deviceId}${rest}`;
  const list = (of: AgentOf, token = admin.token) => server.request("GET", at(of, "/processes"), { token });
  const kill = (of: AgentOf) => server.request("POST", at(of, "/processes/4711/kill"), { token: admin.token });
  const commandsOf = ({ deviceId }: AgentOf) =>
    server.db.selectFrom("deviceCommands").selectAll().where("deviceId", "=", deviceId).execute();
  const answered = async (of: AgentOf, answers: Answers, call: () => Promise<Answer>) => {
    const agent = startAgent(server, of, answers);
    try {
      return await call();
    } finally {
      await agent.stop();
    }
  };

  it("hands the agent's answer over and keeps nothing of it", async () => {
    const pc = await machine("asked");
    const { status, body } = await answered(pc, wellAnswers, () => list(pc));
    expect([status, body.data[0].commandLine, body.data[0].status]).toEqual([200, "notepad.exe /p hunter2", "running"]);
    const [command] = await commandsOf(pc);
    expect(command).toMatchObject({ status: "completed", answerSealed: null, outcome: { status: "completed" } });
    for (const table of ["deviceCommands", "auditOutbox", "auditLogs", "events"] as const)
      expect(JSON.stringify(await server.db.selectFrom(table).selectAll().execute())).not.toContain("hunter2");
    expect(command?.payload).toEqual({ timeoutSeconds: 30 });
  });

  it.skipIf(database === "sqlite")("hears an answer that another process has taken", async () => {
    const pc = await machine("elsewhere");
    const began = performance.now();
    const agent = startAgent(server, pc);
    const url = (second as RunningServer).url;
    const { status } = await send(url, "GET", at(pc, "/services"), { token: admin.token });
    await agent.stop();
    expect(status).toBe(200);
    // Without the signal it looks again after two seconds.
    expect(performance.now() - began).toBeLessThan(1_900);
  });

  it("ends with its wait: what was never claimed is cancelled, what was claimed may have run", async () => {
    const [unclaimed, claimed] = [await machine("deaf"), await machine("mute")];
    const agent = startAgent(server, claimed, () => null);
    const { config } = server.services;
    const { liveWaitSeconds } = config;
    Object.assign(config, { liveWaitSeconds: 2 });
    const [read, change] = await Promise.all([list(unclaimed), kill(claimed)]);
    Object.assign(config, { liveWaitSeconds });
    await agent.stop();
    expect([read.status, read.body.code, read.body.details.unverified]).toEqual([504, "AGENT_TIMEOUT", undefined]);
    expect(change).toMatchObject({ status: 504, body: { code: "AGENT_TIMEOUT", details: { unverified: true } } });
    expect(await commandsOf(unclaimed)).toMatchObject([{ status: "cancelled", outcome: { reason: "not_answered" } }]);
    expect(await commandsOf(claimed)).toMatchObject([{ status: "timeout", outcome: { timedOutBy: "server" } }]);
    const [entry] = await auditOf(server, ({ action }) => action === "device.process.kill");
    expect(entry).toMatchObject({
      result: "failure",
      resourceId: claimed.deviceId,
      details: { unverified: true, pid: 4711 },
    });
  });

  it("records a change with what the agent said of it", async () => {
    const pc = await machine("changed");
    const restart = () => server.request("POST", at(pc, "/services/Spooler/restart"), { token: admin.token });
    expect((await answered(pc, wellAnswers, restart)).body).toEqual({
      success: true,
      message: "Service Spooler was restarted",
    });
    const failing: Answers = () => ({ status: "failed", errorCode: "protected", error: "it is the agent's own" });
    expect(await answered(pc, failing, restart)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    for (const result of ["success", "denied"])
      expect(
        await auditOf(server, (entry) => entry.action === "device.service.restart" && entry.result === result),
      ).toMatchObject([{ resourceId: pc.deviceId, details: { name: "Spooler", commandId: expect.any(String) } }]);
  });

  it("ends a process with force where the query or the body says so", async () => {
    const pc = await machine("forced");
    const end = (query: string, body?: object) => {
      const call = () => server.request("POST", at(pc, `/processes/4711/kill${query}`), { token: admin.token, body });
      return answered(pc, wellAnswers, call);
    };
    const said = [await end(""), await end("?force=true"), await end("", { force: true }), await end("", {})];
    said.push(await end("?force=false", { force: true }));
    expect(said.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const wrong of [await end("?force=yes"), await end("", { force: "true" })]) expect(wrong.status).toBe(400);
    const sent = (await commandsOf(pc)).map(({ payload }) => payload);
    const told = (force: boolean) => ({ pid: 4711, force, timeoutSeconds: 30 });
    expect(sent).toHaveLength(5);
    expect(sent).toEqual(expect.arrayContaining([told(false), told(true)]));
    expect(sent.filter((payload) => payload["force"] === true)).toHaveLength(2);
  });

  it("asks no device that is offline, that a room forbids, or of another tenant", async () => {
    const pc = await machine("away");
    const other = await seedPartner(server, "other", ["other"]);
    const stranger = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect((await list(pc, stranger.token)).body.code).toBe("NOT_FOUND");
    const { hooks } = server.services;
    const allowed = hooks.onLiveCall;
    Object.assign(hooks, { onLiveCall: async () => Promise.reject(problem("FORBIDDEN")) });
    expect((await list(pc)).body.code).toBe("FORBIDDEN");
    Object.assign(hooks, { onLiveCall: allowed });
    await server.db.updateTable("devices").set({ status: "offline" }).where("id", "=", pc.deviceId).execute();
    expect(await list(pc)).toMatchObject({
      status: 503,
      body: { code: "DEVICE_OFFLINE", details: { status: "offline" } },
    });
    expect(await commandsOf(pc)).toEqual([]);
  });

  it("cancels what nobody has claimed when its caller goes away", async () => {
    const pc = await machine("left");
    const leaving = new AbortController();
    const url = `${server.url}/api/v1${at(pc, "/processes")}`;
    const call = fetch(url, { headers: { authorization: `Bearer ${admin.token}` }, signal: leaving.signal });
    await expect.poll(() => commandsOf(pc), { interval: 5 }).toHaveLength(1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    const outcome = async () => (await commandsOf(pc))[0];
    await expect
      .poll(outcome, { interval: 5 })
      .toMatchObject({ status: "cancelled", outcome: { reason: "caller_gone" } });
  });

  it("shows command lines and paths only to who may act, and does not search what it hides", async () => {
    const pc = await machine("read");
    const { token } = await server.signIn({ role: "x", permissions: ["devices:read"], partnerId });
    const ask = (path: string) => answered(pc, wellAnswers, () => server.request("GET", at(pc, path), { token }));
    expect((await ask("/processes/4711")).body.commandLine).toBeNull();
    expect((await ask("/services/Spooler")).body).toMatchObject({
      path: null,
      status: "starting",
      startType: "auto_delayed",
    });
    expect((await ask("/processes?search=hunter2")).body.pagination.total).toBe(0);
  });

  it("ends its waits when the server stops", async () => {
    const pc = await machine("stopping");
    const headers = { connection: "close" };
    const waiting = server.request("GET", at(pc, "/processes"), { token: admin.token, headers });
    await expect.poll(() => commandsOf(pc), { interval: 5 }).toHaveLength(1);
    // It works on the database that goes with the other.
    await second?.stop();
    const { liveWaitSeconds } = server.services.config;
    const began = performance.now();
    const stopping = server.stop();
    expect((await waiting).status).toBe(504);
    expect(performance.now() - began).toBeLessThan(liveWaitSeconds * 500);
    await stopping;
  });
});
