import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finishWindingDown } from "#server/features/tenancy/organizations/finish-winding-down";
import { auditOf } from "../../../test/audit-of.ts";
import { enroll, makeKey, makeSite } from "../../../test/enroll.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { endOverdueCommands } from "../device-commands/sweep.ts";
import { forgetTokensOfTheGone } from "./sever-agents.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe.each(databases)("devices that people change on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let siteId: string;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    const made = await seedPartner(server, "acme", ["acme", "leaving", "staying", "slow", "narrowed"]);
    ({ partnerId } = made);
    orgId = made.orgIds[0] as string;
    [leavingId, stayingId, slowId, narrowedId] = made.orgIds.slice(1) as [string, string, string, string];
    siteId = await makeSite(server, orgId, "HQ");
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());
  let [leavingId, stayingId, slowId, narrowedId] = ["", "", "", ""];

  /** Access tokens last 15 minutes. */
  const later = async (ms: number) => {
    server.clock.advance(ms);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  };
  const device = async (hostname: string, org = orgId) => {
    const key = await makeKey(server, { orgId: org });
    const { body } = await enroll(server, key, { hostname });
    const id: string = body.deviceId;
    const call = (method: string, rest: string, sent?: unknown) =>
      server.request(method, `/agents/${body.agentId}${rest}`, {
        token: body.agentToken,
        ...(sent === undefined ? {} : { body: sent }),
      });
    return {
      id,
      call,
      patch: (sent: object, token = admin.token) => server.request("PATCH", `/devices/${id}`, { token, body: sent }),
      remove: (query = "") => server.request("DELETE", `/devices/${id}${query}`, { token: admin.token }),
      queue: async (type: string) =>
        (await server.request("POST", `/devices/${id}/commands`, { token: admin.token, body: { type } })).body
          .id as string,
      command: (commandId: string) =>
        server.db.selectFrom("deviceCommands").selectAll().where("id", "=", commandId).executeTakeFirstOrThrow(),
      beat: () => call("POST", "/heartbeat", { status: "ok" }),
      claim: async () => (await call("GET", "/commands")).body.commands as { id: string; type: string }[],
      answer: (commandId: string, status = "completed") => call("POST", `/commands/${commandId}/result`, { status }),
      row: () => server.db.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
      /** Kinds with what they say of a command, since it joined. */
      told: async () =>
        (await eventsOf(server.db, id)).slice(1).map(({ kind, data }) => [kind, ...[data["status"] ?? []].flat()]),
    };
  };
  const org = (id: string) =>
    server.db.selectFrom("organizations").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const patchOrg = (id: string, status: string) =>
    server.request("PATCH", `/orgs/organizations/${id}`, { token: admin.token, body: { status } });

  it("changes name, tags, role and site; null clears, what is left out stays (C12)", async () => {
    const pc = await device("plain");
    const first = await pc.patch({ displayName: "Desk", tags: ["a", "b", "a"], deviceRole: "nas", siteId });
    expect(first).toMatchObject({
      status: 200,
      body: { displayName: "Desk", tags: ["a", "b"], deviceRole: "nas", deviceRoleSource: "manual", siteId },
    });
    expect((await pc.patch({ displayName: null })).body).toMatchObject({ displayName: null, tags: ["a", "b"] });
    expect((await pc.patch({ tags: [] })).body).toMatchObject({ tags: [] });
    for (const bad of [{}, { bogus: 1 }])
      expect(await pc.patch(bad)).toMatchObject({ status: 400, body: { code: "NO_UPDATES" } });
    const foreign = await makeSite(server, stayingId);
    expect(await pc.patch({ siteId: foreign })).toMatchObject({ status: 400, body: { code: "SITE_NOT_IN_ORG" } });
    expect((await pc.row()).siteId).toBe(siteId);
  });

  it("is in maintenance for a while, through reports, and leaves it by what was last heard", async () => {
    const pc = await device("maintained");
    expect((await pc.patch({ maintenance: true })).body.status).toBe("maintenance");
    const until = new Date(server.clock.nowMs() + 8 * HOUR).toISOString();
    expect(await pc.row()).toMatchObject({ maintenanceUntil: until });
    await pc.beat();
    expect((await pc.row()).status).toBe("maintenance");
    const far = new Date(server.clock.nowMs() + 8 * DAY).toISOString();
    expect((await pc.patch({ maintenance: true, maintenanceUntil: far })).status).toBe(400);
    expect((await pc.patch({ maintenance: false })).body.status).toBe("online");
    await later(HOUR);
    await pc.patch({ maintenance: true });
    expect((await pc.patch({ maintenance: false })).body.status).toBe("offline");
    // Only what became of it is told beside the change, and once.
    const told = (await pc.told()).map(([kind]) => kind).filter((kind) => kind !== "device.updated");
    expect(told).toEqual(["device.offline"]);
    await pc.patch({ maintenance: true });
    await pc.beat();
    await pc.patch({ maintenance: false });
    expect((await pc.told()).at(-1)?.[0]).toBe("device.online");
  });

  it("is quarantined with what it was told, and comes back only by hand", async () => {
    const pc = await device("suspect");
    const [sent, pending] = [await pc.queue("lock"), await pc.queue("reboot")];
    await server.db
      .updateTable("deviceCommands")
      .set({ status: "sent", sentAt: server.clock.now() })
      .where("id", "=", sent)
      .execute();
    expect((await pc.patch({ quarantined: true })).status).toBe(400);
    expect((await pc.patch({ quarantined: true, quarantinedReason: "malware" })).body).toMatchObject({
      status: "quarantined",
      quarantinedReason: "malware",
      quarantinedAt: server.clock.now(),
    });
    expect(await pc.command(sent)).toMatchObject({ status: "timeout", outcome: { reason: "device_quarantined" } });
    expect(await pc.command(pending)).toMatchObject({ status: "cancelled", outcome: { reason: "device_quarantined" } });
    expect((await pc.told()).toSorted()).toEqual([
      ["device.command.failed", "cancelled"],
      ["device.command.failed", "timeout"],
      ["device.updated"],
    ]);
    expect(await pc.beat()).toMatchObject({ status: 403, body: { code: "DEVICE_QUARANTINED" } });
    expect(await pc.patch({ maintenance: true })).toMatchObject({ status: 409, body: { code: "INVALID_STATE" } });
    expect((await pc.patch({ quarantined: false })).body).toMatchObject({ status: "offline", quarantinedAt: null });
    expect(await pc.patch({ quarantined: false })).toMatchObject({ status: 409, body: { code: "INVALID_STATE" } });
    expect((await pc.beat()).status).toBe(200);
  });

  it("asks for more rights to quarantine, and for a second factor there and for the site", async () => {
    const pc = await device("rights");
    const may = (permissions: string[], mfa: boolean) =>
      server.signIn({ role: "Custom", orgId, permissions, mfa }).then(({ token }) => token);
    const quarantined = { quarantined: true, quarantinedReason: "x" };
    const [write, execute] = [
      await may(["devices:write"], true),
      await may(["devices:write", "devices:execute"], true),
    ];
    const single = await may(["devices:write", "devices:execute"], false);
    expect(await pc.patch(quarantined, write)).toMatchObject({ status: 403, body: { code: "PERMISSION_DENIED" } });
    expect(await pc.patch(quarantined, single)).toMatchObject({ status: 403, body: { code: "MFA_REQUIRED" } });
    expect(await pc.patch({ siteId }, single)).toMatchObject({ status: 403, body: { code: "MFA_REQUIRED" } });
    expect((await pc.row()).status).toBe("online");
    expect((await pc.patch({ displayName: "ok" }, single)).status).toBe(200);
    expect((await pc.patch(quarantined, execute)).status).toBe(200);
    expect(await pc.patch({ quarantined: false }, execute)).toMatchObject({
      status: 403,
      body: { code: "PERMISSION_DENIED" },
    });
  });

  it("is taken out of service with its commands, and its agent is told so until its tokens end", async () => {
    const pc = await device("gone");
    const commandId = await pc.queue("lock");
    expect((await pc.remove()).body).toEqual({ success: true });
    expect(await pc.command(commandId)).toMatchObject({
      status: "cancelled",
      outcome: { reason: "device_decommissioned" },
    });
    expect(await pc.told()).toEqual([["device.command.failed", "cancelled"], ["device.decommissioned"]]);
    expect(await pc.remove()).toMatchObject({ status: 409, body: { code: "ALREADY_DECOMMISSIONED" } });
    expect(await pc.patch({ tags: [] })).toMatchObject({ status: 409, body: { code: "ALREADY_DECOMMISSIONED" } });
    for (const answer of [await pc.beat(), await pc.call("GET", "/commands")])
      expect(answer).toMatchObject({ status: 403, body: { code: "DEVICE_DECOMMISSIONED" } });
    await later(31 * DAY);
    await forgetTokensOfTheGone(server.services);
    expect(await pc.beat()).toMatchObject({ status: 401, body: { code: "INVALID_AGENT_CREDENTIALS" } });
  });

  it("may uninstall its agent when it is taken out of service, and nothing else", async () => {
    const pc = await device("uninstalled");
    await pc.remove("?uninstall=true");
    const answer = await pc.beat();
    expect(answer.body).toMatchObject({
      draining: true,
      commands: [{ type: "self_uninstall", payload: { removeConfig: true } }],
    });
    expect(await pc.call("POST", "/rotate-token")).toMatchObject({
      status: 403,
      body: { code: "DEVICE_DECOMMISSIONED" },
    });
    expect((await pc.answer(answer.body.commands[0].id)).body).toEqual({ success: true });
    expect(await pc.row()).toMatchObject({ status: "decommissioned", agentTokenHash: null });
    expect((await pc.beat()).status).toBe(401);
  });

  it("is updating from the moment it is told to update until it reports", async () => {
    const pc = await device("updating");
    await pc.queue("update");
    await pc.claim();
    expect((await pc.row()).status).toBe("updating");
    await pc.beat();
    expect((await pc.row()).status).toBe("online");
  });

  it("uninstalls with its organization, which is churned once every device has", async () => {
    const [one, two] = [await device("one", leavingId), await device("two", leavingId)];
    const open = await one.queue("lock");
    const key = await server.request("POST", "/api-keys", {
      token: admin.token,
      body: { orgId: leavingId, name: "ci", scopes: [] },
    });
    expect((await patchOrg(leavingId, "offboarding")).body).toMatchObject({
      status: "offboarding",
      offboardingStartedAt: server.clock.now(),
    });
    expect(await one.command(open)).toMatchObject({ status: "cancelled", outcome: { reason: "tenant_offboarding" } });
    expect(await one.told()).toEqual([["device.command.failed", "cancelled"]]);
    const revoked = server.db.selectFrom("apiKeys").select("status").where("id", "=", key.body.id);
    expect(await revoked.executeTakeFirstOrThrow()).toEqual({ status: "revoked" });
    expect(await one.patch({ tags: [] })).toMatchObject({ status: 409, body: { code: "ORG_READ_ONLY" } });
    const [mine] = await one.claim();
    expect(mine?.type).toBe("self_uninstall");
    await one.answer(mine!.id);
    await server.workJobs();
    expect((await org(leavingId)).status).toBe("offboarding");
    expect(await one.row()).toMatchObject({ status: "decommissioned", agentTokenHash: null });
    expect((await one.told()).slice(1)).toEqual([["device.decommissioned"], ["device.command.completed", "completed"]]);
    const { commands } = (await two.beat()).body;
    await two.answer(commands[0].id, "failed");
    await server.workJobs();
    // The server's own runner may have the job.
    const left = async () => (await org(leavingId)).status;
    await expect.poll(left, { interval: 5, timeout: 5_000 }).toBe("churned");
    expect((await org(leavingId)).offboardingStartedAt).toBeNull();
    expect((await two.row()).agentTokenHash).toBeNull();
    const [entry] = await auditOf(
      server,
      ({ action, orgId: of }) => action === "organization.offboarding_completed" && of === leavingId,
    );
    expect(entry?.details).toMatchObject({
      uninstallsCompleted: 1,
      uninstallsFailed: 1,
      neverDelivered: [],
      forcedByDeadline: false,
    });
  });

  it("says and answers nothing but its uninstall while its organization is wound down", async () => {
    const pc = await device("narrowed", narrowedId);
    const sent = await pc.queue("lock");
    await pc.claim();
    await patchOrg(narrowedId, "offboarding");
    const before = await pc.command(sent);
    expect(before).toMatchObject({
      status: "timeout",
      outcome: { reason: "tenant_offboarding", timedOutBy: "server" },
    });
    const refused = [
      () => pc.answer(sent),
      () => pc.call("POST", "/rotate-token"),
      () => pc.call("POST", "/metrics", { samples: [] }),
      ...["inventory", "software", "patches", "security"].map((section) => () => pc.call("PUT", `/${section}`, {})),
    ];
    for (const call of refused)
      expect(await call()).toMatchObject({ status: 403, body: { code: "TENANT_OFFBOARDING" } });
    expect(await pc.command(sent), "a late answer is not taken either").toEqual(before);
    expect((await pc.answer(server.services.random.uuid())).status).toBe(404);
    const row = await pc.row();
    const beat = await pc.call("POST", "/heartbeat", { status: "ok", hostname: "else", agentVersion: "9.9.9" });
    expect(beat.body).toMatchObject({ draining: true, commands: [{ type: "self_uninstall" }] });
    expect(await pc.row()).toMatchObject({ hostname: row.hostname, agentVersion: row.agentVersion });
    await patchOrg(narrowedId, "active");
    // Collected: the agent may be gone, so it is not taken back.
    expect(await pc.command(beat.body.commands[0].id)).toMatchObject({ status: "sent" });
    await pc.answer(beat.body.commands[0].id);
    expect(await pc.row()).toMatchObject({ status: "decommissioned", agentTokenHash: null });
  });

  it("stays when the wind-down is aborted, and is given up when its time is over", async () => {
    const [stays, slow] = [await device("stays", stayingId), await device("slow", slowId)];
    await patchOrg(stayingId, "offboarding");
    await patchOrg(stayingId, "active");
    expect(await stays.claim()).toEqual([]);
    expect((await stays.beat()).body.draining).toBe(false);
    expect(await org(stayingId)).toMatchObject({
      status: "active",
      offboardingStartedAt: null,
      offboardingTarget: null,
    });
    await patchOrg(slowId, "offboarding");
    await later(71 * HOUR);
    await endOverdueCommands(server.services);
    expect(await finishWindingDown(server.services)).toBe(0);
    await later(2 * HOUR);
    expect(await finishWindingDown(server.services)).toBe(1);
    expect((await org(slowId)).status).toBe("churned");
    const [entry] = await auditOf(
      server,
      ({ action, orgId: of }) => action === "organization.offboarding_completed" && of === slowId,
    );
    expect(entry?.details).toMatchObject({ neverDelivered: [slow.id], forcedByDeadline: true });
    expect((await slow.beat()).status).toBe(401);
  });
});
