import { RateLimitError, RmmError } from "#sdk/errors";
import type { Context } from "../../context.ts";
import { momentText } from "../../output/moment.ts";
import { withProgress } from "../../output/spinner.ts";
import { inParallel } from "../../provisioning/in-parallel.ts";
import { type ChainName, type ChainReport, chainText, notVerified } from "./report.ts";
import { verifiedRecord } from "./verified-record.ts";

/** Longest wait for a busy server or a limit per minute; an hourly limit takes longer. */
const BUSY_MS = 61_000;
const BUSY_TRIES = 20;
/** As many as a process of the server verifies at once for one partner. */
const WIDTH = 2;

type Why = ChainReport["error"];

/**
 * Verifies chain by chain, the least recently verified first. What the server refuses is reported and the rest goes on;
 * a used-up limit is waited for with --wait, else it ends the run: the next one begins with the rest.
 */
export async function verifyAll(
  context: Context,
  chosen: readonly ChainName[],
  verify: (chain: ChainName) => Promise<ChainReport>,
  tell: (report: ChainReport) => Promise<void>,
): Promise<ChainReport[]> {
  const { shell, globals } = context;
  const record = await verifiedRecord(context);
  const chains = record.sorted(chosen);
  const until = globals.timeoutMs === undefined ? Number.POSITIVE_INFINITY : shell.now() + globals.timeoutMs;
  const rest: ChainName[] = [];
  let used: NonNullable<Why> | undefined;
  let done = 0;
  const reports = await withProgress(context, "Verifying", ({ say }) =>
    inParallel(
      chains,
      async (chain) => {
        const report = await reported(chain);
        done += 1;
        say(`${done} of ${chains.length} chains verified`);
        await tell(report);
        return report;
      },
      WIDTH,
    ),
  );
  if (rest.length > 0) await tellRest(context, rest, chains.length);
  return reports;

  async function reported(chain: ChainName): Promise<ChainReport> {
    try {
      if (used === undefined) {
        const report = await patiently(chain);
        await record.keep(chain);
        return report;
      }
    } catch (error) {
      if (!(error instanceof RmmError) || shell.signal.aborted) throw error;
      const why = { code: error.code, message: error.message };
      if (!(error instanceof RateLimitError)) return notVerified(chain, why);
      used = why;
    }
    rest.push(chain);
    return notVerified(chain, used);
  }

  async function patiently(chain: ChainName): Promise<ChainReport> {
    for (let tries = 1; ; tries++) {
      try {
        return await verify(chain);
      } catch (error) {
        const retryAt = error instanceof RateLimitError ? error.retryAt?.getTime() : undefined;
        const isSoon = retryAt !== undefined && retryAt - shell.now() < BUSY_MS && tries < BUSY_TRIES;
        if (shell.signal.aborted || retryAt === undefined || retryAt >= until || !(globals.wait || isSoon)) throw error;
        const when = momentText(retryAt, shell.now());
        await context.notice(`${done} of ${chains.length} chains verified; the server takes more ${when}`);
        await sleep(retryAt - shell.now(), shell.signal);
      }
    }
  }
}

const NAMED_MAX = 10;

async function tellRest(context: Context, rest: readonly ChainName[], all: number): Promise<void> {
  const named = rest.slice(0, NAMED_MAX).map(chainText);
  const more = rest.length > NAMED_MAX ? ` and ${rest.length - NAMED_MAX} more` : "";
  await context.notice(
    `${rest.length} of ${all} chains were not verified, because the hourly limit is used up: ${named.join(", ")}${more}. ` +
      "The same command goes on with them later; --wait waits",
  );
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  await wait(Math.max(0, ms), undefined, { signal });
}
