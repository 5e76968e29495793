import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases } from "../../../test/harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../../../test/proving.ts";
import { PENDING_MAX } from "./report.ts";

const REPORTS = inProof({ long: 100_000, short: 2_000 });
const HASH = "ab".repeat(32);
const full = {
  subject_username: "CONTOSO\\jana",
  target_executable_path: "C:/Setup/printer.exe",
  target_executable_hash: HASH.toUpperCase(),
  target_executable_signer: "Contoso Ltd",
  target_executable_signer_thumbprint: HASH,
  target_publisher: "Contoso",
  subject_groups: ["Users"],
  pid: 4_711,
  parent_image: "C:/Windows/explorer.exe",
  command_line: "printer.exe /S",
  observed_at: "2026-01-01T00:00:00.000Z",
};

describe.each(databases)("reports of prompts for elevated rights on %s", (database) => {
  let world: ElevationWorld;
  let agent: TestAgent;

  beforeAll(async () => {
    world = await ElevationWorld.start(database);
    agent = await world.device();
  });
  afterAll(() => world?.stop());

  const rows = (deviceId: string) =>
    world.server.db.selectFrom("elevationRequests").selectAll().where("deviceId", "=", deviceId).execute();
  const rule = async (more: Record<string, unknown>) => {
    const body = { orgId: world.orgId, name: "Rule", matchPathGlob: "c:/setup/**", ...more };
    const { status, body: made } = await world.request("POST", "/pam/rules", body);
    expect(status, JSON.stringify(made)).toBe(201);
    return made.rule.id as string;
  };
  const removeRules = async () => {
    await world.server.db.deleteFrom("pamRules").execute();
  };

  it("waits for people where nothing decides, and is kept whole", async () => {
    const command = `x \u202e\u200b${"\u00e4".repeat(10)}`;
    const { status, body } = await agent.report({ ...full, command_line: command });
    expect([status, body.status]).toEqual([201, "pending"]);
    const shown = await world.show(body.id);
    expect(shown).toMatchObject({
      ...{ status: "pending", flowType: "uac_intercept", subjectUsername: "CONTOSO\\jana", commandLine: command },
      ...{ targetExecutableHash: HASH, targetExecutableSigner: "Contoso Ltd", targetExecutableSignerThumbprint: HASH },
      ...{ parentImage: "C:/Windows/explorer.exe", decisionSource: null, enforcementStatus: "none", riskTier: null },
    });
    expect(JSON.stringify(shown)).not.toContain("Users");
    expect(shown.events).toMatchObject([{ event: "requested", actorType: "agent", details: { pid: 4_711 } }]);
    expect((await eventsOf(world.server.db, body.id)).map(({ kind }) => kind)).toEqual(["elevation.requested"]);
    const entries = await auditOf(world.server, ({ resourceId }) => resourceId === body.id);
    expect(entries.map(({ action }) => action)).toEqual(["agent.elevation_request.submit"]);
    expect(JSON.stringify(entries)).not.toContain("\u202e");
  });

  it("a notice of it shows what nobody sees, and keeps to its line", async () => {
    const device = await world.device();
    const { body } = await device.report({ ...full, subject_username: "jana\n\nCall \u202e555\u200b" });
    const told = await world.server.db
      .selectFrom("notifications")
      .select("message")
      .where("link", "=", `/pam/elevation-requests/${body.id}`)
      .execute();
    expect(new Set(told.map(({ message }) => message))).toEqual(
      new Set(["A request of jana\\n\\nCall \ufffd555\ufffd waits for a decision."]),
    );
  });

  it("what is malformed or too long is refused whole: nothing is cut, repaired or left out", async () => {
    const device = await world.device();
    for (const wrong of [
      { subject_username: "" },
      { subject_username: undefined },
      { subject_username: "x".repeat(256) },
      { target_executable_hash: HASH.slice(1) },
      { target_executable_hash: `${HASH.slice(1)}g` },
      { target_executable_signer_thumbprint: HASH.match(/../g)?.join(":") },
      { target_executable_signer: "x".repeat(256) },
      { target_executable_path: "x".repeat(4_097) },
      { command_line: "x".repeat(24_001) },
      { command_line: "a\u0000b" },
      { command_line: "a\ud800" },
      { command_line: 7 },
      { parent_image: null },
      { subject_groups: Array(201).fill("g") },
      { subject_groups: ["x".repeat(256)] },
      { pid: -1 },
      { pid: 1.5 },
      { observed_at: "yesterday" },
    ]) {
      const { status } = await device.report({ ...full, ...wrong });
      expect([wrong, status]).toEqual([wrong, 400]);
    }
    expect((await device.report({ ...full, more: "x".repeat(33_000) })).status).toBe(413);
    expect(await rows(device.deviceId)).toEqual([]);
    const empty = {
      target_executable_hash: "",
      target_executable_signer: "",
      parent_image: "",
      command_line: "",
      more: 1,
    };
    const { status, body } = await device.report({ ...full, ...empty });
    expect(status).toBe(201);
    expect(await world.show(body.id)).toMatchObject({
      targetExecutableHash: null,
      parentImage: null,
      commandLine: null,
    });
  });

  it("a rule approves for its window, from receipt by the server's clock; the answer is the delivery", async () => {
    const id = await rule({ verdict: "auto_approve", approvalDurationMinutes: 20 });
    const { body } = await agent.report({ ...full, pid: 1 });
    expect(body.status).toBe("auto_approved");
    const now = world.server.clock.nowMs();
    expect(await world.show(body.id)).toMatchObject({
      ...{ decisionSource: "pam_rule", pamRuleId: id, pamRuleName: "Rule", enforcementStatus: "active" },
      ...{ approvedAt: new Date(now).toISOString(), expiresAt: new Date(now + 20 * 60_000).toISOString() },
      ...{ approvedByName: null },
    });
    expect(await world.ledger(body.id)).toEqual(["requested", "auto_approved"]);
    const told = await eventsOf(world.server.db, body.id);
    expect(told.map(({ kind }) => kind)).toEqual(["elevation.auto_approved"]);
    expect((await agent.status(body.id)).body.status).toBe("auto_approved");
    expect((await world.actuate(agent.deviceId, body.id)).body.code).toBe("wrong_status");
    await removeRules();
  });

  it("a rule denies, another passes over without a row", async () => {
    const deny = await rule({ verdict: "auto_deny" });
    const denied = await agent.report({ ...full, pid: 2 });
    expect(denied.body.status).toBe("denied");
    expect(await world.show(denied.body.id)).toMatchObject({ status: "denied", pamRuleId: deny, deniedByName: null });
    expect((await eventsOf(world.server.db, denied.body.id)).map(({ kind }) => kind)).toEqual(["elevation.denied"]);
    await removeRules();
    const ignore = await rule({ verdict: "ignore" });
    const before = (await rows(agent.deviceId)).length;
    const ignored = await agent.report({ ...full, pid: 3 });
    expect([ignored.status, ignored.body]).toEqual([200, { id: null, status: "ignored" }]);
    expect((await rows(agent.deviceId)).length).toBe(before);
    const entries = await auditOf(world.server, ({ action }) => action === "agent.elevation_request.ignored");
    expect(entries).toMatchObject([{ details: { pamRuleId: ignore } }]);
    await removeRules();
  });

  it("what a denial could not be judged by is in the ledger, and holds an approval back", async () => {
    const device = await world.device();
    await rule({
      name: "Known bad",
      verdict: "auto_deny",
      matchPathGlob: null,
      matchHash: "ee".repeat(32),
      priority: 1,
    });
    const id = await rule({ name: "Setup", verdict: "auto_approve", priority: 2 });
    const { body } = await device.report({ ...full, target_executable_hash: undefined });
    const { events, ...shown } = await world.show(body.id);
    expect(shown).toMatchObject({ status: "pending", pamRuleId: id, decisionSource: null, expiresAt: null });
    expect(events).toMatchObject([
      { event: "requested" },
      { event: "evidence_attached", actorType: "system", details: { kind: "missing_data", of: "Known bad" } },
      { event: "evidence_attached", details: { kind: "withheld", of: "Setup", why: "missing_data" } },
    ]);
    await removeRules();
  });

  it("where the organization is not in use nothing is approved or passed over, and denials stand", async () => {
    const org = world.server.db.updateTable("organizations").where("id", "=", world.orgId);
    for (const [verdict, status] of [
      ["auto_approve", "pending"],
      ["ignore", "pending"],
      ["auto_deny", "denied"],
    ] as const) {
      await rule({ verdict });
      await org.set({ status: "suspended" }).execute();
      const { body } = await agent.report({ ...full, pid: 100 + verdict.length });
      await org.set({ status: "active" }).execute();
      expect([verdict, body.status]).toEqual([verdict, status]);
      await removeRules();
    }
  });

  it("the same report again is answered with the first one's request as it is now, for ten minutes", async () => {
    const device = await world.device();
    const first = await device.report(full);
    await world.deny(first.body.id);
    const again = await device.report(full);
    expect([again.status, again.body]).toEqual([201, { id: first.body.id, status: "denied" }]);
    expect(await rows(device.deviceId)).toHaveLength(1);
    for (const other of [{ pid: 5 }, { command_line: "printer.exe /s" }, { subject_groups: [] }])
      expect((await device.report({ ...full, ...other })).body.id).not.toBe(first.body.id);
    // Nothing tells one prompt from the next.
    const loose = { ...full, pid: undefined };
    expect((await device.report(loose)).body.id).not.toBe((await device.report(loose)).body.id);
    const elsewhere = await world.device();
    expect((await elsewhere.report(full)).body.id).not.toBe(first.body.id);
    world.server.clock.advance(10 * 60_000 + 1);
    expect((await device.report(full)).body.id).not.toBe(first.body.id);
  });

  it("so many wait of a device, then 429; what was decided makes room", async () => {
    const device = await world.device();
    const waiting: string[] = [];
    for (let count = 0; count < PENDING_MAX; count += 1) waiting.push(await world.pending(device.deviceId));
    expect((await device.report(full)).status).toBe(429);
    await world.deny(waiting[0] as string);
    expect((await device.report(full)).status).toBe(201);
  });

  it("another device, another token and a person are nobody", async () => {
    const { body } = await agent.report({ ...full, pid: 77 });
    const other = await world.device();
    expect((await other.status(body.id)).status).toBe(404);
    const path = `/agents/${agent.deviceId}/elevation-requests`;
    expect((await world.server.request("POST", path, { token: world.admin.token, body: full })).status).toBe(401);
    expect((await other.report(full, agent.deviceId)).status).toBe(404);
  });

  it(
    `${REPORTS} odd reports: never a fault of the server, never an approval`,
    async () => {
      await rule({ verdict: "auto_approve", matchSigner: "Trusted Ltd", matchPathGlob: undefined });
      const text = fc.oneof(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.constantFrom(
          "",
          " ",
          "\u0000",
          "\ud800",
          "x".repeat(5_000),
          "C:\\a\\..\\b",
          "\\\\?\\C:\\x",
          "Tru\u200bsted Ltd",
        ),
      );
      const anything = fc.oneof(
        text,
        fc.integer(),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(text, { maxLength: 3 }),
      );
      const body = fc
        .tuple(fc.dictionary(fc.constantFrom(...Object.keys(full), "x"), anything, { maxKeys: 6 }), fc.boolean())
        .map(([odd, whole]) => (whole ? { ...full, ...odd } : odd));
      const device = await world.device();
      const seen = new Map<number, number>();
      const bodies = fc.sample(body, {
        numRuns: REPORTS,
        seed: Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31),
      });
      for (const [at, one] of bodies.entries()) {
        if (at % 100 === 0) world.server.clock.advance(61_000);
        if (at % 100 === 0)
          await world.server.db
            .updateTable("elevationRequests")
            .set({ status: "denied" })
            .where("deviceId", "=", device.deviceId)
            .where("status", "=", "pending")
            .execute();
        const { status, body: answer } = await device.report(one);
        seen.set(status, (seen.get(status) ?? 0) + 1);
        if (status >= 500 || answer.status === "auto_approved")
          throw new Error(`${status} ${JSON.stringify(answer)} for ${JSON.stringify(one)}`);
      }
      expect(seen.get(201)).toBeGreaterThan(0);
      for (const status of seen.keys()) expect([201, 400, 413]).toContain(status);
      expect((await rows(device.deviceId)).filter((row) => row.approvedAt !== null)).toEqual([]);
      await removeRules();
    },
    PROOF_TIMEOUT_MS,
  );
});
