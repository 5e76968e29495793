import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { makeDevices } from "../../../test/devices.ts";
import { eventsOf } from "../../../test/events-of.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";
import { FIELDS_MAX } from "./create.ts";

describe.each(databases)("custom fields on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let admin: SignedInUser;
  let member: SignedInUser;
  /** Of the second organization. */
  let siteId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    member = await server.signIn({ role: "Org Admin", orgId: acme.orgId });
    siteId = (await send("POST", "/orgs/sites", { orgId: acme.secondOrgId, name: "Depot" })).body.id;
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, path, { token, ...(body ? { body } : {}) });
  const create = (body: object, token?: string) =>
    send("POST", "/custom-fields", { name: "Field", type: "text", ...body }, token);
  const made = async (body: object) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const shared = (body: object) => made({ ownerScope: "partner", ...body });
  const device = async (change: object = {}) =>
    (await makeDevices(server, [{ orgId: acme.orgId, siteId: acme.siteId, ...change }]))[0] as string;
  const values = async (id: string, token?: string) =>
    (await send("GET", `/devices/${id}/custom-fields`, undefined, token)).body.customFields;
  const set = (id: string, body: object, token?: string) => send("PATCH", `/devices/${id}/custom-fields`, body, token);
  const stored = async (id: string) =>
    (await server.db.selectFrom("devices").select("customFields").where("id", "=", id).executeTakeFirstOrThrow())
      .customFields;

  it("of a partner are read by members of its organizations, and changed by none of them", async () => {
    const field = await shared({ fieldKey: "warranty", type: "date" });
    expect(field).toMatchObject({ ownerScope: "partner", orgId: null, partnerId: acme.partnerId });
    expect((await send("GET", `/custom-fields/${field.id}`, undefined, member.token)).body.fieldKey).toBe("warranty");
    const list = await send("GET", "/custom-fields?search=WARR", undefined, member.token);
    expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([field.id]);
    const refused = await send("PATCH", `/custom-fields/${field.id}`, { name: "Mine" }, member.token);
    expect([refused.status, refused.body.code]).toEqual([403, "FULL_PARTNER_ACCESS_REQUIRED"]);
    expect((await create({ ownerScope: "partner", fieldKey: "mine" }, member.token)).body.code).toBe(
      "FULL_PARTNER_ACCESS_REQUIRED",
    );
    const some = await server.signIn({
      role: "Partner Technician",
      partnerId: acme.partnerId,
      orgAccess: "selected",
      orgIds: [acme.orgId],
    });
    expect((await send("PATCH", `/custom-fields/${field.id}`, { name: "x" }, some.token)).body.code).toBe(
      "FULL_PARTNER_ACCESS_REQUIRED",
    );
    expect((await send("GET", `/custom-fields/${field.id}`)).body.name).toBe("Field");
  });

  it("have a key that is unique across an organization and its partner, whoever comes at once", async () => {
    await made({ orgId: acme.orgId, fieldKey: "floor" });
    const twice = await create({ ownerScope: "partner", fieldKey: "floor" });
    expect([twice.status, twice.body.code]).toEqual([409, "DUPLICATE"]);
    // Another organization may have it.
    await made({ orgId: acme.secondOrgId, fieldKey: "floor" });
    const owners = [{ ownerScope: "partner" }, { orgId: acme.orgId }, { orgId: acme.orgId }, { ownerScope: "partner" }];
    const race = await Promise.all(owners.map((owner) => create({ ...owner, fieldKey: "raced" })));
    expect(race.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
  });

  it("number at most 200 per owner, also when they are made at once", async () => {
    const tenant = await seedTenant(server.db, server.services, "many");
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    const before = await server.db.selectFrom("customFields").select("id").where("orgId", "=", tenant.orgId).execute();
    const now = server.clock.now();
    const plain = { orgId: tenant.orgId, partnerId: null, name: "Field", type: "text" as const, options: null };
    const rows = Array.from({ length: FIELDS_MAX - 4 - before.length }, (_, number) => ({
      ...plain,
      ...{ id: server.services.random.uuid(), fieldKey: `key_${number}`, required: false, defaultJson: null },
      ...{ deviceTypes: null, createdAt: now, updatedAt: now },
    }));
    await server.db.insertInto("customFields").values(rows).execute();
    const burst = await Promise.all(
      Array.from({ length: 10 }, (_, number) => create({ orgId: tenant.orgId, fieldKey: `more_${number}` }, token)),
    );
    expect(burst.filter(({ status }) => status === 201)).toHaveLength(4);
    expect(burst.filter(({ body }) => body.code === "LIMIT_REACHED")).toHaveLength(6);
    expect((await create({ ownerScope: "partner", fieldKey: "own_count" }, token)).status).toBe(201);
  });

  it("are listed newest first, by organization, type, system and text", async () => {
    const tenant = await seedTenant(server.db, server.services, "listed");
    await server.db.deleteFrom("customFields").where("orgId", "=", tenant.orgId).execute();
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: tenant.partnerId });
    for (const body of [
      { ownerScope: "partner", fieldKey: "all_over", type: "number" },
      { orgId: tenant.orgId, fieldKey: "here", name: "50% Here" },
      { orgId: tenant.secondOrgId, fieldKey: "there", deviceTypes: ["macos"] },
      { orgId: tenant.orgId, fieldKey: "mac_only", deviceTypes: ["macos", "linux"] },
    ]) {
      expect((await create(body, token)).status).toBe(201);
      server.clock.advance(1_000);
    }
    const keys = async (query = "") =>
      (await send("GET", `/custom-fields?${query}`, undefined, token)).body.data.map(
        ({ fieldKey }: { fieldKey: string }) => fieldKey,
      );
    expect(await keys()).toEqual(["mac_only", "there", "here", "all_over"]);
    expect(await keys(`orgId=${tenant.orgId}`)).toEqual(["mac_only", "here", "all_over"]);
    expect(await keys("type=number")).toEqual(["all_over"]);
    expect(await keys("deviceType=linux")).toEqual(["mac_only", "here", "all_over"]);
    expect(await keys("search=%25")).toEqual(["here"]);
    expect(await keys("search=MAC_")).toEqual(["mac_only"]);
    const foreign = await send("GET", `/custom-fields?orgId=${acme.orgId}`, undefined, token);
    expect([foreign.status, foreign.body.code]).toEqual([403, "ORG_ACCESS_DENIED"]);
    await server.db
      .updateTable("organizations")
      .set({ status: "archived" })
      .where("id", "=", tenant.secondOrgId)
      .execute();
    expect(await keys()).toEqual(["mac_only", "here", "all_over"]);
  });

  it("are read and never written by who is confined to sites, who sets values of devices there alone", async () => {
    const confined = await server.signIn({ role: "Org Admin", orgId: acme.orgId, siteIds: [acme.secondSiteId] });
    const { id } = await made({ orgId: acme.orgId, fieldKey: "confined" });
    expect((await send("GET", `/custom-fields/${id}`, undefined, confined.token)).status).toBe(200);
    for (const answer of [
      await create({ fieldKey: "theirs" }, confined.token),
      await send("PATCH", `/custom-fields/${id}`, { name: "Theirs" }, confined.token),
      await send("DELETE", `/custom-fields/${id}`, undefined, confined.token),
    ])
      expect([answer.status, answer.body.code]).toEqual([403, "SITE_ACCESS_DENIED"]);
    const [here, there] = [await device({ siteId: acme.secondSiteId }), await device()];
    expect((await set(here, { confined: "x" }, confined.token)).status).toBe(200);
    const away = await set(there, { confined: "x" }, confined.token);
    expect([away.status, away.body.code]).toEqual([403, "SITE_ACCESS_DENIED"]);
    expect(await stored(there)).toEqual({});
  });

  it("never change key and type", async () => {
    const { id } = await made({ orgId: acme.orgId, fieldKey: "fixed" });
    for (const [field, body] of Object.entries({ fieldKey: { fieldKey: "other" }, type: { type: "date" } })) {
      const answer = await send("PATCH", `/custom-fields/${id}`, body);
      expect([answer.status, answer.body.code, answer.body.details]).toEqual([400, "FIELD_IMMUTABLE", { field }]);
    }
    const same = await send("PATCH", `/custom-fields/${id}`, { fieldKey: "fixed", type: "text", name: "New" });
    expect(same.body).toMatchObject({ name: "New", fieldKey: "fixed" });
    const crossed = await send("PATCH", `/custom-fields/${id}`, { options: { minLength: 5 }, defaultValue: "abc" });
    expect(crossed.body.details).toMatchObject([{ path: "defaultValue" }]);
  });

  it("give devices values by their type, over defaults of the fields that they have", async () => {
    await shared({ fieldKey: "seats", type: "number", options: { min: 1 }, defaultValue: "3" });
    await made({ orgId: acme.orgId, fieldKey: "apple_only", defaultValue: "yes", deviceTypes: ["macos"] });
    await made({ orgId: acme.orgId, fieldKey: "needed", required: true });
    const id = await device();
    expect(await values(id, member.token)).toEqual({ seats: 3 });
    const first = await set(id, { seats: "12.5", needed: "here", warranty: "2027-01-31" }, member.token);
    expect(first.body.customFields).toEqual({ seats: 12.5, needed: "here", warranty: "2027-01-31" });
    expect((await set(id, { seats: null })).body.customFields).toMatchObject({ seats: 3 });
    const wrong = await set(id, { seats: 0, needed: null, apple_only: "x", warranty: "soon" });
    expect([wrong.status, wrong.body.code]).toEqual([400, "CUSTOM_FIELD_INVALID"]);
    expect(wrong.body.details.errors.map(({ key }: { key: string }) => key).toSorted()).toEqual([
      "apple_only",
      "needed",
      "seats",
      "warranty",
    ]);
    const unknown = await set(id, { seats: 5, nothing: 1, __x: 2 });
    expect(unknown.body).toMatchObject({ code: "CUSTOM_FIELD_UNKNOWN", details: { keys: ["nothing", "__x"] } });
    expect(await stored(id)).toEqual({ needed: "here", warranty: "2027-01-31" });
  });

  it("tell of values that changed by name, and nothing where none did", async () => {
    const id = await device({ hostname: "told-01" });
    await set(id, { floor: "Attic secret", needed: "x" });
    await set(id, { floor: "Attic secret" });
    expect(await eventsOf(server.db, id)).toMatchObject([
      { kind: "device.updated", orgId: acme.orgId, data: { changedFields: ["custom.floor", "custom.needed"] } },
    ]);
    const entries = (await auditEntries(server, "device.custom_field.update")).filter((one) => one.resourceId === id);
    expect(entries.map(({ details }) => details["changedFields"])).toEqual([["floor", "needed"], []]);
    expect(JSON.stringify(entries)).not.toContain("Attic");
  });

  it("keep every value when two people set different ones at once", async () => {
    const id = await device();
    const keys = ["floor", "needed", "fixed", "raced"];
    const answers = await Promise.all(keys.map((key) => set(id, { [key]: key })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await stored(id)).toEqual(Object.fromEntries(keys.map((key) => [key, key])));
  });

  it("take at most 64 KB of values per device", async () => {
    const id = await device();
    const long = "é".repeat(9_000);
    for (const key of ["floor", "needed", "fixed"]) expect((await set(id, { [key]: long })).status).toBe(200);
    const over = await set(id, { raced: long });
    expect([over.status, over.body.code]).toEqual([400, "CUSTOM_FIELD_INVALID"]);
    expect(Object.keys(await stored(id))).toHaveLength(3);
  });

  it("take their values along when they are deleted, from the devices of their owner alone", async () => {
    const common = await shared({ fieldKey: "common" });
    const own = await made({ orgId: acme.orgId, fieldKey: "local" });
    await made({ orgId: acme.secondOrgId, fieldKey: "local" });
    const here = await device({ customFields: { common: "1", local: "2", floor: "3" } });
    const there = await device({ orgId: acme.secondOrgId, siteId, customFields: { common: "1", local: "2" } });
    expect((await send("DELETE", `/custom-fields/${own.id}`)).status).toBe(200);
    expect([await stored(here), await stored(there)]).toEqual([
      { common: "1", floor: "3" },
      { common: "1", local: "2" },
    ]);
    expect((await send("DELETE", `/custom-fields/${common.id}`)).status).toBe(200);
    expect([await stored(here), await stored(there)]).toEqual([{ floor: "3" }, { local: "2" }]);
    expect((await send("DELETE", `/custom-fields/${common.id}`)).status).toBe(404);
  });

  it("leave no value behind when one is stored while they are deleted", async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => device()));
    const { id } = await made({ orgId: acme.orgId, fieldKey: "leaving" });
    await Promise.all([
      ...ids.slice(0, 3).map((one) => set(one, { leaving: "x" })),
      send("DELETE", `/custom-fields/${id}`),
      ...ids.slice(3).map((one) => set(one, { leaving: "x" })),
    ]);
    for (const one of ids) expect(await stored(one)).toEqual({});
  });

  it("have values for API keys with the scope, as the key's organization, entered as the key's doing", async () => {
    const id = await device();
    const foreign = await device({ orgId: acme.secondOrgId, siteId });
    const key = async (scopes: string[]) => {
      const made = await send("POST", "/api-keys", { orgId: acme.orgId, name: "inventory", scopes });
      return made.body as { id: string; key: string };
    };
    const [reads, writes] = [await key(["devices:read"]), await key(["devices:write"])];
    const asked = (method: string, path: string, { key: material }: { key: string }, token?: string) =>
      server.request(method, path, {
        headers: { "x-api-key": material },
        ...(token ? { token } : {}),
        ...(method === "PATCH" ? { body: { floor: "2" } } : {}),
      });
    const path = `/devices/${id}/custom-fields`;
    expect((await asked("PATCH", path, reads, admin.token)).body.code).toBe("API_KEY_SCOPE_REQUIRED");
    expect((await asked("PATCH", path, writes)).body.customFields).toMatchObject({ floor: "2" });
    expect((await asked("GET", path, writes)).body.code).toBe("API_KEY_SCOPE_REQUIRED");
    expect((await asked("GET", path, reads)).body.customFields).toMatchObject({ floor: "2" });
    expect((await asked("GET", `/devices/${foreign}/custom-fields`, reads)).status).toBe(404);
    expect((await asked("GET", "/custom-fields", reads)).status).toBe(401);
    const entry = (await auditEntries(server, "device.custom_field.update")).find(
      (one) => one.resourceId === id && one.result === "success",
    );
    expect(entry).toMatchObject({ actorType: "api_key", actorId: writes.id, orgId: acme.orgId });
  });
});
