import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainMembership } from "#fixtures/nouns/people/users";
import type { Person } from "#fixtures/simulators/identity-provider";
import { builtInRoleId } from "#server/access/roles";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { MINUTE } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, seedPartner, type TestUser } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";

describe.each(databases)("accounts of an identity provider on %s", (database) => {
  let sso: SsoTest;
  let partnerId: string;
  let orgId: string;
  let login: string;
  let provider: ProviderRow;
  let made = 0;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const seeded = await seedPartner(sso.server, "acme", ["harbor", "island"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
    login = `/sso/login/${orgId}`;
    provider = await sso.seedProvider({ orgId });
    await sso.server.db
      .insertInto("ssoDomains")
      .values({ ...domainRow("proven.example"), verifiedAt: sso.server.clock.now() })
      .execute();
    await sso.server.db.insertInto("ssoDomains").values(domainRow("unproven.example")).execute();
  });
  afterAll(() => sso?.stop());

  const domainRow = (domain: string) => {
    const now = sso.server.clock.now();
    const id = sso.server.services.random.uuid();
    const token = "a".repeat(48);
    return {
      id,
      orgId,
      domain,
      verificationToken: token,
      verifiedAt: null,
      lastCheckedAt: null,
      createdAt: now,
      updatedAt: now,
    };
  };
  const newAddress = (domain: string) => {
    made += 1;
    return `pat.${made}@${domain}`;
  };
  const as = (email: string, emailVerified?: Person["emailVerified"], change: Partial<Person> = {}) => {
    sso.idp.person = {
      subject: `sub of ${email}`,
      email,
      name: "Pat",
      ...(emailVerified !== undefined && { emailVerified }),
      ...change,
    };
  };
  const member = (email: string, change: Partial<TestUser> = {}) =>
    sso.server.signIn({ role: "Org Viewer", orgId, email, mfa: false, ...change });
  const arrive = async () => {
    const location = await sso.browser().signIn(login);
    return /#ssoCode=/.test(location) ? "in" : location.replace("/login?error=", "");
  };
  const userOf = (email: string) =>
    sso.server.db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
  const rows = async () => {
    const of = async (table: "users" | "sessions" | "ssoIdentities" | "organizationUsers") =>
      Number(
        (
          await sso.server.db
            .selectFrom(table)
            .select((eb) => eb.fn.countAll().as("n"))
            .executeTakeFirst()
        )?.n,
      );
    return [await of("users"), await of("sessions"), await of("ssoIdentities"), await of("organizationUsers")];
  };
  /** A person who may assign this role, by holding all that it grants. */
  const configure = async (change: Partial<ProviderRow> = {}) => {
    const admin = await sso.server.signIn({ role: "Org Admin", orgId });
    const chosen = {
      autoProvision: true,
      defaultRoleId: builtInRoleId("Org Technician"),
      defaultRoleConfiguredBy: admin.userId,
    };
    await sso.reconfigure(provider.id, { ...chosen, ...change } as never);
    return admin;
  };

  // The whole table: what the provider says of the address × whose address it is × whether its domain is proven.
  const said = [true, "true", false, "false", undefined] as const;
  const table = (["unproven.example", "elsewhere.example", "proven.example"] as const).flatMap((domain) =>
    (["linked", "first match", "new"] as const).flatMap((whose) =>
      said.map((verified) => ({ domain, whose, verified })),
    ),
  );

  it.each(table)(
    "email_verified $verified of a $whose person at $domain (C20)",
    async ({ domain, whose, verified }) => {
      await configure();
      const email = newAddress(domain);
      if (whose !== "new") await member(email);
      if (whose === "linked") {
        as(email, true);
        expect(await arrive()).toBe("in");
      }
      as(email, verified);
      const before = await rows();
      const isDenied = verified === false || verified === "false";
      const isSilent = verified === undefined && whose !== "linked" && domain !== "proven.example";
      const outcome = isDenied ? "sso_email_unverified" : isSilent ? "sso_domain_unverified" : "in";
      expect(await arrive()).toBe(outcome);
      if (outcome === "in") expect((await userOf(email))?.status).toBe("active");
      else expect(await rows()).toEqual(before);
    },
  );

  it("makes a person with the default role, no password and no second membership", async () => {
    const admin = await configure();
    const email = newAddress("harbor.example");
    as(email.toUpperCase(), true, { name: "  Pat Doe  " });
    const { accessToken } = await sso.browser().tokens(login);
    const user = await userOf(email);
    expect(user).toMatchObject({ name: "Pat Doe", status: "active", passwordHash: null, isPlatformAdmin: false });
    const memberships = await sso.server.db
      .selectFrom("organizationUsers")
      .select(["orgId", "roleId"])
      .where("userId", "=", user?.id as string)
      .execute();
    expect(memberships).toEqual([{ orgId, roleId: builtInRoleId("Org Technician") }]);
    expect((await sso.server.request("GET", "/users/me", { token: accessToken })).body.id).toBe(user?.id);
    const entry = (await auditEntries(sso.server, "user.login")).find((one) => one.actorId === user?.id);
    expect(entry?.details).toMatchObject({ provisioned: true });
    expect(admin.userId).not.toBe(user?.id);
  });

  it("makes one account of two first sign-ins at the same moment", async () => {
    await configure();
    const email = newAddress("harbor.example");
    as(email, true);
    const browsers = [sso.browser(), sso.browser(), sso.browser()];
    const callbacks = await Promise.all(browsers.map((browser) => browser.goToProvider(login)));
    const locations = await Promise.all(browsers.map((browser, at) => browser.goToCallback(callbacks[at] as string)));
    for (const location of locations) expect(location).toMatch(/#ssoCode=/);
    const users = await sso.server.db.selectFrom("users").select("id").where("email", "=", email).execute();
    expect(users.length).toBe(1);
  });

  it("creates no account if it is not configured to, has no role, or the role's configurer is unknown", async () => {
    as(newAddress("harbor.example"), true);
    const refuses = async (change: Partial<ProviderRow>, outcome: string) => {
      await configure(change);
      const counted = await rows();
      expect(await arrive()).toBe(outcome);
      expect(await rows()).toEqual(counted);
    };
    await refuses({ autoProvision: false }, "user_not_found");
    await refuses({ defaultRoleId: null }, "default_role_required");
    await refuses({ defaultRoleConfiguredBy: null }, "invalid_provider_configuration");
    await refuses({ defaultRoleId: builtInRoleId("Partner Viewer") }, "invalid_provider_configuration");
  });

  it("stops making people when who chose the role may not give it away any more, and starts again with who may", async () => {
    const admin = await configure();
    const known = newAddress("harbor.example");
    as(known, true);
    expect(await arrive()).toBe("in");
    const someone = newAddress("harbor.example");
    const outcome = async () => {
      as(someone, true);
      const result = await arrive();
      as(known, true);
      expect(await arrive()).toBe("in");
      return result;
    };
    const setRole = (role: string) =>
      sso.server.db
        .updateTable("organizationUsers")
        .set({ roleId: builtInRoleId(role) })
        .where("userId", "=", admin.userId)
        .execute();
    const setStatus = (status: "active" | "disabled") =>
      sso.server.db.updateTable("users").set({ status }).where("id", "=", admin.userId).execute();
    await setRole("Org Viewer");
    expect(await outcome()).toBe("invalid_provider_configuration");
    // Holds everything that the role grants, but may not configure the organization.
    await setRole("Org Technician");
    expect(await outcome()).toBe("invalid_provider_configuration");
    await setRole("Org Admin");
    await setStatus("disabled");
    expect(await outcome()).toBe("invalid_provider_configuration");
    await setStatus("active");
    await sso.server.db
      .updateTable("organizationUsers")
      .set({ siteIds: [sso.server.services.random.uuid()] })
      .where("userId", "=", admin.userId)
      .execute();
    expect(await outcome()).toBe("invalid_provider_configuration");
    await sso.server.db.deleteFrom("organizationUsers").where("userId", "=", admin.userId).execute();
    expect(await outcome()).toBe("invalid_provider_configuration");
    const staff = await sso.server.signIn({ role: "Partner Admin", partnerId, orgAccess: "none" });
    await configure({ defaultRoleConfiguredBy: staff.userId });
    expect(await outcome()).toBe("invalid_provider_configuration");
    const chosen = await sso.server.signIn({
      role: "Partner Admin",
      partnerId,
      orgAccess: "selected",
      orgIds: [orgId],
    });
    await configure({ defaultRoleConfiguredBy: chosen.userId });
    expect(await outcome()).toBe("in");
  });

  it("refuses people who are disabled, left the organization, or whose organization is closed", async () => {
    const email = newAddress("harbor.example");
    const { userId } = await member(email);
    as(email, true);
    expect(await arrive()).toBe("in");
    await sso.server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", userId).execute();
    expect(await arrive()).toBe("user_not_found");
    await sso.server.db.updateTable("users").set({ status: "active" }).where("id", "=", userId).execute();
    const status = (to: "active" | "suspended") =>
      sso.server.db.updateTable("organizations").set({ status: to }).where("id", "=", orgId).execute();
    await status("suspended");
    expect(await arrive()).toBe("no_org_access");
    await status("active");
    await sso.server.db.deleteFrom("organizationUsers").where("userId", "=", userId).execute();
    expect(await arrive()).toBe("no_org_access");
    const entry = (await auditEntries(sso.server, "sso.callback.rejected")).at(-1);
    expect(entry).toMatchObject({ orgId, actorId: userId, actorEmail: email, result: "denied" });
    expect(entry).toMatchObject({
      resourceId: provider.id,
      details: { phase: "account", reason: "no_membership", email },
    });
    expect(entry?.ipAddress).toMatch(/^198\.51\./);
  });

  it.each(["active", "disabled", "invited"] as const)(
    "tells no tenant that a stranger's account is %s",
    async (status) => {
      const email = newAddress("harbor.example");
      const { userId } = await sso.server.signIn({ role: "Partner Technician", partnerId, email });
      await sso.server.db.updateTable("users").set({ status }).where("id", "=", userId).execute();
      as(email, true);
      expect(await arrive()).toBe("no_org_access");
      const entry = (await auditEntries(sso.server, "sso.callback.rejected")).at(-1);
      expect(entry?.details).toMatchObject({ phase: "account", reason: "no_membership", email });
    },
  );

  it("refuses a membership whose role is of another scope", async () => {
    const email = newAddress("harbor.example");
    const { userId } = await member(email);
    const roleId = builtInRoleId("Partner Viewer");
    await sso.server.db.updateTable("organizationUsers").set({ roleId }).where("userId", "=", userId).execute();
    as(email, true);
    expect(await arrive()).toBe("invalid_role_scope");
  });

  /** The membership waits for its person, whose account is as given. */
  const unaccepted = async (userId: string, status: "invited" | "active") => {
    const { db } = sso.server;
    await db.updateTable("users").set({ status, emailVerifiedAt: null }).where("id", "=", userId).execute();
    const membership = db.updateTable("organizationUsers").where("userId", "=", userId);
    await membership.set({ acceptedAt: null }).execute();
  };
  const acceptedAt = async (userId: string) =>
    (
      await sso.server.db
        .selectFrom("organizationUsers")
        .select("acceptedAt")
        .where("userId", "=", userId)
        .where("orgId", "=", orgId)
        .executeTakeFirst()
    )?.acceptedAt;
  const joinPartner = async (userId: string) => {
    const id = sso.server.services.random.uuid();
    const roleId = builtInRoleId("Partner Technician");
    await sso.server.db
      .insertInto("partnerUsers")
      .values({ id, partnerId, userId, roleId, orgAccess: "none", ...plainMembership(sso.server.clock.now()) })
      .execute();
  };

  it("accepts the organization's own invitation of who belongs nowhere else, and proves no address", async () => {
    const email = newAddress("harbor.example");
    const { userId } = await member(email);
    await unaccepted(userId, "invited");
    as(email, true);
    expect(await arrive()).toBe("in");
    expect(await userOf(email)).toMatchObject({ status: "active", emailVerifiedAt: null });
    expect(await acceptedAt(userId)).toBe(sso.server.clock.now());
  });

  it("makes nobody a member who belongs elsewhere, nor an administrator of the installation", async () => {
    const guest = newAddress("harbor.example");
    const { userId } = await member(guest);
    await unaccepted(userId, "active");
    await joinPartner(userId);
    const admin = newAddress("harbor.example");
    const operator = await member(admin);
    await unaccepted(operator.userId, "active");
    await sso.server.db.updateTable("users").set({ isPlatformAdmin: true }).where("id", "=", operator.userId).execute();
    for (const [email, id] of [
      [guest, userId],
      [admin, operator.userId],
    ] as const) {
      as(email, true);
      expect(await arrive()).toBe("invite_required");
      expect(await acceptedAt(id)).toBeNull();
      const sessions = await sso.server.db
        .selectFrom("sessions")
        .select("id")
        .where("userId", "=", id)
        .where("ssoProviderId", "is not", null)
        .execute();
      expect(sessions).toEqual([]);
    }
  });

  it("leaves the account of a guest to their home: what belongs to the person is neither shown nor changed", async () => {
    const email = newAddress("harbor.example");
    const { userId } = await member(email);
    as(email, true);
    const token = async () => (await sso.browser().tokens(login)).accessToken;
    const setUp = async () => sso.server.request("POST", "/auth/mfa/setup", { token: await token(), body: {} });
    expect((await setUp()).status).toBe(200);
    await joinPartner(userId);
    expect((await setUp()).body.code).toBe("HOME_SESSION_REQUIRED");
    const own = await sso.seedProvider({ partnerId });
    const partners = (await sso.browser().tokens(`/sso/login/partner/${partnerId}`)).accessToken;
    const there = await sso.server.request("POST", "/auth/mfa/setup", { token: partners, body: {} });
    expect(there.body.code).toBe("HOME_SESSION_REQUIRED");
    await sso.reconfigure(own.id, { status: "inactive" });
    await proveDomain("harbor.example");
    expect((await setUp()).status).toBe(200);
    await sso.server.db.updateTable("ssoDomains").set({ seenAt: "2026-01-01T00:00:00.000Z" }).execute();
    expect((await setUp()).body.code).toBe("HOME_SESSION_REQUIRED");
    await sso.server.db.deleteFrom("ssoDomains").execute();
    // A tenant that was deleted is nobody's home any more.
    await sso.server.db.deleteFrom("partnerUsers").where("userId", "=", userId).execute();
    const [gone, roleId] = [await seedPartner(sso.server, "gone", ["gone"]), builtInRoleId("Org Viewer")];
    const id = sso.server.services.random.uuid();
    const there2 = { id, orgId: gone.orgIds[0] as string, userId, roleId, siteIds: null };
    const at = sso.server.clock.now();
    await sso.server.db
      .insertInto("organizationUsers")
      .values({ ...there2, ...plainMembership(at) })
      .execute();
    expect((await setUp()).body.code).toBe("HOME_SESSION_REQUIRED");
    await sso.server.db.updateTable("organizations").set({ deletedAt: at }).where("id", "=", there2.orgId).execute();
    expect((await setUp()).status).toBe(200);
  });

  const proveDomain = async (domain: string) => {
    const now = sso.server.clock.now();
    const id = sso.server.services.random.uuid();
    const stamps = { verifiedAt: now, lastCheckedAt: now, seenAt: now, createdAt: now, updatedAt: now };
    const row = { id, orgId, domain, verificationToken: "0".repeat(48), createdBy: null, ...stamps };
    await sso.server.db.insertInto("ssoDomains").values(row).execute();
  };

  it("takes a sign-in of ten minutes ago at most for a password that there is none of", async () => {
    const email = newAddress("harbor.example");
    await member(email);
    as(email, true);
    const { accessToken: token } = await sso.browser().tokens(login);
    const setUp = () => sso.server.request("POST", "/auth/mfa/setup", { token, body: {} });
    expect((await setUp()).status).toBe(200);
    sso.server.clock.advance(10 * MINUTE + 1);
    expect((await setUp()).body.code).toBe("reauth_required");
  });

  it("shows and ends a guest's sessions of its own tenant alone", async () => {
    const email = newAddress("harbor.example");
    const { userId, token: elsewhere } = await sso.server.signIn({ role: "Partner Technician", partnerId, email });
    await sso.server.db
      .updateTable("sessions")
      .set({ memberPartnerId: partnerId } as never)
      .where("userId", "=", userId)
      .execute();
    const [now, roleId] = [sso.server.clock.now(), builtInRoleId("Org Viewer")];
    const id = sso.server.services.random.uuid();
    await sso.server.db
      .insertInto("organizationUsers")
      .values({ id, orgId, userId, roleId, siteIds: null, ...plainMembership(now) })
      .execute();
    as(email, true);
    const other = (await sso.browser().tokens(login)).accessToken;
    const guest = (await sso.browser().tokens(login)).accessToken;
    const ask = (method: string, path: string, token: string, body?: object) =>
      sso.server.request(method, path, { token, ...(body && { body }) });
    const idsOf = async (token: string) =>
      ((await ask("GET", "/auth/sessions", token)).body.data as { id: string }[]).map((one) => one.id);
    const all = await idsOf(elsewhere);
    const seen = await idsOf(guest);
    expect([all.length, seen.length]).toEqual([3, 2]);
    const hidden = all.find((one) => !seen.includes(one));
    expect((await ask("DELETE", `/auth/sessions/${hidden}`, guest)).status).toBe(404);
    expect((await ask("POST", "/auth/logout", guest, { allSessions: true })).body.code).toBe("HOME_SESSION_REQUIRED");
    for (const token of [other, elsewhere]) expect((await ask("GET", "/users/me", token)).status).toBe(200);
    const own = seen.find((one) => one !== hidden) as string;
    expect((await ask("DELETE", `/auth/sessions/${own}`, guest)).status).toBe(200);
  });

  it("recognizes a person whose account was recreated in the directory, and keeps one link", async () => {
    const email = newAddress("harbor.example");
    const { userId, token: byPassword } = await member(email);
    const me = async (token: string) => (await sso.server.request("GET", "/users/me", { token })).status;
    as(email, true, { subject: `old ${email}` });
    const old = (await sso.browser().tokens(login)).accessToken;
    as(email, true, { subject: `new ${email}` });
    const own = (await sso.browser().tokens(login)).accessToken;
    // The address may have been somebody else's before: what the earlier identity began ends with it.
    expect([await me(old), await me(own), await me(byPassword)]).toEqual([401, 200, 200]);
    const links = await sso.server.db
      .selectFrom("ssoIdentities")
      .select("externalId")
      .where("userId", "=", userId)
      .execute();
    expect(links).toEqual([{ externalId: `new ${email}` }]);
    // The subject decides, also when the address moves on.
    as(newAddress("harbor.example"), true, { subject: `new ${email}` });
    const { accessToken } = await sso.browser().tokens(login);
    expect((await sso.server.request("GET", "/users/me", { token: accessToken })).body.id).toBe(userId);
  });

  it("keeps what no database can hold out of the profile, and a long name within its limit", async () => {
    await configure();
    const email = newAddress("harbor.example");
    as(email, true, { name: `P\u0000at ${"x".repeat(400)}`, more: { note: "a\u0000b", picture: "https://x.example" } });
    expect(await arrive()).toBe("in");
    const user = await userOf(email);
    expect([...(user?.name ?? "")].length).toBe(255);
    const link = await sso.server.db
      .selectFrom("ssoIdentities")
      .select("profile")
      .where("userId", "=", user?.id as string)
      .executeTakeFirst();
    expect(JSON.stringify(link?.profile)).not.toContain("\\u0000");
  });
});
