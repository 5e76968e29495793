import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { plainDevice } from "#fixtures/nouns/fleet/devices";
import { plainOrganization } from "#fixtures/nouns/tenancy/organizations";
import { agentRequests } from "#server/access/agent-limits";
import { keyGuesses } from "#server/access/key-throttle";
import { agentGuesses } from "#server/access/load-agent";
import type { Limit } from "#server/access/rate-limit";
import { verifyAllLimit, verifyLimit, verifySubject } from "#server/features/audit/audit-logs/verify";
import { reportLimit, reportSubject } from "#server/features/fleet/agent-reports/take-report";
import { changesTold } from "#server/features/fleet/agents/identity-change";
import { rotations } from "#server/features/fleet/agents/rotate-token";
import { loginPerAddress } from "#server/features/sign-in/core/login-limits";
import { newPatchesLimit } from "#server/features/software/patches/share-patches";
import { clientBlock } from "#server/platform/ip-address";
import { sha256 } from "#server/platform/vault";
import { connect } from "../agent-socket.ts";
import { auditOf } from "../audit-of.ts";
import type { Answer } from "../harness.ts";
import { type Case, caseOf } from "./cases.ts";
import { ask, type CallOptions, type Swept } from "./sweep.ts";

/** A request of the contract, or what stands in no contract, as it is sent to a server. */
type Asking = { item: Case; options: CallOptions } | { send: (url: string) => Promise<Answer> };

/** The n-th request of a burst. */
export type Attempt = (number: number) => Asking;

/** A limit, and the requests that count towards it. */
export interface Burst {
  /** Its name in the server's source. */
  readonly limit: string;
  readonly noun: string;
  /** Requests that the limit still allows when the burst begins. */
  readonly left: number;
  /** Counts by the client's address: each request comes from another one of the same IPv6 network. */
  readonly byAddress?: true;
  ready(swept: Swept): Promise<Attempt>;
  /** How many were admitted, if the answers do not tell. */
  admitted?(swept: Swept): Promise<number>;
}

/** Limits that are settings, lowered for the test; the others keep their defaults. */
export const settings = {
  API_RATE_LIMIT_PER_MINUTE: "40",
  AGENT_ENROLL_RATE_LIMIT: "10",
  LIVE_WAIT_SECONDS: "2",
  AGENT_POLL_MAX_SECONDS: "3",
  TRUST_PROXY_HEADERS: "true",
};

/** The n-th address of a client that has a /64 for itself. */
export const addressOf = (number: number): string => `2001:db8:0:7::${(number + 1).toString(16)}`;
const ADDRESS = clientBlock(addressOf(0));
const UNKNOWN = "Wrong-Password-1";

/** The same request each time. */
const always = (name: string, options: CallOptions): Attempt => {
  const item = caseOf(name);
  return () => ({ item, options });
};

/** Uses a limit up directly, because sending that many requests takes too long. */
const useUp = (swept: Swept, limit: Limit, subject: string, left: number) =>
  swept.server.services.limiter.take(limit, subject, limit.max - left);

/** The same of a limit that is taken within transactions. */
async function useUpWithin(swept: Swept, limit: Limit, subject: string, left: number): Promise<void> {
  const { limiter } = swept.server.services;
  await swept.db.transaction().execute((tx) => limiter.takeWithin(tx, limit, subject, limit.max - left));
}

/** Reports of a device, each with another name. */
const renaming =
  (tenant: CallOptions["tenant"]): Attempt =>
  (number) => ({
    item: caseOf("agents.heartbeat"),
    options: { tenant, token: tenant.agentToken, body: { hostname: `name-${number}` } },
  });

export const bursts: readonly Burst[] = [
  {
    limit: "api",
    noun: "users",
    left: 40,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      return always("users.me", { tenant, ...(await swept.credential(caseOf("users.me"), tenant)) });
    },
  },
  {
    limit: "key",
    noun: "partner-api",
    left: 20,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const key = swept.db.updateTable("partnerServicePrincipalKeys").where("id", "=", tenant.partnerKeyId);
      await key.set({ rateLimit: 20 }).execute();
      return always("partnerApi.organizations", { tenant, headers: { "x-api-key": tenant.partnerKey } });
    },
  },
  {
    limit: "principal",
    noun: "partner-api",
    left: 20,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { partnerPrincipalId: id, partnerKey } = tenant;
      const principal = swept.db.updateTable("partnerServicePrincipals").where("id", "=", id);
      await principal.set({ rateLimit: 20 }).execute();
      return always("partnerApi.organizations", { tenant, headers: { "x-api-key": partnerKey } });
    },
  },
  {
    limit: "key-guess",
    noun: "api-keys",
    byAddress: true,
    left: 10,
    async ready(swept) {
      await useUp(swept, keyGuesses, ADDRESS, 10);
      const { a } = swept.world;
      return always("partnerApi.organizations", { tenant: a, headers: { "x-api-key": `svc_sp_${"a".repeat(43)}` } });
    },
  },
  {
    limit: "agent",
    noun: "agents",
    // Fewer than may be under way at once.
    left: 3,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      await useUp(swept, agentRequests, tenant.deviceId, 3);
      return always("agents.heartbeat", { tenant, token: tenant.agentToken });
    },
  },
  {
    limit: "agent-open",
    noun: "agents",
    // In each process; the two servers here are one.
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const waiting = { tenant, token: tenant.agentToken, query: { wait: "30" } };
      // Takes what waits, so that there is nothing more to hand out.
      await ask(swept.server, caseOf("agents.claim"), waiting);
      return always("agents.claim", waiting);
    },
  },
  {
    limit: "agent-rotate",
    noun: "agents",
    left: 2,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      await useUpWithin(swept, rotations, tenant.deviceId, 2);
      return always("agents.rotateToken", { tenant, token: tenant.agentToken });
    },
    // Of those at the same moment some are 409, which costs nothing.
    async admitted(swept) {
      const rotated = await auditOf(swept.server, (entry) => entry.action === "agent.token.rotate");
      return rotated.filter(({ result }) => result === "success").length;
    },
  },
  {
    limit: "agent-connect",
    noun: "agents",
    left: 12,
    async ready(swept) {
      const { agentToken: token, deviceId } = await swept.freshTenant();
      const opened = { status: 101, body: null, headers: new Headers() };
      return () => ({
        async send(url) {
          const { socket, refused } = await connect(url, deviceId, { token });
          socket?.raw.terminate();
          return refused ?? opened;
        },
      });
    },
  },
  {
    limit: "agent-guess",
    noun: "agents",
    byAddress: true,
    left: 10,
    async ready(swept) {
      await useUp(swept, agentGuesses, ADDRESS, 10);
      const { a: tenant } = swept.world;
      const { random } = swept.server.services;
      const token = () => `agt_${random.bytes(32).toString("hex")}`;
      return () => ({ item: caseOf("agents.heartbeat"), options: { tenant, token: token() } });
    },
  },
  {
    limit: "agent-identity",
    noun: "agents",
    left: 2,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      await useUpWithin(swept, changesTold, tenant.deviceId, 2);
      return renaming(tenant);
    },
    // All are answered; the entries show what was told.
    async admitted(swept) {
      const told = await auditOf(swept.server, ({ action }) => action === "agent.heartbeat.state_change");
      return told.filter(({ details }) => details["hostname"] !== undefined).length;
    },
  },
  {
    limit: "agent-flapping",
    noun: "agents",
    left: 1,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      await swept.db.deleteFrom("notifications").execute();
      await swept.caller("partner", tenant);
      await useUpWithin(swept, changesTold, tenant.deviceId, 1);
      return renaming(tenant);
    },
    async admitted(swept) {
      const warned = swept.db.selectFrom("notifications").select("id").where("title", "like", "%another machine");
      return (await warned.execute()).length;
    },
  },
  {
    limit: "agent-token-reuse",
    noun: "agents",
    left: 1,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { random, clock } = swept.server.services;
      const token = `agt_${random.bytes(32).toString("hex")}`;
      const replaced = { tokenHash: sha256(token), orgId: tenant.orgId, deviceId: tenant.deviceId };
      await swept.db
        .insertInto("replacedAgentTokens")
        .values({ ...replaced, replacedAt: clock.now() })
        .execute();
      return always("agents.heartbeat", { tenant, token });
    },
    // Each is refused; the entries show how often it was told.
    async admitted(swept) {
      const told = await auditOf(swept.server, ({ details }) => details["reason"] === "replaced_token");
      return told.length;
    },
  },
  {
    limit: "agent-report",
    noun: "agent-reports",
    left: 3,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      await useUp(swept, reportLimit, reportSubject(tenant, "inventory"), 3);
      return always("agentReports.inventory", { tenant, token: tenant.agentToken });
    },
  },
  {
    limit: "new-patches",
    noun: "agent-reports",
    left: 3,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      await useUpWithin(swept, newPatchesLimit, tenant.orgId, 3);
      const of = (number: number) => ({ source: "custom", title: `Burst ${number}` });
      const item = caseOf("agentReports.patches");
      const asked = { tenant, token: tenant.agentToken };
      return (number) => ({ item, options: { ...asked, body: { pending: [of(number)] } } });
    },
    // A report is taken without what is too much.
    async admitted(swept) {
      const rows = swept.db.selectFrom("devicePatches").select("title").where("title", "like", "Burst %");
      return (await rows.execute()).length;
    },
  },
  {
    limit: "agent-enroll",
    noun: "agents",
    byAddress: true,
    left: 10,
    ready: async (swept) => always("agents.enroll", { tenant: swept.world.a }),
  },
  {
    limit: "partner-writes",
    noun: "partner-api",
    left: 120,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const headers = { "x-api-key": tenant.partnerKey };
      const body = { orgId: tenant.orgId, address: { city: "Bilbao" } };
      const item = caseOf("partnerApi.createSite");
      return (number) => ({ item, options: { tenant, headers, body: { ...body, name: `Site ${number}` } } });
    },
  },
  {
    limit: "partner-mints",
    noun: "partner-api",
    left: 10,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      return always("partnerApi.createEnrollmentKey", { tenant, headers: { "x-api-key": tenant.partnerKey } });
    },
  },
  {
    limit: "partner-mints-all",
    noun: "partner-api",
    left: 100,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const keys: string[] = [];
      // Each principal may mint ten.
      for (let made = 0; made < 12; made += 1) {
        const name = `pipeline ${made}`;
        const seeded = await seedPartnerPrincipal(swept.db, swept.server.services, tenant.partnerId, name);
        keys.push(seeded.partnerKey);
      }
      const item = caseOf("partnerApi.createEnrollmentKey");
      return (number) => ({
        item,
        options: { tenant, headers: { "x-api-key": keys[number % keys.length] as string } },
      });
    },
  },
  {
    limit: "audit-verify",
    noun: "audit-logs",
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, verifyLimit, verifySubject(userId, { kind: "organization", id: tenant.orgId }), 4);
      return always("auditLogs.verify", { tenant, token });
    },
  },
  {
    limit: "audit-verify-all",
    noun: "audit-logs",
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, verifyAllLimit, userId, 4);
      return always("auditLogs.verify", { tenant, token });
    },
  },
  {
    limit: "mfa",
    noun: "mfa",
    left: 5,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("mfa.stepUp"), await swept.freshTenant());
      return always("mfa.stepUp", { ...ready, body: { code: "000000" } });
    },
  },
  {
    limit: "confirm-password",
    noun: "passwords",
    left: 5,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("passwords.change"), await swept.freshTenant());
      return always("passwords.change", {
        ...ready,
        body: { currentPassword: UNKNOWN, newPassword: "Correct-Horse-2" },
      });
    },
  },
  {
    limit: "login-email",
    noun: "sessions",
    byAddress: true,
    left: 5,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("sessions.login"), await swept.freshTenant());
      return always("sessions.login", { ...ready, body: { email: ready.person?.email, password: UNKNOWN } });
    },
  },
  {
    limit: "login-ip",
    noun: "sessions",
    byAddress: true,
    left: 8,
    async ready(swept) {
      await useUp(swept, loginPerAddress, ADDRESS, 8);
      const item = caseOf("sessions.login");
      return (number) => ({
        item,
        options: { tenant: swept.world.a, body: { email: `nobody-${number}@nowhere.example`, password: UNKNOWN } },
      });
    },
  },
  {
    limit: "refresh",
    noun: "sessions",
    left: 30,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("sessions.refresh"), await swept.freshTenant());
      const spent = await swept.call(caseOf("sessions.refresh"), ready);
      if (spent.status !== 200) throw new Error(`the token was not spent: ${JSON.stringify(spent.body)}`);
      return always("sessions.refresh", ready);
    },
  },
  {
    limit: "forgot-password",
    noun: "passwords",
    byAddress: true,
    left: 3,
    async ready(swept) {
      await swept.db.deleteFrom("jobs").execute();
      const { email } = await swept.caller("partner", swept.world.b);
      return always("passwords.forgot", { tenant: swept.world.a, body: { email } });
    },
    // All requests get the same answer; the queued jobs show how many were admitted.
    async admitted(swept) {
      const jobs = swept.db.selectFrom("jobs").select("id").where("kind", "=", "passwords.forgot");
      return (await jobs.execute()).length;
    },
  },
  {
    limit: "accept-invite",
    noun: "users",
    byAddress: true,
    left: 10,
    ready: async (swept) => always("users.acceptInvite", { tenant: swept.world.a }),
  },
  {
    limit: "sso-discovery",
    noun: "sso-logins",
    byAddress: true,
    left: 20,
    ready: async (swept) => always("ssoLogins.discover", { tenant: swept.world.a }),
  },
  {
    limit: "sso-start-target",
    noun: "sso-logins",
    byAddress: true,
    left: 10,
    ready: async (swept) => always("ssoLogins.start", { tenant: swept.world.a }),
  },
  {
    limit: "sso-start-ip",
    noun: "sso-logins",
    byAddress: true,
    left: 30,
    async ready(swept) {
      const item = caseOf("ssoLogins.start");
      const { random } = swept.server.services;
      return () => ({ item, options: { tenant: swept.world.a, params: { orgId: random.uuid() } } });
    },
  },
  {
    limit: "webhooks",
    noun: "webhooks",
    left: 19,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      return always("webhooks.create", { tenant, token });
    },
    // Beyond it the answer is 422.
    async admitted(swept) {
      const made = swept.db.selectFrom("webhooks").select("id").where("name", "=", "Chat");
      return (await made.execute()).length;
    },
  },
  {
    limit: "webhook-test",
    noun: "webhooks",
    left: 10,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      return always("webhooks.test", { tenant, token });
    },
  },
  {
    limit: "webhook-listeners",
    noun: "webhooks",
    // Four in each process, of which Postgres has two here.
    left: 8,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      const now = await ask(swept.server, caseOf("webhooks.events"), { tenant, token });
      return always("webhooks.events", { tenant, token, query: { cursor: now.body.cursor, waitSeconds: "1" } });
    },
  },
  {
    limit: "webhook-listeners-partner",
    noun: "webhooks",
    // Sixteen in each process.
    left: 32,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const item = caseOf("webhooks.events");
      const now = swept.server.services.clock.now();
      const orgIds = Array.from({ length: 12 }, () => swept.server.services.random.uuid());
      const rows = orgIds.map((id, n) => ({ ...plainOrganization(`listening-${n}`), id, partnerId: tenant.partnerId }));
      const stamps = { createdAt: now, updatedAt: now };
      await swept.db
        .insertInto("organizations")
        .values(rows.map((row) => ({ ...row, ...stamps })))
        .execute();
      // Of three persons, so that none meets the limit of a session.
      const permissions = ["organizations:write", "organizations:read", "devices:read"] as const;
      const callers = await Promise.all(
        permissions.map((_, n) => swept.caller("partner", tenant, { permissions: permissions.slice(0, n + 1) })),
      );
      const [first] = callers;
      const asked = (orgId: string) => ask(swept.server, item, { tenant, token: first?.token, query: { orgId } });
      const cursors = await Promise.all(orgIds.map(async (orgId) => (await asked(orgId)).body.cursor as string));
      return (number) => {
        const [orgId, cursor] = [orgIds[number % 12], cursors[number % 12]];
        const token = callers[1 + (number % 2)]?.token;
        return { item, options: { tenant, token, query: { orgId, cursor, waitSeconds: "1" } } };
      };
    },
  },
  {
    limit: "live-device",
    noun: "processes",
    left: 3,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      // Two persons, so that none meets the limit of a user.
      const permissions = ["devices:read", "devices:write"] as const;
      const callers = await Promise.all(
        permissions.map((_, n) => swept.caller("partner", tenant, { permissions: permissions.slice(0, n + 1) })),
      );
      const item = caseOf("processes.list");
      return (number) => {
        const token = callers[Math.floor(number / 2) % 2]?.token;
        return { item, options: { tenant, token, silentAgent: true } };
      };
    },
  },
  {
    limit: "live-user",
    noun: "processes",
    left: 5,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      const { random, clock } = swept.server.services;
      const devices = Array.from({ length: 7 }, (_, n) => ({
        ...plainDevice(clock.now()),
        id: random.uuid(),
        orgId: tenant.orgId,
        siteId: tenant.siteId,
        agentId: random.bytes(32).toString("hex"),
        hostname: `asked-${n}`,
      }));
      await swept.db.insertInto("devices").values(devices).execute();
      const item = caseOf("processes.list");
      return (number) => {
        const deviceId = devices[number % devices.length]?.id as string;
        return { item, options: { tenant, token, params: { deviceId }, silentAgent: true } };
      };
    },
  },
];

export const wasAdmitted = ({ status }: Answer): boolean => status !== 429;
