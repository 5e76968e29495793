import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { migration } from "#server/db/migrations/202611290410-credentials-exported-custom-fields";
import { asOwner } from "../../../test/as-owner.ts";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

interface Row {
  id: string;
  orgId: string | null;
  siteId: string | null;
  sourceUpdatedAt: string;
  revision?: string;
  removed?: true;
  fieldKey?: string;
  deviceId?: string;
  value?: unknown;
}

describe.each(databases)("exports of custom fields on %s", (database) => {
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
  const values = (query = "", key?: string) => rows(`/custom-field-values${query}`, key);
  const manage = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, path, { token, ...(body ? { body } : {}) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const define = async (fieldKey: string, field: object) =>
    (await manage("POST", "/custom-fields", { name: fieldKey, type: "text", fieldKey, ...field })).id as string;
  const store = (body: object, id = acme.deviceId) => manage("PATCH", `/devices/${id}/custom-fields`, body);
  const setDevice = (change: object, id = acme.deviceId) =>
    server.db.updateTable("devices").set(change).where("id", "=", id).execute();
  const ofPartner = { ownerScope: "partner" };
  const confinedKey = async () => {
    const { id } = await manage("POST", "/partner-service-principals", {
      ...{ name: "confined", orgAccess: "selected", orgIds: [acme.orgId] },
    });
    return (await manage("POST", `/partner-service-principals/${id}/keys`, { name: "k" })).key as string;
  };

  it("show definitions and the values that devices have of their own", async () => {
    const options = { min: 1, max: 50 };
    const floor = await define("floor", { orgId: acme.orgId, type: "number", options, defaultValue: 3 });
    const asset = await define("asset", { ...ofPartner, required: true, deviceTypes: ["windows"] });
    const theirs = await define("theirs", { orgId: acme.secondOrgId });
    await store({ asset: "A1" });
    const shown = { siteId: null, sourceUpdatedAt: expect.stringMatching(/Z$/), revision: expect.any(String) };
    const ofFloor = {
      ...shown,
      id: floor,
      orgId: acme.orgId,
      name: "floor",
      fieldKey: "floor",
      type: "number",
      options,
    };
    const ofAsset = { ...shown, id: asset, orgId: null, name: "asset", fieldKey: "asset", type: "text", options: null };
    const mine = [
      { ...ofFloor, required: false, defaultValue: 3, deviceTypes: null },
      { ...ofAsset, required: true, defaultValue: null, deviceTypes: ["windows"] },
    ].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const defined = (all: Row[]) => all.filter(({ id }) => [floor, asset, theirs].includes(id));
    expect(defined(await rows(`/custom-fields?orgId=${acme.orgId}`))).toEqual(mine);
    expect(defined(await rows("/custom-fields", await confinedKey()))).toEqual(mine);
    expect(defined(await rows("/custom-fields"))).toHaveLength(3);
    expect(await values()).toEqual([
      {
        ...{ ...shown, id: expect.any(String), orgId: acme.orgId, siteId: acme.siteId, deviceId: acme.deviceId },
        ...{ definitionId: asset, fieldKey: "asset", type: "text", value: "A1" },
      },
    ]);
    const stranger = await seedTenant(server.db, server.services, `stranger-${made}`);
    expect(defined(await rows("/custom-fields", stranger.partnerKey))).toEqual([]);
    expect(await values("", stranger.partnerKey)).toEqual([]);
    expect((await get(`/custom-field-values?siteId=${acme.siteId}`)).body.code).toBe("VALIDATION_ERROR");
  });

  it("tell of each value what becomes of it, and nothing while its device merely reports", async () => {
    const [floor, room] = [await define("floor", { orgId: acme.orgId }), await define("room", ofPartner)];
    const idOf = async (key: string) => (await values()).find(({ fieldKey }) => fieldKey === key)?.id;
    /** What a change told, as the key of a value or the id of one that went. */
    const told = async (change: () => Promise<unknown>) => {
      const start = await moment();
      await change();
      return (await values(`?updatedSince=${start}`))
        .map(({ id, fieldKey, value, removed }) => (removed ? id : `${fieldKey}=${value}`))
        .toSorted();
    };
    expect(await told(() => store({ floor: "1", room: "2" }))).toEqual(["floor=1", "room=2"]);
    const kept = await idOf("room");
    expect(await told(() => store({ floor: "9" }))).toEqual(["floor=9"]);
    expect(await told(() => setDevice({ status: "offline", lastUser: "x", tags: ["t"], displayName: "n" }))).toEqual(
      [],
    );
    expect(await told(() => setDevice({ siteId: acme.secondSiteId }))).toEqual(["floor=9", "room=2"]);
    expect((await values()).map(({ siteId }) => siteId)).toEqual([acme.secondSiteId, acme.secondSiteId]);
    const gone = await idOf("floor");
    expect(await told(() => store({ floor: null }))).toEqual([gone]);
    expect(await idOf("room")).toBe(kept);
    await store({ floor: "1" });
    const both = [kept, await idOf("floor")].toSorted();
    expect(await told(() => setDevice({ status: "decommissioned" }))).toEqual(both);
    expect(await values()).toEqual([]);
    expect(await told(() => setDevice({ status: "online" }))).toEqual(["floor=1", "room=2"]);
    const [ofFloor, ofRoom] = [await idOf("floor"), await idOf("room")];
    const start = await moment();
    expect(await told(() => server.db.deleteFrom("customFields").where("id", "=", floor).execute())).toEqual([ofFloor]);
    expect(await rows(`/custom-fields?updatedSince=${start}`)).toMatchObject([
      { id: floor, orgId: acme.orgId, siteId: null, removed: true },
    ]);
    const before = await moment();
    await manage("PATCH", `/custom-fields/${room}`, { name: "Room" });
    expect(await rows(`/custom-fields?updatedSince=${before}`)).toMatchObject([
      { id: room, orgId: null, name: "Room" },
    ]);
    await server.db.deleteFrom("customFields").where("id", "=", room).execute();
    expect(await rows(`/custom-fields?updatedSince=${before}&orgId=${acme.orgId}`)).toMatchObject([
      { id: room, orgId: null, removed: true },
    ]);
    expect((await values(`?updatedSince=${before}`)).map(({ id }) => id)).toEqual([ofRoom]);
  });

  it("tell of values that move with their device where they were, and to whom reaches it where they are", async () => {
    await define("room", ofPartner);
    await define("floor", { orgId: acme.orgId });
    const siteId = await makeSite(server, acme.secondOrgId);
    const [id = ""] = await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId }]);
    await store({ room: "1", floor: "2" }, id);
    const key = await confinedKey();
    const old = (await values()).map((row) => row.id).toSorted();
    expect(old).toHaveLength(2);
    const start = await moment();
    await setDevice({ orgId: acme.secondOrgId, siteId } as never, id);
    const seen = await values(`?updatedSince=${start}`);
    expect(
      seen
        .filter(({ removed }) => removed)
        .map((row) => row.id)
        .toSorted(),
    ).toEqual(old);
    const here = { deviceId: id, orgId: acme.secondOrgId, siteId, fieldKey: "room", value: "1" };
    expect(seen.filter(({ removed }) => !removed)).toMatchObject([here]);
    expect((await values(`?updatedSince=${start}`, key)).map((row) => [row.id, row.removed]).toSorted()).toEqual(
      old.map((one) => [one, true]),
    );
    expect(await values()).toMatchObject([here]);
    expect(await values("", key)).toEqual([]);
  });

  it("withhold values and fields that look like secrets", async () => {
    const field = await define("note", { ...ofPartner, defaultValue: "password=hunter2" });
    await store({ note: "pwd=hunter2" });
    const answers = [await get("/custom-fields"), await get("/custom-field-values")];
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain("hunter2");
    expect(answers.map(({ body }) => body.blocked)).toMatchObject([
      [{ resource: "custom-fields", id: field, orgId: null, fieldPaths: ["defaultValue"] }],
      [{ resource: "custom-field-values", orgId: acme.orgId, fieldPaths: ["value"] }],
    ]);
  });

  it("take what was there before the upgrade as it was", async () => {
    await define("floor", { orgId: acme.orgId });
    await define("room", ofPartner);
    await store({ floor: "1", room: "2" });
    const shown = async () => ({
      fields: (await rows("/custom-fields")).map(({ id, orgId }) => [id, orgId]),
      values: (await values()).map(({ deviceId, fieldKey, value }) => [deviceId, fieldKey, value]).toSorted(),
    });
    const before = await shown();
    const backfill = migration
      .statements(server.services.store.dialect)
      .filter((text) => /^insert into export_rows[^;]*'custom_field/.test(text));
    expect(backfill).toHaveLength(2);
    await asOwner(server, ["delete from export_rows where kind like 'custom_field%'", ...backfill]);
    expect(await shown()).toEqual(before);
    expect(before.values).toHaveLength(2);
  });
});
