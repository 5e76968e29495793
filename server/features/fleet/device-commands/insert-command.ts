import { type CommandType, commandRules } from "#contract/core/command-types";
import type { Tx } from "#server/db/unit-of-work";
import { after } from "#server/platform/clock";
import type { Services } from "#server/services";
import { masked, targetRoleOf } from "./rules.ts";
import { sealPayload } from "./sealed-payload.ts";

export interface NewCommand {
  readonly device: {
    readonly id: string;
    readonly orgId: string;
    readonly hostname: string;
    readonly watchdogStatus: string | null;
  };
  readonly type: CommandType;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdBy?: string | null;
  /** The row that its result updates. */
  readonly origin?: { readonly kind: string; readonly id: string };
  /** Where the type leaves its times to the caller. */
  readonly waitMs?: number;
  readonly runMs?: number;
}

/**
 * Queues a command; whether the device may have it is the caller's to find out. Secrets in its payload are masked where
 * people read it, and sealed until it is sent (docs/fleet.md, "Commands"). Tell the device with `tellDevice` after the
 * commit. Returns its id.
 */
export async function insertCommand(
  tx: Tx,
  { clock, random, vault }: Pick<Services, "clock" | "random" | "vault">,
  { device, type, payload, createdBy = null, origin, ...times }: NewCommand,
): Promise<string> {
  const id = random.uuid();
  const now = clock.now();
  const rules = commandRules(type);
  const { shown, hidden } = masked(payload);
  await tx
    .insertInto("deviceCommands")
    .values({
      id,
      orgId: device.orgId,
      deviceId: device.id,
      hostname: device.hostname,
      type,
      payload: shown,
      payloadSealed: hidden ? sealPayload(vault, id, payload) : null,
      status: "pending",
      targetRole: targetRoleOf(type, device.watchdogStatus),
      originKind: origin?.kind ?? null,
      originId: origin?.id ?? null,
      createdBy,
      queuedAt: now,
      sentAt: null,
      completedAt: null,
      expiresAt: after(now, times.waitMs ?? rules.waitMs),
      runMs: times.runMs ?? rules.runMs,
      outcome: null,
      answerSealed: null,
      updatedAt: now,
    })
    .execute();
  return id;
}
