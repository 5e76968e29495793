import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { approverWithout, PUBLIC_URL } from "../../../test/access-control/approvers.ts";
import { ElevationWorld } from "../../../test/access-control/elevation-world.ts";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser } from "../../../test/harness.ts";
import { PASSWORD, seedPerson } from "../../../test/people.ts";

const DAY = 86_400_000;
const nothing = { floorOverrides: {}, requireEnrollment: false, enforceFrom: null };

describe.each(databases)("what a partner demands of approvals on %s", (database) => {
  let world: ElevationWorld;
  let boss: SignedInUser;

  beforeAll(async () => {
    world = await ElevationWorld.start(database, { PUBLIC_URL });
    boss = await seedPerson(world.server, { role: "Partner Admin", partnerId: world.partnerId });
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    await world.server.db.deleteFrom("authenticatorPolicies").execute();
  });

  const show = async (who = boss, query = "") => world.request("GET", `/authenticator/policy${query}`, undefined, who);
  const put = (body: object, who = boss) => world.request("PUT", "/authenticator/policy", body, who);
  const inDays = (days: number) => new Date(world.server.clock.nowMs() + days * DAY).toISOString();

  /** Refused, and what was stored still holds. */
  async function refuses(body: object, code: string) {
    const before = (await show()).body;
    expect((await put(body)).body.code).toBe(code);
    expect((await show()).body).toEqual(before);
  }

  it("is nothing at first, and replaced as a whole", async () => {
    expect((await show()).body).toEqual(nothing);
    const all = { floorOverrides: { low: 2, high: 4 }, requireEnrollment: true, enforceFrom: inDays(90) };
    expect(await put(all)).toMatchObject({ status: 200, body: all });
    expect((await show()).body).toEqual(all);
    const entries = await auditEntries(world.server, "auth.authenticator.policy.update");
    expect(entries.at(-1)).toMatchObject({ partnerId: world.partnerId, details: { from: nothing, to: all } });
    // Not enforced yet, so a floor may go back to the usual one.
    expect((await put({ ...all, floorOverrides: {} })).status).toBe(200);
  });

  it("no floor goes below the usual one, nor while it is enforced below the stored one", async () => {
    for (const floorOverrides of [{ medium: 1 }, { high: 2 }, { critical: 3 }])
      await refuses({ floorOverrides, requireEnrollment: true }, "FLOOR_CANNOT_BE_LOWERED");
    expect((await put({ floorOverrides: { low: 3 }, requireEnrollment: true })).status).toBe(200);
    for (const floorOverrides of [{ low: 2 }, {}, { medium: 4 }])
      await refuses({ floorOverrides, requireEnrollment: true }, "FLOOR_CANNOT_BE_LOWERED");
    // Nor in the change that ends it.
    await refuses({ floorOverrides: {}, reauthPassword: PASSWORD }, "FLOOR_CANNOT_BE_LOWERED");
    expect((await put({ floorOverrides: { low: 4, medium: 3 }, requireEnrollment: true })).status).toBe(200);
    for (const level of [0, 5, 2.5, "3"]) await refuses({ floorOverrides: { low: level } }, "VALIDATION_ERROR");
    await refuses({ floorOverrides: { urgent: 4 } }, "VALIDATION_ERROR");
  });

  it("a day lies at most 90 days ahead, and one that has come is not put off", async () => {
    await refuses({ requireEnrollment: true, enforceFrom: inDays(90.01) }, "VALIDATION_ERROR");
    expect((await put({ requireEnrollment: true, enforceFrom: inDays(1) })).status).toBe(200);
    expect((await put({ requireEnrollment: true, enforceFrom: inDays(2) })).status).toBe(200);
    world.server.clock.advance(2 * DAY);
    await refuses({ requireEnrollment: true, enforceFrom: inDays(1) }, "VALIDATION_ERROR");
    await refuses({ requireEnrollment: false, enforceFrom: inDays(1), reauthPassword: PASSWORD }, "VALIDATION_ERROR");
    expect((await put({ requireEnrollment: true, enforceFrom: inDays(-3) })).status).toBe(200);
  });

  it("to demand no more takes the own password", async () => {
    await put({ requireEnrollment: true });
    await refuses({ requireEnrollment: false }, "reauth_required");
    await refuses({ requireEnrollment: false, reauthPassword: "Wrong-Horse-7" }, "reauth_required");
    await refuses({ requireEnrollment: false, reauthMfaCode: "123456" }, "reauth_required");
    const { status, body } = await put({ requireEnrollment: false, reauthPassword: PASSWORD });
    expect([status, body]).toEqual([200, nothing]);
    const entries = await auditEntries(world.server, "auth.authenticator.policy.update");
    expect(JSON.stringify(entries)).not.toContain(PASSWORD);
  });

  it("is shown to members of the partner who read its users, and set by those with full access", async () => {
    const technician = await world.server.signIn({ role: "Partner Technician", partnerId: world.partnerId });
    expect((await show(technician)).body).toEqual(nothing);
    expect((await put({ requireEnrollment: true }, technician)).body.code).toBe("PERMISSION_DENIED");
    const some = { orgAccess: "selected", orgIds: [world.orgId] } as const;
    const part = await world.server.signIn({
      role: "Partner Admin",
      partnerId: world.partnerId,
      ...some,
      orgIds: [world.orgId],
    });
    expect((await put({ requireEnrollment: true }, part)).body.code).toBe("FULL_PARTNER_ACCESS_REQUIRED");
    const customer = await approverWithout(world);
    for (const one of [await show(customer), await put({ requireEnrollment: true }, customer)])
      expect([one.status, one.body.code]).toEqual([403, "FORBIDDEN"]);
    expect((await show()).body).toEqual(nothing);
    const system = await world.server.signIn({ role: "System Admin" });
    expect((await show(system)).body.code).toBe("PARTNER_ID_REQUIRED");
    expect((await show(system, `?partnerId=${world.partnerId}`)).body).toEqual(nothing);
    const nobody = world.server.services.random.uuid();
    expect((await show(system, `?partnerId=${nobody}`)).status).toBe(404);
    expect((await show(boss, `?partnerId=${nobody}`)).body.code).toBe("PARTNER_ACCESS_DENIED");
  });

  it("of changes at the same moment none lowers what another has raised", async () => {
    await put({ requireEnrollment: true });
    const floors = [{ low: 4 }, { low: 3 }, { low: 2 }, {}];
    const answers = await Promise.all(
      [...floors, ...floors].map((floorOverrides) => put({ floorOverrides, requireEnrollment: true })),
    );
    expect(
      answers.filter(({ status }) => status !== 200).every(({ body }) => body.code === "FLOOR_CANNOT_BE_LOWERED"),
    ).toBe(true);
    expect((await show()).body.floorOverrides).toEqual({ low: 4 });
  });
});
