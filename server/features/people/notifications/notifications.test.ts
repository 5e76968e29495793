import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainNotification, seedNotification } from "#fixtures/nouns/people/notifications";
import { plainMembership } from "#fixtures/nouns/people/users";
import { plainProvider } from "#fixtures/nouns/sign-in/sso-providers";
import { builtInRoleId } from "#server/access/roles";
import { DAY, HOUR } from "#server/platform/clock";
import { makeSite } from "../../../test/enroll.ts";
import { joinOrganization, providerSession } from "../../../test/guest.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { type Notice, notify } from "./notify.ts";
import { purgeNotifications } from "./purge.ts";

describe.each(databases)("notifications on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let [orgId, nextDoorId, strangeOrgId]: string[] = [];
  let siteId: string;
  let otherSiteId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    const home = await seedPartner(server, "home", ["harbor", "island"]);
    partnerId = home.partnerId;
    [orgId, nextDoorId] = home.orgIds;
    [strangeOrgId] = (await seedPartner(server, "strange", ["strange"])).orgIds;
    siteId = await makeSite(server, orgId as string, "HQ");
    otherSiteId = await makeSite(server, orgId as string, "Quay");
  });
  afterAll(() => server?.stop());

  const ofOrg = () => ({ orgId: orgId as string, siteId: null });
  const tell = (notice: Partial<Notice> & Pick<Notice, "to">) =>
    server.db.transaction().execute((tx) =>
      notify(tx, server.services, {
        ...{ about: ofOrg(), type: "device" as const, priority: "normal" as const },
        ...{ title: "Something happened", message: "Look at it.", ...notice },
      }),
    );
  const request = (method: string, path: string, { token }: { token: string }, body?: object) =>
    server.request(method, `/notifications${path}`, { token, ...(body ? { body } : {}) });
  const listed = async (who: { token: string }, query = "") => (await request("GET", `?limit=100${query}`, who)).body;
  const titles = async (who: { token: string }): Promise<string[]> =>
    (await listed(who)).data.map(({ title }: { title: string }) => title);
  const member = (options = {}) => server.signIn({ role: "Org Admin", orgId: orgId as string, ...options });
  const drop = () => server.db.deleteFrom("notifications").execute();

  it("are listed, counted, read once, marked unread, deleted and cleared", async () => {
    const who = await member();
    for (const type of ["alert", "device", "device"] as const) await tell({ to: { userId: who.userId }, type });
    const all = await listed(who);
    expect(all).toMatchObject({ unreadCount: 3, pagination: { total: 3 } });
    expect(all.data[0]).toMatchObject({
      ...{ userId: who.userId, partnerId, orgId, type: "device", priority: "normal", title: "Something happened" },
      ...{ message: "Look at it.", link: null, metadata: {}, read: false, readAt: null },
    });
    const id = all.data[0].id as string;
    const first = (await request("PATCH", `/${id}`, who)).body;
    expect(first).toMatchObject({ id, read: true, readAt: server.clock.now() });
    server.clock.advance(1_000);
    expect((await request("PATCH", `/${id}`, who, { read: true })).body).toEqual(first);
    expect((await listed(who, "&unreadOnly=true")).data).toHaveLength(2);
    expect(await listed(who, "&type=alert")).toMatchObject({ unreadCount: 2, pagination: { total: 1 } });
    expect((await request("GET", "/unread-count", who)).body).toEqual({ count: 2 });
    expect((await request("PATCH", `/${id}`, who, { read: false })).body).toMatchObject({ read: false, readAt: null });
    expect((await request("DELETE", `/${id}`, who)).body).toEqual({ success: true });
    expect((await request("DELETE", `/${id}`, who)).status).toBe(404);
    expect((await request("PATCH", `/${id}`, who)).status).toBe(404);
    expect((await request("DELETE", "", who)).body).toEqual({ success: true, deleted: 2 });
    expect((await request("DELETE", "", who)).body).toEqual({ success: true, deleted: 0 });
    await server.settled();
    const entries = server.db.selectFrom("auditLogs").select("action").where("actorId", "=", who.userId);
    expect(await entries.execute()).toEqual([]);
  });

  it("tell all who hold the permission and reach organization and site, and nobody else", async () => {
    await drop();
    const told = {
      admin: await member(),
      there: await member({ siteIds: [siteId, otherSiteId] }),
      staff: await server.signIn({ role: "Partner Admin", partnerId }),
      chosen: await server.signIn({
        ...{ role: "Partner Admin", partnerId, orgAccess: "selected", orgIds: [orgId as string] },
      }),
    };
    const elsewhere = await member({ siteIds: [otherSiteId] });
    const disabled = await member();
    const invited = await member();
    await server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", disabled.userId).execute();
    const unaccepted = server.db.updateTable("organizationUsers").set({ acceptedAt: null });
    await unaccepted.where("userId", "=", invited.userId).execute();
    await Promise.all([
      member({ permissions: ["devices:read"] }),
      server.signIn({ role: "Partner Admin", partnerId, orgAccess: "none" }),
      server.signIn({ role: "Partner Admin", partnerId, orgAccess: "selected", orgIds: [nextDoorId as string] }),
      server.signIn({ role: "Org Admin", orgId: nextDoorId as string }),
      server.signIn({ role: "Org Admin", orgId: strangeOrgId as string }),
      server.signIn({ role: "System Admin" }),
    ]);
    const to = { holding: "devices:delete" } as const;
    await tell({ about: { orgId: orgId as string, siteId }, to });
    const rows = await server.db.selectFrom("notifications").select("userId").execute();
    const wanted = new Set(Object.values(told).map(({ userId }) => userId));
    const mine = rows.filter(({ userId }) => wanted.has(userId));
    expect(mine).toHaveLength(4);
    const others = new Set([elsewhere, disabled, invited].map(({ userId }) => userId));
    expect(rows.filter(({ userId }) => others.has(userId))).toEqual([]);
    const strangers = await server.db
      .selectFrom("organizationUsers")
      .select("userId")
      .where("orgId", "<>", orgId as string)
      .execute();
    expect(rows.filter(({ userId }) => strangers.some((one) => one.userId === userId))).toEqual([]);
    // Of the whole organization, whoever is confined to sites is not told.
    const before = (await listed(told.there)).pagination.total;
    await tell({ to });
    await tell({ to: { userId: told.there.userId } });
    expect((await listed(told.there)).pagination.total).toBe(before);
    expect((await listed(told.admin)).pagination.total).toBe(before + 1);
  });

  it("are shown only while what they are about is reached: site, organization, partner", async () => {
    const who = await member({ siteIds: [siteId, otherSiteId] });
    await tell({ to: { userId: who.userId }, about: { orgId: orgId as string, siteId }, title: "HQ" });
    await tell({ to: { userId: who.userId }, about: { orgId: orgId as string, siteId: otherSiteId }, title: "Quay" });
    expect(await titles(who)).toEqual(["Quay", "HQ"]);
    const id = (await listed(who)).data[0].id as string;
    const membership = server.db.updateTable("organizationUsers").where("userId", "=", who.userId);
    await membership.set({ siteIds: [siteId] }).execute();
    expect(await titles(who)).toEqual(["HQ"]);
    expect((await request("GET", "/unread-count", who)).body).toEqual({ count: 1 });
    expect((await request("PATCH", `/${id}`, who)).status).toBe(404);
    expect((await request("DELETE", `/${id}`, who)).status).toBe(404);
    expect((await request("DELETE", "", who)).body.deleted).toBe(1);
    await membership.set({ siteIds: null }).execute();
    expect(await titles(who)).toEqual(["Quay"]);

    const staff = await server.signIn({ role: "Partner Admin", partnerId });
    await tell({ to: { userId: staff.userId }, about: { partnerId }, title: "Partner" });
    await tell({ to: { userId: staff.userId }, title: "Harbor" });
    expect(await titles(staff)).toEqual(["Harbor", "Partner"]);
    expect((await listed(staff, `&orgId=${orgId}`)).data).toHaveLength(1);
    expect((await listed(staff, `&orgId=${nextDoorId}`)).data).toHaveLength(0);
    expect((await listed(staff, `&orgId=${strangeOrgId}`)).code).toBe("ORG_ACCESS_DENIED");
    const access = server.db.updateTable("partnerUsers").where("userId", "=", staff.userId);
    await access.set({ orgAccess: "none" }).execute();
    expect(await titles(staff)).toEqual([]);
    await access.set({ orgAccess: "all" }).execute();
    const org = server.db.updateTable("organizations").where("id", "=", orgId as string);
    await org.set({ status: "purging" }).execute();
    expect(await titles(staff)).toEqual(["Partner"]);
    await org.set({ status: "active" }).execute();
  });

  it("of one tenant are neither seen nor touched from the same person's session of another", async () => {
    const { userId, token } = await member();
    await joinOrganization(server, { userId, orgId: strangeOrgId as string });
    const providerId = server.services.random.uuid();
    const owner = { orgId: strangeOrgId as string, partnerId: null, createdBy: null };
    await server.db
      .insertInto("ssoProviders")
      .values({ ...plainProvider(server.clock.now()), ...owner, id: providerId })
      .execute();
    const guest = await providerSession(server, { userId, orgId: strangeOrgId as string, providerId });
    await tell({ to: { userId }, title: "Home" });
    await tell({ to: { userId }, about: { orgId: strangeOrgId as string, siteId: null }, title: "Away" });
    expect([await titles({ token }), await titles(guest)]).toEqual([["Home"], ["Away"]]);
    const id = (await listed({ token })).data[0].id as string;
    expect((await request("PATCH", `/${id}`, guest)).status).toBe(404);
    expect((await request("DELETE", `/${id}`, guest)).status).toBe(404);
    expect((await request("DELETE", "", guest)).body.deleted).toBe(1);
    expect(await listed({ token })).toMatchObject({ unreadCount: 1, data: [{ title: "Home", read: false }] });
  });

  it("go with the membership that showed them, and stay where another still shows them", async () => {
    const who = await member();
    const place = { userId: who.userId, orgId: strangeOrgId as string };
    await joinOrganization(server, place);
    await tell({ to: { userId: who.userId }, title: "Home" });
    await tell({ to: { userId: who.userId }, about: { orgId: place.orgId, siteId: null }, title: "Away" });
    const leave = async (as: SignedInUser) => {
      const { data } = (await server.request("GET", "/users/me/memberships", { token: as.token })).body;
      const { id } = data.find(({ tenantId }: { tenantId: string }) => tenantId === orgId);
      expect((await server.request("DELETE", `/users/me/memberships/${id}`, { token: as.token })).status).toBe(200);
    };
    const left = async ({ userId }: { userId: string }) =>
      (await server.db.selectFrom("notifications").select("title").where("userId", "=", userId).execute()).map(
        ({ title }) => title,
      );
    await leave(who);
    expect(await left(who)).toEqual(["Away"]);
    const staff = await member();
    const [id, now] = [server.services.random.uuid(), server.clock.now()];
    const staffed = { id, partnerId, userId: staff.userId, roleId: builtInRoleId("Partner Admin") };
    await server.db
      .insertInto("partnerUsers")
      .values({ ...plainMembership(now), ...staffed, orgAccess: "all" })
      .execute();
    await tell({ to: { userId: staff.userId }, title: "Both" });
    expect(await left(staff)).toEqual(["Both"]);
    await leave(staff);
    expect(await left(staff)).toEqual(["Both"]);
  });

  it("beyond a hundred an hour of one type are counted in one row, also when they come at once", async () => {
    const { userId, token } = await member();
    const producers = Array.from({ length: 108 }, (_, n) =>
      tell({ to: { userId }, type: "script", priority: n === 100 ? "urgent" : "low" }),
    );
    await Promise.all(producers);
    const rows = () => server.db.selectFrom("notifications").selectAll().where("userId", "=", userId).execute();
    const counting = async () => (await rows()).filter(({ more }) => more !== null);
    expect(await rows()).toHaveLength(101);
    expect(await counting()).toMatchObject([{ more: 8 }]);
    const shown = (await listed({ token }, "&page=1")).data.find(({ title }: { title: string }) => title === "8 more");
    expect(shown).toMatchObject({ type: "script", read: false, metadata: { more: 8 } });
    await request("PATCH", `/${shown.id}`, { token });
    await tell({ to: { userId }, type: "script", priority: "high" });
    expect((await counting())[0]).toMatchObject({ more: 9, readAt: null });
    await tell({ to: { userId }, type: "ticket" });
    expect(await rows()).toHaveLength(102);
    server.clock.advance(HOUR);
    await tell({ to: { userId }, type: "script" });
    expect([(await rows()).length, (await counting()).length]).toEqual([103, 1]);
  });

  it("keep the newest ten thousand of a tenant; another tenant's stay", async () => {
    const { userId, token } = await member();
    await joinOrganization(server, { userId, orgId: strangeOrgId as string });
    const strange = await server.db
      .selectFrom("organizations")
      .select("partnerId")
      .where("id", "=", strangeOrgId as string)
      .executeTakeFirstOrThrow();
    const kept = await seedNotification(server, {
      userId,
      partnerId: strange.partnerId,
      orgId: strangeOrgId as string,
    });
    const old = new Date(server.clock.nowMs() - DAY).toISOString();
    const row = { ...plainNotification(old), userId, partnerId, orgId: orgId as string };
    for (let chunk = 0; chunk < 20; chunk += 1) {
      const values = Array.from({ length: 500 }, () => ({ ...row, id: server.services.random.uuid() }));
      await server.db.insertInto("notifications").values(values).execute();
    }
    await tell({ to: { userId }, title: "Newest" });
    const answer = await request("GET", "?limit=1", { token });
    expect(answer.body).toMatchObject({ pagination: { total: 10_000 }, data: [{ title: "Newest" }] });
    const other = server.db.selectFrom("notifications").select("id").where("id", "=", kept);
    expect(await other.execute()).toHaveLength(1);
    await server.db.deleteFrom("notifications").where("userId", "=", userId).execute();
  });

  it("are purged after ninety days", async () => {
    const who = await member();
    await tell({ to: { userId: who.userId }, title: "Old" });
    server.clock.advance(89 * DAY);
    await tell({ to: { userId: who.userId }, title: "New" });
    const left = async () =>
      (await server.db.selectFrom("notifications").select("title").where("userId", "=", who.userId).execute()).length;
    await purgeNotifications(server.services);
    expect(await left()).toBe(2);
    server.clock.advance(DAY + 1);
    await purgeNotifications(server.services);
    expect(await left()).toBe(1);
  });

  it("are refused with a link elsewhere, cut where they are long, and undone with their transaction", async () => {
    const { userId } = await member();
    const rows = () => server.db.selectFrom("notifications").selectAll().where("userId", "=", userId).execute();
    await expect(tell({ to: { userId }, link: "//evil.example" })).rejects.toThrow("may not lead");
    await tell({ to: { userId }, title: "t".repeat(300), message: "m".repeat(3_000), link: "/devices/1" });
    const [row] = await rows();
    expect([row?.title.length, row?.message.length, row?.link]).toEqual([255, 2_000, "/devices/1"]);
    const failing = server.db.transaction().execute(async (tx) => {
      const notice = { type: "user", priority: "low", title: "t", message: "m", about: ofOrg() } as const;
      expect(await notify(tx, server.services, { ...notice, to: { userId } })).toBe(1);
      throw new Error("the change fails");
    });
    await expect(failing).rejects.toThrow("the change fails");
    expect(await rows()).toHaveLength(1);
  });

  it("about what an administrator of the installation made reach them there", async () => {
    const admin = await server.signIn({ role: "System Admin" });
    await tell({ to: { userId: admin.userId }, title: "Yours" });
    expect((await listed(admin)).data).toMatchObject([{ title: "Yours", orgId: null, partnerId: null }]);
  });
});
