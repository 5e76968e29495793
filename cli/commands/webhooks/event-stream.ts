import { setTimeout as pause } from "node:timers/promises";
import type { DeliveryBody } from "#contract/core/webhook-request";
import { RmmError } from "#sdk/rmm-error";
import type { Context } from "../../context.ts";

interface Asked {
  readonly query: { orgId?: string; events: string };
  readonly signal: AbortSignal;
  /** The server answered: everything from here on is told. */
  readonly ready: () => Promise<void>;
  readonly take: (event: DeliveryBody) => Promise<void>;
}

const WAIT_SECONDS = 20;
const SLACK_MS = 15_000;
const FIRST_PAUSE_MS = 500;
const PAUSE_MAX_MS = 15_000;

/**
 * Hands over every event from now on until the signal. A server that is away is asked again until it is back, and goes on
 * where it was; what it refuses ends the stream.
 */
export async function streamEvents(context: Context, { query, signal, ready, take }: Asked): Promise<void> {
  const client = await context.client();
  const { timeoutMs } = context.globals;
  const waitSeconds = timeoutMs === undefined ? WAIT_SECONDS : Math.max(1, Math.min(20, Math.floor(timeoutMs / 2_000)));
  let cursor: string | undefined;
  for (let failures = 0; !signal.aborted; ) {
    try {
      const page = await client.webhooks.events(
        { query: { ...query, ...(cursor !== undefined && { cursor, waitSeconds }) } },
        { signal, retries: 0, ...(timeoutMs === undefined && { timeoutMs: WAIT_SECONDS * 1_000 + SLACK_MS }) },
      );
      if (failures > 0) await context.notice("Connected again: goes on where it was");
      failures = 0;
      if (cursor === undefined) await ready();
      if (page.missed) await context.notice("Some events are no longer kept by the server, and are not forwarded");
      for (const event of page.data) await take(event);
      cursor = page.cursor;
    } catch (error) {
      if (signal.aborted) return;
      if (cursor === undefined || !passes(error)) throw error;
      if (failures === 0) await context.notice(`${sentence(error.message)} Tries again until it is back (Ctrl-C ends)`);
      failures += 1;
      const waitMs = Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
      await pause(Math.max(waitMs, error.retryAfterMs ?? 0), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** No answer, or one that says to come back: nothing is wrong with the request. */
const passes = (error: unknown): error is RmmError =>
  error instanceof RmmError && (error.retryable || error.status === undefined || error.status >= 500);

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
