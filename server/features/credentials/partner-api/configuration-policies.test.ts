import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { makeSite } from "../../../test/enroll.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

interface Row {
  id: string;
  orgId: string | null;
  policyName?: string;
  targetId?: string;
  removed?: true;
}

const pam = { type: "pam", settings: { uacInterceptionEnabled: true } };

describe.each(databases)("exports of configuration policies on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
  });
  beforeEach(async () => {
    made += 1;
    acme = await seedTenant(server.db, server.services, `tenant-${made}`);
    token = (await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId })).token;
  });
  afterAll(() => server?.stop());

  const get = (path: string, key = acme.partnerKey) =>
    server.request("GET", `/partner-api${path}`, { headers: { "x-api-key": key } });
  const moment = async (): Promise<string> => (await get("/organizations?limit=1")).body.snapshotAt;
  const rows = async (path: string, key?: string): Promise<Row[]> => {
    const { status, body } = await get(path, key);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  };
  const since = async (path: string, at: string, key?: string) => rows(`${path}?updatedSince=${at}`, key);
  const manage = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, path, { token, ...(body ? { body } : {}) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const policy = async (body: object) => manage("POST", "/policies", { name: "P", features: [pam], ...body });
  const ids = (all: readonly Row[]) => all.map(({ id }) => id).toSorted();
  const shared = { ownerScope: "partner" };

  it("have policies and assignments of organizations within reach and of the partner, for others only these", async () => {
    const second = { level: "organization", targetId: acme.secondOrgId };
    const wide = await policy({ ...shared, description: "all", assignments: [{ level: "partner" }, second] });
    const theirs = await policy({ orgId: acme.secondOrgId, assignments: [second] });
    const { id } = await manage("POST", "/partner-service-principals", {
      ...{ name: "confined", orgAccess: "selected", orgIds: [acme.orgId] },
    });
    const { key } = await manage("POST", `/partner-service-principals/${id}/keys`, { name: "one" });
    const all = await rows("/configuration-policies");
    expect(ids(all)).toEqual([acme.configurationPolicyId, wide.id, theirs.id].toSorted());
    expect(all.find((row) => row.id === wide.id)).toMatchObject({
      ...{ orgId: null, siteId: null, name: "P", description: "all", status: "active", revision: expect.any(String) },
      features: [{ id: wide.features[0].id, ...pam }],
    });
    expect(ids(await rows("/configuration-policies", key))).toEqual([acme.configurationPolicyId, wide.id].toSorted());
    const assigned = await rows("/configuration-assignments");
    expect(assigned).toHaveLength(4);
    expect(assigned.find((row) => row.targetId === acme.partnerId)).toMatchObject({
      ...{
        orgId: null,
        policyId: wide.id,
        policyName: "P",
        level: "partner",
        priority: 0,
        roleFilter: null,
        osFilter: null,
      },
    });
    const seen = await rows("/configuration-assignments", key);
    expect(seen.map(({ targetId }) => targetId).toSorted()).toEqual([acme.orgId, acme.partnerId].toSorted());
    expect(JSON.stringify(seen)).not.toContain(acme.secondOrgId);
    const ofOrg = await rows(`/configuration-assignments?orgId=${acme.secondOrgId}`);
    expect(ofOrg).toHaveLength(3);
  });

  it("tell what changed: a name, settings, a filter, what came and what went with its policy or its target", async () => {
    const site = await makeSite(server, acme.orgId, "Closing");
    const target = { level: "site", targetId: site };
    const one = await policy({ orgId: acme.orgId, assignments: [target] });
    const assignmentId = one.assignments[0].id as string;
    const path = `/policies/${one.id}`;
    const told = async (change: () => Promise<unknown>) => {
      const at = await moment();
      await change();
      return [await since("/configuration-policies", at), await since("/configuration-assignments", at)].map((found) =>
        found.map(({ id, removed }) => [id, removed ?? false]),
      );
    };
    expect(await told(() => manage("PATCH", path, { name: "Other" }))).toEqual([
      [[one.id, false]],
      [[assignmentId, false]],
    ]);
    const off = { features: [{ type: "pam", settings: {} }] };
    expect(await told(() => manage("PATCH", path, off))).toEqual([[[one.id, false]], []]);
    expect(await told(() => manage("PATCH", path, { features: [] }))).toEqual([[[one.id, false]], []]);
    expect(await told(() => manage("PATCH", path, { assignments: [{ ...target, priority: 4 }] }))).toEqual([
      ...[[], [[assignmentId, false]]],
    ]);
    expect(await told(() => manage("POST", `${path}/deactivate`))).toEqual([[[one.id, false]], []]);
    expect(await told(() => manage("DELETE", `/orgs/sites/${site}`))).toEqual([[], [[assignmentId, true]]]);
    const again = await policy({ ...shared, assignments: [{ level: "organization", targetId: acme.orgId }] });
    expect(await told(() => manage("DELETE", `/policies/${again.id}`))).toEqual([
      ...[[[again.id, true]], [[again.assignments[0].id, true]]],
    ]);
  });

  it("take the scope of configuration", async () => {
    const { id } = await manage("POST", "/partner-service-principals", { name: "devices", scopes: ["devices:read"] });
    const { key } = await manage("POST", `/partner-service-principals/${id}/keys`, { name: "one" });
    for (const path of ["/configuration-policies", "/configuration-assignments"])
      expect(await get(path, key)).toMatchObject({ status: 403, body: { code: "API_KEY_SCOPE_REQUIRED" } });
  });
});
