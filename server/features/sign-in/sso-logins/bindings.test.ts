import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { auditEntries } from "../../../test/audit-entries.ts";
import { eventsAfter, lastEvent } from "../../../test/events-of.ts";
import { databases, seedPartner } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";

const VERIFIER = "verifier-of-the-process-that-began-the-sign-in";
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

describe.each(databases)("what a sign-in is bound to on %s", (database) => {
  let sso: SsoTest;
  let login: string;
  let provider: ProviderRow;
  let other: ProviderRow;

  beforeAll(async () => {
    sso = await startSsoTest(database);
    const { orgIds } = await seedPartner(sso.server, "acme", ["harbor", "island"]);
    const [orgId, otherOrgId] = orgIds as [string, string];
    login = `/sso/login/${orgId}`;
    provider = await sso.seedProvider({ orgId });
    other = await sso.seedProvider({ orgId: otherOrgId }, { ownCallback: true });
    const email = "pat@harbor.example";
    await sso.server.signIn({ role: "Org Viewer", orgId, email, mfa: false });
    sso.idp.person = { subject: "pat", email, emailVerified: true, name: "Pat" };
  });
  afterAll(() => sso?.stop());

  const codeWith = (query: string) => sso.browser().code(`${login}${query}`);
  const exchange = (body: object) => sso.server.request("POST", "/sso/exchange", { body });
  const refused = async (body: object) => {
    const answer = await exchange(body);
    expect([answer.status, answer.body.code]).toEqual([400, "INVALID_EXCHANGE_CODE"]);
  };

  describe("the code", () => {
    it("of a sign-in with a challenge is exchanged with its verifier alone, once", async () => {
      const code = await codeWith(`?challenge=${CHALLENGE}`);
      await refused({ code });
      await refused({ code, verifier: "another-verifier" });
      await refused({ code, verifier: CHALLENGE });
      const pair = await exchange({ code, verifier: VERIFIER });
      expect([pair.status, pair.body.tokenType]).toEqual([200, "Bearer"]);
      await refused({ code, verifier: VERIFIER });
    });

    it("of a sign-in without a challenge is exchanged without a verifier alone: no one is handed another's", async () => {
      const code = await codeWith("");
      await refused({ code, verifier: VERIFIER });
      expect((await exchange({ code })).status).toBe(200);
    });

    it("is stored without what the exchange must prove", async () => {
      await codeWith(`?challenge=${CHALLENGE}`);
      const rows = JSON.stringify(await sso.server.db.selectFrom("ssoExchangeCodes").selectAll().execute());
      expect(rows).toContain(CHALLENGE);
      expect(rows).not.toContain(VERIFIER);
    });

    it("has no sign-in with a malformed challenge", async () => {
      for (const challenge of ["short", `${CHALLENGE}=`, `${CHALLENGE}AA`, ""]) {
        const answer = await sso.server.request("GET", `${login}?challenge=${challenge}`);
        expect(answer.status, challenge).toBe(400);
      }
    });
  });

  describe("the callback address", () => {
    const reasonOf = async () => (await auditEntries(sso.server, "sso.callback.rejected")).at(-1)?.details;
    const moved = (callback: string, path: string) => {
      const url = new URL(callback);
      url.pathname = `/api/v1/sso/callback${path}`;
      return url.href;
    };

    it("is the common one unless the provider has its own, which its sign-ins use", async () => {
      const browser = sso.browser();
      const common = await browser.goToProvider(login);
      expect(new URL(common).pathname).toBe("/api/v1/sso/callback");
      await sso.reconfigure(provider.id, { ownCallback: true });
      const own = await browser.goToProvider(login);
      expect(new URL(own).pathname).toBe(`/api/v1/sso/callback/${provider.id}`);
      const before = await lastEvent(sso.server.db);
      expect(await browser.goToCallback(own)).toMatch(/^\/#ssoCode=[\w-]{48}$/);
      expect(await eventsAfter(sso.server.db, before)).toMatchObject([{ kind: "user.login", data: { method: "sso" } }]);
      await sso.reconfigure(provider.id, { ownCallback: false });
    });

    it.each([
      ["another provider's", false, () => `/${other.id}`],
      ["its own while it uses the common one", false, () => `/${provider.id}`],
      ["the common one while it has its own", true, () => ""],
      ["another provider's while it has its own", true, () => `/${other.id}`],
    ])("refuses an answer at %s, asks the provider nothing and ends the sign-in", async (_, ownCallback, path) => {
      await sso.reconfigure(provider.id, { ownCallback });
      const browser = sso.browser();
      const callback = await browser.goToProvider(login);
      const sessions = () => sso.server.db.selectFrom("sessions").select("id").execute();
      const before = (await sessions()).length;
      sso.idp.requests.length = 0;
      expect(await browser.goToCallback(moved(callback, path()))).toBe("/login?error=invalid_callback");
      expect(await reasonOf()).toMatchObject({ phase: "return", reason: "other_callback_address" });
      expect(sso.idp.requests).toEqual([]);
      expect((await sessions()).length).toBe(before);
      expect(await browser.goToCallback(callback)).toMatch(/^\/login\?error=/);
      await sso.reconfigure(provider.id, { ownCallback: false });
    });

    it("is set and shown through the API", async () => {
      const { partnerId } = await sso.server.db
        .selectFrom("organizations")
        .select("partnerId")
        .where("id", "=", provider.orgId as string)
        .executeTakeFirstOrThrow();
      const { token } = await sso.server.signIn({ role: "Partner Admin", partnerId });
      const path = `/sso/providers/${provider.id}`;
      const set = await sso.server.request("PATCH", path, { token, body: { ownCallback: true } });
      expect(set.body).toMatchObject({ ownCallback: true });
      const tested = await sso.server.request("POST", `${path}/test`, { token });
      expect(tested.body.signIn?.callbackUrl, JSON.stringify(tested.body)).toBe(
        `${sso.server.url}/api/v1/sso/callback/${provider.id}`,
      );
      await sso.server.request("PATCH", path, { token, body: { ownCallback: false } });
    });
  });
});
