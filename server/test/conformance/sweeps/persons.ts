import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedNotification } from "#fixtures/nouns/people/notifications";
import { joinOrganization, providerSession } from "../../guest.ts";
import type { DatabaseName, SignedInUser } from "../../harness.ts";
import { seedPerson } from "../../people.ts";
import { type Case, forUsers, shareOf } from "../cases.ts";
import { ask, type Swept, startSweep } from "../sweep.ts";

/** The current password in the examples. */
const PASSWORD = "Correct-Horse-1";

/** A user's own account, called from a session of another tenant's identity provider (server/docs/people.md). */
export const sweepPersons = (database: DatabaseName) =>
  describe(`what belongs to a person, asked from a session of another tenant's provider, on ${database}`, () => {
    let swept: Swept;
    beforeAll(async () => {
      swept = await startSweep(database);
    });
    afterAll(() => swept?.stop());

    interface Guest {
      person: SignedInUser;
      homeMembershipId: string;
      notificationId: string;
      guestToken: string;
      guestSessionId: string;
      tenant: Awaited<ReturnType<Swept["freshTenant"]>>;
    }

    /** A user whose home is tenant A, also a member of B and signed in there through B's provider. */
    async function makeGuest(): Promise<Guest> {
      const { server, world } = swept;
      const tenant = await swept.freshTenant();
      const person = await seedPerson(server, { role: "Org Admin", orgId: world.a.orgId }, PASSWORD);
      const { userId } = person;
      const home = await server.db
        .selectFrom("organizationUsers")
        .select("id")
        .where("userId", "=", userId)
        .executeTakeFirstOrThrow();
      await joinOrganization(server, { userId, orgId: tenant.orgId });
      const { orgId, partnerId } = world.a;
      const notificationId = await seedNotification(server, { userId, orgId, partnerId });
      const at = { userId, orgId: tenant.orgId, providerId: tenant.ssoProviderId };
      const { token, sessionId } = await providerSession(server, at);
      const guest = { guestToken: token, guestSessionId: sessionId, tenant };
      return { person, homeMembershipId: home.id, notificationId, ...guest };
    }

    /** Everything stored about the user, except for the membership in the other tenant. */
    async function belongings({ person, guestSessionId, tenant }: Guest) {
      const { db } = swept.server;
      const { userId } = person;
      return {
        user: await db.selectFrom("users").selectAll().where("id", "=", person.userId).execute(),
        sessions: await db
          .selectFrom("sessions")
          .selectAll()
          .where("userId", "=", userId)
          .where("id", "<>", guestSessionId)
          .orderBy("id")
          .execute(),
        codes: await db.selectFrom("recoveryCodes").selectAll().where("userId", "=", userId).orderBy("id").execute(),
        tokens: await db.selectFrom("userTokens").selectAll().where("userId", "=", userId).orderBy("id").execute(),
        identities: await db
          .selectFrom("ssoIdentities")
          .selectAll()
          .where("userId", "=", userId)
          .orderBy("id")
          .execute(),
        staff: await db.selectFrom("partnerUsers").selectAll().where("userId", "=", userId).orderBy("id").execute(),
        members: await db
          .selectFrom("organizationUsers")
          .selectAll()
          .where("userId", "=", person.userId)
          .where("orgId", "<>", tenant.orgId)
          .execute(),
        notifications: await db.selectFrom("notifications").selectAll().where("userId", "=", userId).execute(),
        limits: (await db.selectFrom("rateLimits").select("key").execute()).filter(({ key }) =>
          [`mfa:${person.userId}`, `confirm-password:${person.userId}`].includes(key),
        ),
      };
    }

    /** The example, with the user's own rows where it names any. */
    const aimed = (item: Case, { person, homeMembershipId, notificationId, tenant }: Guest) => {
      const ids: Record<string, string> = {
        sessions: person.sessionId,
        memberships: homeMembershipId,
        notifications: notificationId,
        users: person.userId,
      };
      const own = ids[item.name.split(".")[0] as string];
      const { body } = item.example(tenant);
      const sent = item.name === "sessions.logout" ? { allSessions: true } : body;
      return { tenant, body: sent, ...(own === undefined ? {} : { params: { id: own } }) };
    };

    it.each(shareOf(database, forUsers))("$name changes nothing of it", async (item) => {
      const guest = await makeGuest();
      const before = await belongings(guest);
      const answer = await ask(swept.server, item, { ...aimed(item, guest), token: guest.guestToken });
      expect(answer.status).toBeLessThan(500);
      expect(await belongings(guest), JSON.stringify(answer.body)).toEqual(before);
    });

    const notifications = ["notifications.read", "notifications.remove", "notifications.clear"];
    const personal = ["users.updateMe", "passwords.change", "mfa.setup", "sessions.remove", "memberships.remove"];
    personal.push(...notifications);
    it.each(forUsers.filter(({ name }) => personal.includes(name)))("$name changes it at home", async (item) => {
      const guest = await makeGuest();
      const before = await belongings(guest);
      const answer = await ask(swept.server, item, { ...aimed(item, guest), token: guest.person.token });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(await belongings(guest)).not.toEqual(before);
    });

    it("shows of the account what the other tenant may see", async () => {
      const guest = await makeGuest();
      const preferences = { theme: "dark" };
      await swept.server.request("PATCH", "/users/me", { token: guest.person.token, body: { preferences } });
      const me = async (token: string) => (await swept.server.request("GET", "/users/me", { token })).body;
      expect(await me(guest.person.token)).toMatchObject({ preferences });
      const hidden = { preferences: {}, emailVerifiedAt: null, passwordChangedAt: null, avatarUrl: null };
      expect(await me(guest.guestToken)).toMatchObject(hidden);
      const listed = await swept.server.request("GET", "/users/me/memberships", { token: guest.guestToken });
      expect(listed.body.data.map(({ tenantId }: { tenantId: string }) => tenantId)).toEqual([guest.tenant.orgId]);
      const sessions = await swept.server.request("GET", "/auth/sessions", { token: guest.guestToken });
      expect(sessions.body.data.map(({ id }: { id: string }) => id)).toEqual([guest.guestSessionId]);
    });
  });
