import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";

/** How long a caller may take for one part: who stops reading holds nothing for ever. */
const STALLED_MS = 60_000;

/**
 * Sends what is made part by part, each when the one before was taken, and lets other requests in between. Whatever
 * fails ends the connection without the end of the answer. Throws that failure; a caller that went away is none.
 */
export async function sendStream(
  response: ServerResponse,
  parts: AsyncIterable<string>,
  stalledMs = STALLED_MS,
): Promise<void> {
  try {
    for await (const part of parts) {
      if (response.destroyed) return;
      if (!response.write(part)) await taken(response, stalledMs);
      if (response.destroyed) return;
      await turn();
    }
    response.end();
  } catch (error) {
    const wasThere = !response.destroyed;
    response.destroy();
    if (wasThere) throw error;
  }
}

/** Resolves when there is room again, and when nobody reads any more. */
function taken(response: ServerResponse, stalledMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), stalledMs);
    const over = () => {
      clearTimeout(timer);
      response.off("drain", over);
      response.off("close", over);
      resolve();
    };
    response.once("drain", over);
    response.once("close", over);
    if (response.destroyed) over();
  });
}
