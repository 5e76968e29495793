import { asSystem } from "#server/db/as-system";
import { prepared } from "#server/db/prepared";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import type { Asking } from "#server/room-hooks";
import type { Services } from "#server/services";
import { findSecret, refuseGuess } from "./guesses.ts";
import type { AgentPrincipal } from "./principal.ts";
import type { Limit } from "./rate-limit.ts";
import { tellIfReplaced } from "./replaced-tokens.ts";

/** Organizations whose agents are refused (docs/tenancy.md, "Organization status"). */
const severed: readonly string[] = ["archived", "churned", "purging"];

/** Unknown tokens per minute and client address (docs/agents.md, "Limits of an agent"). */
export const agentGuesses: Limit = { name: "agent-guess", max: 300, windowSeconds: 60 };

/**
 * The device of an agent token. Each device has a main and a watchdog credential, and for ten minutes after a rotation
 * the previous pair (docs/fleet.md, "Agent identity").
 */
export async function loadAgent(services: Services, token: string, asking: Asking): Promise<AgentPrincipal> {
  const guess = { limit: agentGuesses, ip: asking.ip };
  if (!/^agt_[0-9a-f]{64}$/.test(token)) {
    await refuseGuess(services, guess);
    throw problem("INVALID_AGENT_CREDENTIALS");
  }
  const hash = sha256(token);
  const row = await findSecret(services, { ...guess, hash }, () => find(services, hash));
  if (!row) await tellIfReplaced(services, hash, asking);
  return judge(services, hash, row);
}

/** The device as it is now, of a token that opened a connection. */
export const reloadAgent = async (services: Services, hash: string): Promise<AgentPrincipal> =>
  judge(services, hash, await find(services, hash));

const find = (services: Services, hash: string) =>
  byToken(asSystem(services, "authenticate"), { hash, now: services.clock.now() });

async function judge(services: Services, hash: string, row: Awaited<ReturnType<typeof find>>): Promise<AgentPrincipal> {
  if (!row || row.agentId === null) throw problem("INVALID_AGENT_CREDENTIALS");
  const known = (reason: string) => ({
    refused: {
      actor: { type: "agent", id: row.id } as const,
      owner: { orgId: row.orgId },
      reason,
      ...(row.siteId === null ? {} : { siteIds: [row.siteId] }),
    },
  });
  const leaving = row.status === "decommissioned" && (await mayStillUninstall(services, row.id));
  if (row.status === "decommissioned" && !leaving)
    throw problem("DEVICE_DECOMMISSIONED", { toAgent: true, ...known("decommissioned") });
  const tenantGone = row.orgDeletedAt !== null || row.partnerDeletedAt !== null || row.partnerStatus === "churned";
  if (tenantGone || severed.includes(row.orgStatus))
    throw problem("INVALID_AGENT_CREDENTIALS", known("organization_inactive"));
  if (row.status === "quarantined") throw problem("DEVICE_QUARANTINED", known("quarantined"));
  return {
    kind: "agent",
    tokenHash: hash,
    deviceId: row.id,
    agentId: row.agentId,
    hostname: row.hostname,
    orgId: row.orgId,
    siteId: row.siteId,
    credential: hash === row.watchdogTokenHash || hash === row.previousWatchdogTokenHash ? "watchdog" : "agent",
    orgStatus: row.orgStatus,
    leaving,
    device: {
      status: row.status,
      lastSeenAt: row.lastSeenAt,
      lastSeenIp: row.lastSeenIp,
      hostname: row.hostname,
      deviceRole: row.deviceRole,
      deviceRoleSource: row.deviceRoleSource,
      watchdogStatus: row.watchdogStatus,
      mainAgentSilentSince: row.mainAgentSilentSince,
      tokensIssuedAt: row.tokensIssuedAt,
      connectionId: row.connectionId,
    },
  };
}

/** One command is left to it (docs/fleet.md, "Decommissioning"). */
async function mayStillUninstall(services: Services, deviceId: string): Promise<boolean> {
  const open = await asSystem(services, "authenticate")
    .selectFrom("deviceCommands")
    .select("id")
    .where("deviceId", "=", deviceId)
    .where("type", "=", "self_uninstall")
    .where("status", "in", ["pending", "sent"])
    .executeTakeFirst();
  return open !== undefined;
}

const byToken = prepared(["hash", "now"], (db, at) =>
  db
    .selectFrom("devices")
    .innerJoin("organizations", "organizations.id", "devices.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .where((eb) =>
      eb.or([
        eb("agentTokenHash", "=", at.hash),
        eb("watchdogTokenHash", "=", at.hash),
        eb("previousAgentTokenHash", "=", at.hash).and("previousTokensExpireAt", ">", at.now),
        eb("previousWatchdogTokenHash", "=", at.hash).and("previousTokensExpireAt", ">", at.now),
      ]),
    )
    .select([
      "devices.id",
      "devices.agentId",
      "devices.hostname",
      "devices.orgId",
      "devices.siteId",
      "devices.status",
      "devices.watchdogTokenHash",
      "devices.lastSeenAt",
      "devices.lastSeenIp",
      "devices.deviceRole",
      "devices.deviceRoleSource",
      "devices.watchdogStatus",
      "devices.mainAgentSilentSince",
      "devices.tokensIssuedAt",
      "devices.connectionId",
      "organizations.status as orgStatus",
      "organizations.deletedAt as orgDeletedAt",
      "partners.status as partnerStatus",
      "partners.deletedAt as partnerDeletedAt",
      "previousWatchdogTokenHash",
    ]),
);
