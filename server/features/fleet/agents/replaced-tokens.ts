import { REMEMBERED_MS } from "#server/access/replaced-tokens";
import { atSite } from "#server/audit/at-site";
import { recordWork } from "#server/audit/record-work";
import { asSystem } from "#server/db/as-system";
import type { Tx } from "#server/db/unit-of-work";
import { notify } from "#server/features/people/notifications/notify";
import { after } from "#server/platform/clock";
import type { ReplacedTokenEvent } from "#server/room-hooks";
import type { Services } from "#server/services";

interface Replaced {
  readonly agentTokenHash: string | null;
  readonly watchdogTokenHash: string | null;
}

/** Keeps the pair that a device has replaced: whoever uses it once it is void is noticed. */
export async function rememberReplaced(
  tx: Tx,
  { id, orgId }: { id: string; orgId: string },
  { agentTokenHash, watchdogTokenHash }: Replaced,
  now: string,
): Promise<void> {
  const hashes = [agentTokenHash, watchdogTokenHash].filter((hash) => hash !== null);
  if (hashes.length === 0) return;
  await tx
    .insertInto("replacedAgentTokens")
    .values(hashes.map((tokenHash) => ({ tokenHash, orgId, deviceId: id, replacedAt: now })))
    .execute();
}

/** Returns how many are known no more. */
export async function forgetReplaced(services: Services): Promise<number> {
  const gone = await asSystem(services, "purge expired")
    .deleteFrom("replacedAgentTokens")
    .where("replacedAt", "<=", after(services.clock.now(), -REMEMBERED_MS))
    .executeTakeFirst();
  return Number(gone.numDeletedRows);
}

/** An entry, and a notification to whoever may take the device out of service (docs/fleet.md, "Replaced tokens"). */
export async function tellOfReplaced({ tx, services, device, asking }: ReplacedTokenEvent): Promise<void> {
  const { id, orgId, siteId, hostname } = device;
  await recordWork(tx, services, {
    orgId,
    action: "agent.token.rotate",
    actorType: "agent",
    actorId: id,
    result: "denied",
    resourceType: "device",
    resourceId: id,
    resourceName: hostname,
    ipAddress: asking.ip,
    userAgent: asking.userAgent,
    details: { reason: "replaced_token", requestId: asking.requestId, ...atSite(siteId) },
  });
  const name = device.displayName ?? hostname;
  await notify(tx, services, {
    about: { orgId, siteId },
    to: { holding: "devices:delete" },
    type: "security",
    priority: "high",
    title: `A replaced token of ${name} was used`,
    message: `${asking.ip ?? "Somebody"} presented a token that this device has replaced, and was refused. A copy of its agent is at work, or the agent has missed its new tokens.`,
    link: `/devices/${id}`,
    metadata: { deviceId: id, ip: asking.ip },
  });
}
