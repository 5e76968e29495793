import { agentRequests } from "#server/access/agent-limits";
import { agentGuesses } from "#server/access/load-agent";
import { reportLimit, reportSubject } from "#server/features/fleet/agent-reports/take-report";
import { changesTold } from "#server/features/fleet/agents/identity-change";
import { rotations } from "#server/features/fleet/agents/rotate-token";
import { newPatchesLimit } from "#server/features/software/patches/share-patches";
import { sha256 } from "#server/platform/vault";
import { connect } from "../../agent-socket.ts";
import { auditOf } from "../../audit-of.ts";
import { caseOf } from "../cases.ts";
import { ask, type CallOptions } from "../sweep.ts";
import { ADDRESS, type Attempt, always, type Burst, useUp, useUpWithin } from "./burst.ts";
import { deviceGroupBursts } from "./device-groups.ts";
import { deviceLogBursts } from "./device-logs.ts";
import { searchBursts } from "./search.ts";

/** Reports of a device, each with another name. */
const renaming =
  (tenant: CallOptions["tenant"]): Attempt =>
  (number) => ({
    item: caseOf("agents.heartbeat"),
    options: { tenant, token: tenant.agentToken, body: { hostname: `name-${number}` } },
  });

export const fleetBursts: readonly Burst[] = [
  ...searchBursts,
  ...deviceGroupBursts,
  ...deviceLogBursts,
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
];
