import { asSystem } from "#server/db/as-system";
import { prepared } from "#server/db/prepared";
import { after, DAY } from "#server/platform/clock";
import type { Asking } from "#server/room-hooks";
import type { Services } from "#server/services";
import type { Limit } from "./rate-limit.ts";

/** How long a token is known after it was replaced (docs/fleet.md, "Replaced tokens"). */
export const REMEMBERED_MS = 30 * DAY;

/** Whoever has a device's old tokens does not flood its log. */
const told: Limit = { name: "agent-token-reuse", max: 1, windowSeconds: 86_400 };

/** Somebody presents a token that is none: if a device has replaced it, its organization is told, once a day. */
export async function tellIfReplaced(services: Services, hash: string, asking: Asking): Promise<void> {
  const now = services.clock.now();
  const since = after(now, -REMEMBERED_MS);
  const device = await byReplacedToken(asSystem(services, "authenticate"), { hash, since });
  if (!device) return;
  await asSystem(services, "tell of suspect agents")
    .transaction()
    .execute(async (tx) => {
      const { allowed } = await services.limiter.takeWithin(tx, told, device.id);
      if (allowed) await services.hooks.onReplacedToken({ tx, now, services, device, asking });
    });
  services.wakeAuditWriter();
}

const byReplacedToken = prepared(["hash", "since"], (db, at) =>
  db
    .selectFrom("replacedAgentTokens")
    .innerJoin("devices", "devices.id", "replacedAgentTokens.deviceId")
    .select(["devices.id", "devices.orgId", "devices.siteId", "devices.hostname", "devices.displayName"])
    .where("replacedAgentTokens.tokenHash", "=", at.hash)
    .where("replacedAgentTokens.replacedAt", ">", at.since),
);
