import { asSystem } from "#server/db/as-system";
import { endOne } from "#server/features/fleet/device-commands/end-open-commands";
import { commandTopic, tellDevice } from "#server/features/fleet/device-commands/signals";
import { type Taken, takeAnswer } from "#server/features/fleet/device-commands/take-answer";
import type { Call } from "#server/http/call";
import { SECOND } from "#server/platform/clock";

export type Ended = Exclude<Taken, { open: unknown }>;

/** A signal may be lost: whoever waits looks at least this often. */
const LOOK_EVERY_MS = 2 * SECOND;

/**
 * Wakes the agent and waits until the command has ended, wherever its answer arrives; no connection is held meanwhile. At
 * the end of the wait the command ends too. Of a caller who has gone what runs already is awaited all the same: the
 * audit log says how it ended.
 */
export async function awaitAnswer(
  call: Pick<Call, "services" | "gone">,
  { id, deviceId }: { id: string; deviceId: string },
): Promise<Ended> {
  const { services, gone } = call;
  const { signals } = services.store;
  const ends = performance.now() + services.config.liveWaitSeconds * SECOND;
  const leftMs = () => Math.max(0, ends - performance.now());
  const wake = () =>
    signals.heard(commandTopic(id), Math.min(leftMs(), LOOK_EVERY_MS), gone.aborted ? undefined : gone);
  let woken = wake();
  tellDevice(services, deviceId);
  for (;;) {
    await woken;
    const taken = await takeAnswer(asSystem(services, "work commands"), services, id);
    if (!("open" in taken)) return taken;
    if (leftMs() === 0 || signals.closed) await endLive(call, { id, status: taken.open, reason: "not_answered" });
    else if (gone.aborted && taken.open === "pending")
      await endLive(call, { id, status: "pending", reason: "caller_gone" });
    woken = wake();
  }
}

/** The next look says how it ended: the answer may come first. */
async function endLive(
  { services }: Pick<Call, "services">,
  command: { id: string; status: "pending" | "sent"; reason: string },
): Promise<void> {
  const now = services.clock.now();
  await asSystem(services, "work commands")
    .transaction()
    .execute((tx) => endOne(tx, services, { ...command, now }));
  services.store.signals.send(commandTopic(command.id));
}
