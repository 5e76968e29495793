import type { UserCommandType } from "#contract/core/command-types";
import type { Endpoint } from "#contract/core/endpoint";
import type { deviceCommands } from "#contract/resources/fleet/device-commands";
import { holdOrganization } from "#server/access/hold-organization";
import { findOrg } from "#server/access/org-access";
import { user } from "#server/access/principal";
import { held, shared } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { commandView } from "./command-view.ts";
import { getTarget } from "./get-target.ts";
import { insertCommand } from "./insert-command.ts";
import { findPending, OLDER, type Refusal, refusalFor, refusalOfOrg, type Target } from "./judge-device.ts";
import { getCommand } from "./queries.ts";
import { tellDevice } from "./signals.ts";
import { typedPayload } from "./typed-payload.ts";
import { holdRelay } from "./wake.ts";

type QueueCall = typeof deviceCommands.queue extends Endpoint<infer T> ? Call<T> : never;

/** Sends one device a command (docs/fleet.md, "Queueing commands"). */
export async function queueCommand(call: QueueCall) {
  const asked = typedPayload(call.body);
  return call.transaction(async (tx) => {
    const device = await getTarget(call, tx, call.params.id);
    call.audit.note({
      resource: { type: "device", id: device.id, name: device.hostname },
      owner: { orgId: device.orgId },
      siteIds: [device.siteId],
      details: { type: asked.type },
    });
    const queued = await queueFor(call, tx, { device, ...asked });
    if ("code" in queued) throw refused(queued);
    call.audit.note({ details: { commandId: queued.id, type: queued.type } });
    return queued;
  });
}

export function refused({ code, details }: Refusal) {
  if (code === "VALIDATION_ERROR") return invalid({ path: "payload.version", message: OLDER });
  return problem(code, details === undefined ? {} : { details });
}

interface Asked {
  readonly device: Target;
  readonly type: UserCommandType;
  readonly payload: Record<string, unknown>;
}

/** The command of one device as it is shown, or why there is none. */
export async function queueFor(
  call: Call,
  tx: Tx,
  { device: named, type, payload }: Asked,
): Promise<ReturnType<typeof commandView> | Refusal> {
  const org = await findOrg(call, named.orgId, tx);
  const stands = org && (await holdOrganization(tx, call.services, org.id));
  const ofOrg = stands ? refusalOfOrg({ status: stands.orgStatus }) : ({ code: "NOT_FOUND" } as const);
  if (ofOrg) return ofOrg;
  // Held until the commit: a quarantine or a move that comes now finds the command and ends it.
  const row = tx.selectFrom("devices").select("status").where("id", "=", named.id);
  const { dialect } = call.services.store;
  const locked = await (type === "wake" ? shared(row, dialect) : held(row, dialect)).executeTakeFirst();
  if (!locked) return { code: "NOT_FOUND" };
  const device = { ...named, status: locked.status };
  const refusal = refusalFor(device, type, payload);
  if (refusal) return refusal;
  const pending = await findPending(tx, device, type);
  if (pending) return { code: "ALREADY_PENDING", details: { commandId: pending.id } };
  const target = type === "wake" ? await holdRelay(tx, device, dialect) : { device, payload };
  if ("code" in target) return target;
  const id = await insertCommand(tx, call.services, {
    device: target.device,
    type: type === "wake" ? "wake_on_lan" : type,
    payload: target.payload,
    createdBy: call.who.kind === "apiKey" ? null : user(call).userId,
  });
  call.afterCommit(() => tellDevice(call.services, target.device.id));
  return commandView(await getCommand(tx, target.device, id));
}
