import type { Endpoint } from "#contract/core/endpoint";
import { type ErrorCode, messageOf } from "#contract/core/errors";
import type { deviceCommands } from "#contract/resources/fleet/device-commands";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { Problem } from "#server/problem";
import { getTarget } from "./get-target.ts";
import { OLDER, type Target } from "./judge-device.ts";
import { queueFor } from "./queue.ts";
import { typedPayload } from "./typed-payload.ts";

type Types = typeof deviceCommands.queueMany extends Endpoint<infer T> ? T : never;
type QueueManyCall = Call<Types>;
type Answer = Types["result"];
type Failure = Answer["failed"][number];

/**
 * Sends many devices a command: each is judged by itself, and one that cannot have it is told of beside the others
 * (docs/fleet.md, "Queueing commands"). Every command leaves an entry in the chain of its organization.
 */
export async function queueManyCommands(call: QueueManyCall): Promise<Answer> {
  const asked = typedPayload(call.body);
  // In one order, so that two calls about the same devices do not wait for each other in a circle.
  const ids = [...new Set(call.body.deviceIds)].sort();
  return call.transaction(async (tx) => {
    const answer: Answer = { commands: [], skipped: [], failed: [] };
    const failed = (deviceId: string, code: ErrorCode) => {
      const message = code === "VALIDATION_ERROR" ? OLDER : messageOf(code);
      answer.failed.push({ deviceId, code: code as Failure["code"], message });
    };
    for (const deviceId of ids) {
      const device = await findTarget(call, tx, deviceId);
      if ("code" in device) {
        failed(deviceId, device.code);
        continue;
      }
      const queued = await queueFor(call, tx, { device, ...asked });
      if (!("code" in queued)) {
        record(call, { device, queued, first: answer.commands.length === 0 });
        answer.commands.push(queued);
      } else if (queued.code === "ALREADY_PENDING") {
        answer.skipped.push({ deviceId, code: queued.code, commandId: String(queued.details?.["commandId"]) });
      } else failed(deviceId, queued.code);
    }
    if (answer.commands.length === 0) call.audit.skip();
    return answer;
  });
}

async function findTarget(call: QueueManyCall, tx: Tx, id: string): Promise<Target | { code: ErrorCode }> {
  try {
    return await getTarget(call, tx, id);
  } catch (error) {
    if (error instanceof Problem) return { code: error.code };
    throw error;
  }
}

interface Recorded {
  readonly device: Target;
  readonly queued: { readonly id: string; readonly type: string };
  readonly first: boolean;
}

function record(call: QueueManyCall, { device, queued, first }: Recorded): void {
  const note = {
    resource: { type: "device", id: device.id, name: device.hostname },
    owner: { orgId: device.orgId },
    siteIds: [device.siteId],
    details: { commandId: queued.id, type: queued.type },
  };
  if (first) call.audit.note(note);
  else call.audit.also({ ...note, action: "device.command.queue" });
}
