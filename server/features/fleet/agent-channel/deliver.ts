import { CLAIM_MAX, type Claim } from "#server/features/fleet/device-commands/claim-commands";
import type { Implementation } from "#server/http/implement";
import type { Line } from "./line.ts";
import { claimAll, putAllBack } from "./work.ts";

/**
 * Sends what waits. A command is marked sent before it is written; one that cannot be written any more, because the
 * connection has ended or its peer does not read, goes back, so that the next connection has it. Answers whether some
 * are held back until the peer has read.
 */
export async function deliver(
  line: Pick<Line, "open" | "idle" | "send">,
  run: <R>(implementation: Implementation, gone?: AbortSignal) => Promise<R>,
): Promise<boolean> {
  for (;;) {
    if (!line.open) return false;
    if (!line.idle) return true;
    const claims = await run<Claim[]>(claimAll);
    const unsent: Claim[] = [];
    for (const claim of claims) {
      const { id, type: commandType, payload } = claim;
      if (line.open && line.idle) line.send({ type: "command", id, commandType, payload });
      else unsent.push(claim);
    }
    // The peer may be gone: this is done all the same.
    if (unsent.length > 0) await run(putAllBack(unsent), new AbortController().signal);
    if (unsent.length > 0 || claims.length < CLAIM_MAX) return unsent.length > 0;
  }
}
