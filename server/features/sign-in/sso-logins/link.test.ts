import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { SECOND } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, seedPartner, type TestUser } from "../../../test/harness.ts";
import { type Browser, type SsoTest, startSsoTest } from "../../../test/sso.ts";

describe.each(databases)("attaching an identity to an account on %s", (database) => {
  let sso: SsoTest;
  let partnerId: string;
  let orgId: string;
  let provider: ProviderRow;
  let made = 0;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const seeded = await seedPartner(sso.server, "acme", ["harbor", "island"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
    provider = await sso.seedProvider({ orgId });
  });
  afterAll(() => sso?.stop());

  const member = async (change: Partial<TestUser> = {}) => {
    made += 1;
    const person = await sso.server.signIn({
      role: "Org Viewer",
      orgId,
      email: `kim.${made}@harbor.example`,
      ...change,
    });
    sso.idp.person = { subject: `kim-${made}`, email: person.email, emailVerified: true };
    return person;
  };
  const options = async ({ token }: SignedInUser) =>
    (await sso.server.request("GET", "/sso/link/options", { token })).body.data;
  const start = ({ token }: SignedInUser, id = provider.id) =>
    sso.server.request("POST", `/sso/link/start/${id}`, { token });
  /** Begins in this browser; answers the callback's address. */
  const begin = async (browser: Browser, person: SignedInUser) => {
    const { body, headers } = await start(person);
    const [name = "", value = ""] = (headers.getSetCookie()[0] ?? "").split(";")[0]?.split("=") ?? [];
    browser.cookies.set(name, value);
    return browser.goToProvider(body.authUrl);
  };
  const attach = async (person: SignedInUser) => {
    const browser = sso.browser();
    return browser.goToCallback(await begin(browser, person));
  };
  const refused = (reason: string) => `/settings/profile?ssoLinkError=${reason}`;

  it("attaches the identity to the account that asked, makes no session, and signs in by it afterwards", async () => {
    const person = await member();
    expect(await options(person)).toEqual([{ id: provider.id, name: "Directory", type: "oidc", linked: false }]);
    const sessions = () =>
      sso.server.db.selectFrom("sessions").select("id").where("userId", "=", person.userId).execute();
    const before = (await sessions()).length;
    expect(await attach(person)).toBe("/settings/profile?ssoLinked=1");
    expect((await sessions()).length).toBe(before);
    expect(await options(person)).toEqual([{ id: provider.id, name: "Directory", type: "oidc", linked: true }]);
    const entry = (await auditEntries(sso.server, "sso.identity.linked")).at(-1);
    expect(entry).toMatchObject({ orgId, result: "success", actorId: person.userId, actorEmail: person.email });
    expect(entry?.details).toMatchObject({ providerId: provider.id });
    // Linked: an address that is not said to be verified is believed now.
    sso.idp.person = { subject: `kim-${made}`, email: person.email };
    expect(await sso.browser().signIn(`/sso/login/${orgId}`)).toMatch(/#ssoCode=/);
  });

  it("refuses another address, an identity of another person, and an address that is not verified", async () => {
    const first = await member();
    expect(await attach(first)).toBe("/settings/profile?ssoLinked=1");
    const taken = sso.idp.person;
    const second = await member();
    sso.idp.person = { subject: "other", email: first.email, emailVerified: true };
    expect(await attach(second)).toBe(refused("email_mismatch"));
    sso.idp.person = { subject: taken?.subject as string, email: second.email, emailVerified: true };
    expect(await attach(second)).toBe(refused("identity_in_use"));
    sso.idp.person = { subject: "third", email: second.email, emailVerified: "false" };
    expect(await attach(second)).toBe(refused("email_unverified"));
    expect(await options(second)).toMatchObject([{ linked: false }]);
    const entries = (await auditEntries(sso.server, "sso.identity.link_rejected")).slice(-3);
    expect(entries.map(({ details }) => (details as { reason: string }).reason)).toEqual([
      "email_mismatch",
      "identity_in_use",
      "sso_email_unverified",
    ]);
    for (const entry of entries) expect(entry).toMatchObject({ orgId, result: "denied", actorId: second.userId });
  });

  it.each([
    [
      "the session ended",
      "session_invalid",
      (p: SignedInUser) =>
        sso.server.db
          .updateTable("sessions")
          .set({ revokedAt: sso.server.clock.now() })
          .where("id", "=", p.sessionId)
          .execute(),
    ],
    [
      "the password changed",
      "session_invalid",
      (p: SignedInUser) =>
        sso.server.db.updateTable("users").set({ passwordHash: "other" }).where("id", "=", p.userId).execute(),
    ],
    [
      "the account was disabled",
      "user_gone",
      (p: SignedInUser) =>
        sso.server.db.updateTable("users").set({ status: "disabled" }).where("id", "=", p.userId).execute(),
    ],
    [
      "the membership ended",
      "user_gone",
      (p: SignedInUser) => sso.server.db.deleteFrom("organizationUsers").where("userId", "=", p.userId).execute(),
    ],
    ["the provider was changed", "config_changed", () => sso.reconfigure(provider.id, { name: "Directory" })],
    ["the provider was switched off", "provider_inactive", () => sso.reconfigure(provider.id, { status: "inactive" })],
  ])("refuses when %s on the way", async (_, reason, change) => {
    await sso.reconfigure(provider.id, { status: "active" });
    const person = await member();
    const browser = sso.browser();
    const callback = await begin(browser, person);
    await change(person);
    expect(await browser.goToCallback(callback)).toBe(refused(reason));
    await sso.reconfigure(provider.id, { status: "active" });
  });

  it("is bound to the browser that began it and ends after ten minutes", async () => {
    const person = await member();
    const browser = sso.browser();
    const callback = await begin(browser, person);
    expect(await sso.browser().goToCallback(callback)).toBe("/login?error=invalid_callback");
    sso.server.clock.advance(601 * SECOND);
    expect(await browser.goToCallback(callback)).toBe("/login?error=session_expired");
    expect(await options(person)).toMatchObject([{ linked: false }]);
  });

  it("offers the caller's own tenant alone, and needs a second factor", async () => {
    const own = await sso.seedProvider({ partnerId }, { name: "Staff" });
    const staff = await sso.server.signIn({ role: "Partner Admin", partnerId });
    expect(await options(staff)).toMatchObject([{ id: own.id, name: "Staff", linked: false }]);
    expect((await start(staff)).body.code).toBe("NOT_FOUND");
    const person = await member();
    expect((await start(person, own.id)).body.code).toBe("NOT_FOUND");
    expect((await start(await member({ mfa: false }))).body.code).toBe("MFA_REQUIRED");
    const saml = await sso.seedProvider({ orgId }, { type: "saml" });
    expect((await start(person, saml.id)).body.code).toBe("PROVIDER_INVALID");
    await sso.reconfigure(saml.id, { status: "inactive" });
    expect((await start(person, saml.id)).body.code).toBe("NOT_FOUND");
  });
});
