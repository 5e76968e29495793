import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { asSystem } from "#server/db/as-system";
import { makeDevices } from "../../../test/devices.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";
import { targetedDevices } from "./targets.ts";

const ROUNDS = 8;
const unmatched = {
  operator: "AND",
  conditions: [{ field: "tags", operator: "hasAny", value: ["nobody-has-it"] }],
};

describe.each(databases)("device groups that are changed by several on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let admin: SignedInUser;
  let number = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object) =>
    server.request(method, path, { token: admin.token, ...(body ? { body } : {}) });
  const group = async (more: object = {}): Promise<string> => {
    number += 1;
    return (await send("POST", "/groups", { orgId: acme.orgId, name: `Raced ${number}`, ...more })).body.id;
  };
  const device = async (): Promise<string> => {
    number += 1;
    const { orgId, siteId } = acme;
    const [id] = await makeDevices(server, [{ orgId, siteId, hostname: `raced-${number}` }]);
    return id as string;
  };
  const memberships = (column: "deviceId" | "groupId", id: string) =>
    server.db.selectFrom("deviceGroupMembers").select(["groupId", "deviceId"]).where(column, "=", id).execute();

  it("keep no pin of a device that goes out of service at the same moment", async () => {
    const groupId = await group({ type: "dynamic", filterConditions: unmatched });
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await device();
      const pin = () => send("POST", `/groups/${groupId}/devices/${id}/pin`);
      const [pinned, gone] = await Promise.all([pin(), send("DELETE", `/devices/${id}`), pin()]);
      expect(gone.status).toBe(200);
      expect([201, 404, 400]).toContain(pinned.status);
      expect(await memberships("deviceId", id)).toEqual([]);
    }
  });

  it("that are deleted leave no pin that is set at the same moment", async () => {
    const id = await device();
    for (let round = 0; round < ROUNDS; round += 1) {
      const groupId = await group({ type: "dynamic", filterConditions: unmatched });
      const pin = () => send("POST", `/groups/${groupId}/devices/${id}/pin`);
      const [pinned, removed] = await Promise.all([pin(), send("DELETE", `/groups/${groupId}`), pin()]);
      expect(removed.status).toBe(200);
      expect([201, 404]).toContain(pinned.status);
      expect(await memberships("groupId", groupId)).toEqual([]);
    }
  });

  it("name no custom field that is deleted while they are made or changed", async () => {
    const { orgId } = acme;
    const over = { operator: "AND", conditions: [{ field: "custom.units", operator: "greaterThan", value: 7 }] };
    const outcomes: [status: number, code: string | undefined][][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const body = { orgId, name: "Units", fieldKey: "units", type: "number" };
      const field = (await send("POST", "/custom-fields", body)).body.id as string;
      const id = await group({ type: "dynamic", filterConditions: unmatched });
      number += 1;
      const making = { orgId, name: `Raced ${number}`, type: "dynamic", filterConditions: over };
      const [changed, removed, made] = await Promise.all([
        round % 2 === 0 ? send("PATCH", `/groups/${id}`, { filterConditions: over }) : undefined,
        send("DELETE", `/custom-fields/${field}`),
        round % 2 === 0 ? undefined : send("POST", "/groups", making),
      ]);
      const other = changed ?? made;
      outcomes.push([
        [other?.status === 201 ? 200 : (other?.status as number), other?.body.code],
        [removed.status, removed.body.code],
      ]);
      for (const one of [id, made?.body.id]) if (one) await send("DELETE", `/groups/${one}`);
      await send("DELETE", `/custom-fields/${field}`);
    }
    const allowed = [
      [
        [200, undefined],
        [409, "IN_USE"],
      ],
      [
        [400, "FILTER_OPERATOR_NOT_ALLOWED"],
        [200, undefined],
      ],
    ];
    for (const outcome of outcomes) expect(allowed).toContainEqual(outcome);
  });

  it("are targets as of one moment: who goes from one to the other is met once", async () => {
    const [id, from, to] = [await device(), await group(), await group()];
    expect((await send("POST", `/groups/${from}/devices`, { deviceIds: [id] })).status).toBe(201);
    let isOver = false;
    const moving = (async () => {
      while (!isOver)
        await server.db.transaction().execute(async (tx) => {
          const [{ groupId }] = (await tx
            .deleteFrom("deviceGroupMembers")
            .where("deviceId", "=", id)
            .returning("groupId")
            .execute()) as [{ groupId: string }];
          const row = { orgId: acme.orgId, groupId: groupId === from ? to : from, deviceId: id, isPinned: false };
          await tx
            .insertInto("deviceGroupMembers")
            .values({ ...row, addedAt: server.clock.now(), addedBy: "manual" })
            .execute();
        });
    })();
    const db = asSystem(server.services, "evaluate device groups");
    for (let round = 0; round < 20 * ROUNDS; round += 1) expect(await targetedDevices(db, [from, to])).toEqual([id]);
    isOver = true;
    await moving;
  });
});
