import type { z } from "zod";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import type { Call } from "#server/http/call";
import { awaitAnswer } from "./await-answer.ts";
import { type Asked, queueLive } from "./queue-live.ts";
import { readAnswer } from "./read-answer.ts";

export interface Question<T> extends Asked {
  readonly deviceId: string;
  /** Shape of the answer's data; what does not fit it is 502. */
  readonly shape: z.ZodType<T>;
  /** It changes the machine: what came of it is unverified where the agent took it and did not answer. */
  readonly changes?: true;
}

/**
 * Asks an agent while somebody waits: judged, queued, answered within `LIVE_WAIT_SECONDS`, handed over and not kept
 * (docs/remote.md, "Live calls"). Call it outside a transaction.
 */
export async function askAgent<T>(
  call: Call,
  { deviceId, shape, changes = undefined, ...asked }: Question<T>,
): Promise<T> {
  const device = await getTarget(call, call.db, deviceId);
  call.audit.note({
    resource: { type: "device", id: device.id, name: device.hostname },
    owner: { orgId: device.orgId },
    siteIds: [device.siteId],
    details: asked.payload,
  });
  const id = await queueLive(call, device, asked);
  call.audit.note({ details: { commandId: id } });
  const ended = await awaitAnswer(call, { id, deviceId: device.id });
  if (changes && ended.status === "timeout") call.audit.note({ details: { unverified: true } });
  return readAnswer(ended, shape, changes === true);
}
