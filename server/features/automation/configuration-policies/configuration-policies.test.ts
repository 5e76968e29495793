import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { DAY } from "#server/platform/clock";
import { auditOf } from "../../../test/audit-of.ts";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { POLICIES_MAX } from "./create.ts";

const pam = { type: "pam", settings: { uacInterceptionEnabled: true } };
const events = { type: "event_log", settings: { minimumLevel: "error" } };
const listed = (mode: string) => ({
  type: "software_policy",
  settings: { mode, executable: [{ name: "Editor", signer: "Contoso" }] },
});

describe.each(databases)("configuration policies on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
  }, 60_000);
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, as = token) =>
    server.request(method, path, { token: as, ...(body ? { body } : {}) });
  const create = (body: object, as?: string) =>
    send("POST", "/policies", { ...("ownerScope" in body ? {} : { orgId: acme.orgId }), name: "P", ...body }, as);
  const made = async (body: object) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const refused = (answer: { status: number; body: { code?: string } }) => [answer.status, answer.body.code];
  /** Everything that is stored of a policy. */
  const stored = async (id: string) => {
    const [policy, features, assignments] = await Promise.all([
      server.db.selectFrom("configurationPolicies").selectAll().where("id", "=", id).execute(),
      server.db
        .selectFrom("configurationPolicyFeatures")
        .selectAll()
        .where("policyId", "=", id)
        .orderBy("id")
        .execute(),
      server.db
        .selectFrom("configurationPolicyAssignments")
        .selectAll()
        .where("policyId", "=", id)
        .orderBy("id")
        .execute(),
    ]);
    return { policy, features, assignments };
  };
  const count = async () => (await server.db.selectFrom("configurationPolicies").select("id").execute()).length;
  const device = async (change: object = {}) =>
    (await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId, ...change }]))[0] as string;
  const group = async (body: object = {}) =>
    (await send("POST", "/groups", { orgId: acme.orgId, name: server.services.random.uuid(), ...body })).body
      .id as string;
  const dynamic = () =>
    group({
      type: "dynamic",
      filterConditions: { operator: "AND", conditions: [{ field: "osType", operator: "equals", value: "windows" }] },
    });
  const effective = async (id: string) => (await send("GET", `/policies/effective/device/${id}`)).body.effective;

  it("keep what they are given, with the default of every setting that is left out", async () => {
    const id = await device();
    const policy = await made({
      ...{ name: "Front", description: "By the door", features: [pam, events, listed("audit")] },
      assignments: [
        { level: "organization", targetId: acme.orgId, priority: 7, osFilter: ["windows"] },
        { level: "device", targetId: id, roleFilter: ["server", "workstation"] },
      ],
    });
    expect(policy).toMatchObject({
      ...{ orgId: acme.orgId, partnerId: null, ownerScope: "organization", status: "active", version: 1 },
      ...{ name: "Front", description: "By the door" },
      features: [
        { type: "event_log", settings: { minimumLevel: "error", retentionDays: 30, collectCategories: { length: 4 } } },
        pam,
        listed("audit"),
      ],
      assignments: [
        { level: "device", targetId: id, priority: 0, roleFilter: ["server", "workstation"], osFilter: null },
        { level: "organization", targetId: acme.orgId, priority: 7, roleFilter: null, osFilter: ["windows"] },
      ],
    });
    const shown = await send("GET", `/policies/${policy.id}`);
    expect(shown.body).toMatchObject({ ...policy, appliedDeviceCount: expect.any(Number) });
    const list = await send("GET", `/policies?search=FRON&featureType=software_policy&status=active`);
    expect(list.body.data).toMatchObject([
      {
        id: policy.id,
        featureTypes: ["event_log", "pam", "software_policy"],
        assignmentCount: 2,
        orgName: expect.any(String),
      },
    ]);
    expect(list.body.data[0]).not.toHaveProperty("features");
    const [entry] = await auditOf(
      server,
      ({ action, resourceId }) => action === "policy.create" && resourceId === policy.id,
    );
    expect(entry).toMatchObject({ orgId: acme.orgId, result: "success", details: { assignments: 2 } });
  });

  it("carry known types alone, one of each, and nothing that a type does not know", async () => {
    const before = await count();
    for (const features of [
      [{ type: "remote_access", settings: {} }],
      [{ type: "compliance", settings: { rules: [] } }],
      [{ type: "pam", settings: { uacInterceptionEnabled: true, more: 1 } }],
      [{ type: "pam", settings: { uacInterceptionEnabled: "yes" } }],
      [pam, pam],
      [{ type: "event_log", settings: { retentionDays: 6 } }],
      [{ type: "event_log", settings: { collectCategories: ["games"] } }],
      [{ type: "software_policy", settings: { mode: "blocklist", executable: [{ name: "Only a name" }] } }],
      [{ type: "software_policy", settings: { mode: "blocklist", executable: [{ name: "X", sha256: "abc" }] } }],
      [{ type: "software_policy", settings: { mode: "blocklist", executable: [{ name: "X", signer: " " }] } }],
      [
        {
          type: "software_policy",
          settings: { mode: "blocklist", executable: [{ name: "X", pathGlob: "?".repeat(33) }] },
        },
      ],
      [{ type: "software_policy", settings: { mode: "all", executable: [] } }],
    ])
      expect(refused(await create({ features })), JSON.stringify(features)).toEqual([400, "VALIDATION_ERROR"]);
    const twice = { level: "organization", targetId: acme.orgId };
    for (const assignments of [
      [twice, twice],
      [{ level: "site" }],
      [{ ...twice, priority: 1001 }],
      [{ ...twice, roleFilter: [] }],
      [{ ...twice, osFilter: ["beos"] }],
    ])
      expect(refused(await create({ assignments })), JSON.stringify(assignments)).toEqual([400, "VALIDATION_ERROR"]);
    expect(await count()).toBe(before);
    const hash = "AB".repeat(32);
    const { features } = await made({
      features: [
        { type: "software_policy", settings: { mode: "blocklist", executable: [{ name: "X", sha256: hash }] } },
      ],
    });
    expect(features[0].settings.executable[0].sha256).toBe(hash.toLowerCase());
  });

  it("are replaced as a whole by PUT, and changed in parts by PATCH; what stays keeps its row and its age", async () => {
    const [one, two] = [await device(), await device()];
    const policy = await made({
      ...{ description: "first", features: [pam, events] },
      assignments: [
        { level: "device", targetId: one },
        { level: "organization", targetId: acme.orgId },
      ],
    });
    const first = await stored(policy.id);
    server.clock.advance(DAY);
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
    const patched = await send("PATCH", `/policies/${policy.id}`, {
      features: [{ type: "pam", settings: {} }],
      assignments: [
        { level: "device", targetId: two },
        { level: "device", targetId: one, priority: 3 },
      ],
    });
    expect(patched.body).toMatchObject({ name: "P", description: "first", version: 2, features: [{ type: "pam" }] });
    expect(patched.body.features[0].settings).toEqual({ uacInterceptionEnabled: false });
    const second = await stored(policy.id);
    const kept = (all: { targetId: string; id: string; createdAt: string }[]) => {
      const row = all.find(({ targetId }) => targetId === one);
      return [row?.id, row?.createdAt];
    };
    expect(kept(second.assignments)).toEqual(kept(first.assignments));
    expect(second.features.map(({ id }) => id)).toEqual(
      first.features.filter(({ type }) => type === "pam").map(({ id }) => id),
    );
    expect(refused(await send("PATCH", `/policies/${policy.id}`, {}))).toEqual([400, "NO_UPDATES"]);
    expect(refused(await send("PATCH", `/policies/${policy.id}`, { version: 2 }))).toEqual([400, "NO_UPDATES"]);
    expect((await send("PATCH", `/policies/${policy.id}`, { status: "archived" })).body.features).toHaveLength(1);
    const put = await send("PUT", `/policies/${policy.id}`, { name: "Bare" });
    expect(put.body).toMatchObject({ name: "Bare", description: null, status: "active", version: 4 });
    expect([put.body.features, put.body.assignments]).toEqual([[], []]);
    const entries = await auditOf(
      server,
      ({ action, resourceId }) => action === "policy.update" && resourceId === policy.id,
    );
    expect(entries.filter(({ result }) => result === "success").map(({ details }) => details["changedFields"])).toEqual(
      [
        ["features", "assignments"],
        ["status"],
        ["name", "description", "status", "assignments", "features"].toSorted(),
      ].map((fields) => expect.toSatisfy((found: string[]) => found.toSorted().join() === fields.toSorted().join())),
    );
  });

  it("refuse whoever read another version, and let one of two at the same moment through", async () => {
    const policy = await made({ features: [events] });
    const before = await stored(policy.id);
    for (const method of ["PUT", "PATCH"]) {
      const answer = await send(method, `/policies/${policy.id}`, { name: "Late", version: 2 });
      expect([...refused(answer), answer.body.details]).toEqual([409, "CONCURRENT_MODIFICATION", { version: 1 }]);
    }
    expect(await stored(policy.id)).toEqual(before);
    const answers = await Promise.all(
      ["A", "B", "C"].map((name) => send("PATCH", `/policies/${policy.id}`, { name, version: 1 })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect((await stored(policy.id)).policy[0]).toMatchObject({ version: 2 });
  });

  it("cover what lies where they belong, and nothing else", async () => {
    const foreign = await makeSite(server, acme.secondOrgId, "Elsewhere");
    const gone = await device({ status: "decommissioned" });
    const unknown = server.services.random.uuid();
    const before = await count();
    const targets = [
      { level: "organization", targetId: acme.secondOrgId },
      { level: "site", targetId: foreign },
      { level: "partner", targetId: acme.partnerId },
      { level: "partner" },
      { level: "device", targetId: gone },
      { level: "device", targetId: other.deviceId },
      { level: "device", targetId: acme.siteId },
      { level: "site", targetId: other.siteId },
      { level: "device_group", targetId: other.deviceGroupId },
      { level: "organization", targetId: unknown },
    ];
    for (const target of targets) {
      const answer = await create({
        features: [events],
        assignments: [{ level: "organization", targetId: acme.orgId }, target],
      });
      expect([...refused(answer), answer.body.details], JSON.stringify(target)).toEqual([
        ...[400, "TARGET_NOT_IN_SCOPE"],
        { targets: [{ targetId: null, ...target }] },
      ]);
    }
    // Of a whole partner: anything of its organizations, and nothing of another partner's.
    for (const target of targets.slice(4)) {
      const answer = await create({ ownerScope: "partner", assignments: [target] });
      expect(refused(answer), JSON.stringify(target)).toEqual([400, "TARGET_NOT_IN_SCOPE"]);
    }
    const system = await server.signIn({ role: "System Admin" });
    const across = {
      ownerScope: "partner",
      partnerId: acme.partnerId,
      assignments: [{ level: "site", targetId: other.siteId }],
    };
    expect(refused(await create(across, system.token))).toEqual([400, "TARGET_NOT_IN_SCOPE"]);
    expect(await count()).toBe(before);
    const shared = await made({
      ownerScope: "partner",
      assignments: targets.slice(0, 2).concat({ level: "partner" } as never),
    });
    expect(shared).toMatchObject({ orgId: null, partnerId: acme.partnerId, ownerScope: "partner" });
    expect(shared.assignments.map(({ targetId }: { targetId: string }) => targetId)).toEqual([
      foreign,
      acme.secondOrgId,
      acme.partnerId,
    ]);
  });

  it("approve programs only where no device can bring itself", async () => {
    const [moving, still] = [await dynamic(), await group()];
    const covers = [{ level: "device_group", targetId: moving }];
    const before = await count();
    expect(refused(await create({ features: [listed("allowlist")], assignments: covers }))).toEqual([
      400,
      "TARGET_NOT_IN_SCOPE",
    ]);
    const byRole = [{ level: "organization", targetId: acme.orgId, roleFilter: ["server"] }];
    expect(refused(await create({ features: [listed("allowlist")], assignments: byRole }))).toEqual([
      400,
      "TARGET_NOT_IN_SCOPE",
    ]);
    expect(await count()).toBe(before);
    const denies = await made({ features: [listed("blocklist")], assignments: covers });
    const at = await stored(denies.id);
    // Neither by the settings alone, nor by the assignments alone.
    expect(refused(await send("PATCH", `/policies/${denies.id}`, { features: [listed("allowlist")] }))).toEqual([
      ...[400, "TARGET_NOT_IN_SCOPE"],
    ]);
    expect(await stored(denies.id)).toEqual(at);
    const approves = await made({
      features: [listed("allowlist")],
      assignments: [
        { level: "device_group", targetId: still },
        { level: "site", targetId: acme.siteId, osFilter: ["windows"] },
      ],
    });
    for (const assignments of [covers, byRole])
      expect(refused(await send("PATCH", `/policies/${approves.id}`, { assignments }))).toEqual([
        400,
        "TARGET_NOT_IN_SCOPE",
      ]);
    expect((await stored(approves.id)).assignments).toHaveLength(2);
  });

  it("are shown with the names of their targets", async () => {
    const [deviceId = ""] = await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId }]);
    const assignments = [
      { level: "device", targetId: deviceId },
      { level: "site", targetId: acme.siteId },
      { level: "organization", targetId: acme.orgId },
      { level: "partner" },
    ];
    const { id } = await made({ ownerScope: "partner", assignments });
    const { hostname } = await server.db
      .selectFrom("devices")
      .select("hostname")
      .where("id", "=", deviceId)
      .executeTakeFirstOrThrow();
    const nameIn = async (table: "sites" | "organizations" | "partners", row: string) =>
      (await server.db.selectFrom(table).select("name").where("id", "=", row).executeTakeFirstOrThrow()).name;
    const shown = (await send("GET", `/policies/${id}`)).body.assignments;
    expect(shown.map(({ targetName }: { targetName: string }) => targetName)).toEqual([
      hostname,
      await nameIn("sites", acme.siteId),
      await nameIn("organizations", acme.orgId),
      await nameIn("partners", acme.partnerId),
    ]);
  });

  it("are written with elevation in them by whoever may manage its policies, in every way of writing", async () => {
    const tech = await server.signIn({ role: "Partner Technician", partnerId: acme.partnerId });
    const plain = await made({ features: [events] });
    const before = await count();
    const denied = (answer: Awaited<ReturnType<typeof send>>) => [...refused(answer), answer.body.details];
    const refusal = [403, "PERMISSION_DENIED", { required: "pam:manage_policy" }];
    for (const feature of [pam, listed("audit")]) {
      expect(denied(await create({ features: [feature] }, tech.token))).toEqual(refusal);
      const policy = await made({ features: [feature, events] });
      const stays = await stored(policy.id);
      const path = `/policies/${policy.id}`;
      for (const [method, at, body] of [
        ["PATCH", path, { name: "Mine" }],
        ["PATCH", path, { features: [] }],
        ["PATCH", path, { assignments: [] }],
        ["PUT", path, { name: "Mine" }],
        ["POST", `${path}/deactivate`],
        ["DELETE", path],
      ] as [string, string, object?][])
        expect(denied(await send(method, at, body, tech.token)), `${method} ${JSON.stringify(body)}`).toEqual(refusal);
      expect(await stored(policy.id)).toEqual(stays);
      expect(denied(await send("PATCH", `/policies/${plain.id}`, { features: [feature] }, tech.token))).toEqual(
        refusal,
      );
      await send("DELETE", path);
    }
    expect(await count()).toBe(before);
    expect((await send("PATCH", `/policies/${plain.id}`, { name: "Events" }, tech.token)).status).toBe(200);
    expect((await create({ features: [events] }, tech.token)).status).toBe(201);
    expect((await send("GET", `/policies/${plain.id}`, undefined, tech.token)).status).toBe(200);
  });

  it("stop once, may be taken up again, and go with all that hangs on them", async () => {
    const id = await device();
    const policy = await made({ features: [pam], assignments: [{ level: "device", targetId: id }] });
    expect((await effective(id)).pam).toMatchObject({
      sourcePolicyId: policy.id,
      sourceLevel: "device",
      sourceTargetId: id,
    });
    const stopped = await send("POST", `/policies/${policy.id}/deactivate`);
    expect(stopped.body).toMatchObject({ status: "inactive", version: 2, features: [pam] });
    expect((await effective(id)).pam.sourcePolicyId).not.toBe(policy.id);
    expect((await send("GET", `/policies/${policy.id}`)).body.appliedDeviceCount).toBe(0);
    const again = await send("POST", `/policies/${policy.id}/deactivate`);
    expect([...refused(again), again.body.details]).toEqual([409, "INVALID_STATE", { status: "inactive" }]);
    await send("PATCH", `/policies/${policy.id}`, { status: "active" });
    expect((await effective(id)).pam.sourcePolicyId).toBe(policy.id);
    expect((await send("GET", `/policies/${policy.id}`)).body.appliedDeviceCount).toBe(1);
    expect((await send("DELETE", `/policies/${policy.id}`)).body).toEqual({ success: true });
    expect(await stored(policy.id)).toEqual({ policy: [], features: [], assignments: [] });
    expect(refused(await send("GET", `/policies/${policy.id}`))).toEqual([404, "NOT_FOUND"]);
    for (const action of ["policy.deactivate", "policy.delete"])
      expect(await auditOf(server, (entry) => entry.action === action && entry.resourceId === policy.id)).toMatchObject(
        action === "policy.delete" ? [{ result: "success" }] : [{ result: "success" }, { result: "failure" }],
      );
  });

  it("belong to an organization that can be written, and are so many", async () => {
    const policy = await made({ features: [events] });
    const set = (status: "active" | "archived") =>
      server.db.updateTable("organizations").set({ status }).where("id", "=", acme.orgId).execute();
    await set("archived");
    const before = await stored(policy.id);
    expect(refused(await create({}))).toEqual([409, "ORG_READ_ONLY"]);
    for (const [method, path, body] of [
      ["PATCH", "", { name: "X" }],
      ["PUT", "", { name: "X" }],
      ["POST", "/deactivate"],
      ["DELETE", ""],
    ] as [string, string, object?][])
      expect(refused(await send(method, `/policies/${policy.id}${path}`, body))).toEqual([409, "ORG_READ_ONLY"]);
    expect(await stored(policy.id)).toEqual(before);
    await set("active");
    const now = server.clock.now();
    const row = {
      orgId: other.secondOrgId,
      partnerId: null,
      name: "Full",
      description: null,
      status: "active" as const,
    };
    const rows = Array.from({ length: POLICIES_MAX }, () => ({
      ...{ ...row, id: server.services.random.uuid(), version: 1, createdBy: null, createdAt: now, updatedAt: now },
    }));
    for (let at = 0; at < rows.length; at += 100)
      await server.db
        .insertInto("configurationPolicies")
        .values(rows.slice(at, at + 100))
        .execute();
    const rival = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    const full = await create({ orgId: other.secondOrgId }, rival.token);
    expect([...refused(full), full.body.details]).toEqual([422, "LIMIT_REACHED", { max: POLICIES_MAX }]);
  });
});
