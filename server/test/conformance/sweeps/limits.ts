import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "#server/main";
import { silentLog } from "#server/platform/log";
import { type Answer, type DatabaseName, send as sendTo } from "../../harness.ts";
import { addressOf, type Burst, settings, wasAdmitted } from "../bursts/burst.ts";
import { bursts } from "../bursts/index.ts";
import { cases } from "../cases.ts";
import { ask, type Swept, startSweep } from "../sweep.ts";

/** Requests beyond the limit: enough to show any gap between checking and counting. */
const BEYOND = 15;

/** Parallel requests, on Postgres to two servers of one database, never get more than a limit allows. */
export const sweepLimits = (database: DatabaseName) =>
  describe(`limits on ${database}`, () => {
    let swept: Swept;
    let second: RunningServer | undefined;
    beforeAll(async () => {
      swept = await startSweep(database, { env: settings });
      const { clock, services, mails } = swept.server;
      const mailer = { delivers: true, send: async (mail: (typeof mails)[number]) => void mails.push(mail) };
      const shared = { config: { ...services.config, port: 0 }, clock, log: silentLog, mailer, background: false };
      if (database === "postgres") second = await startServer(shared);
    });
    afterAll(async () => {
      await second?.stop();
      await swept?.stop();
    });

    // All calls come from one address.
    beforeEach(() => swept.server.services.store.volatile.deleteFrom("rateLimits").execute());

    const nouns = new Set(cases.map(({ endpoint }) => endpoint.noun));
    it.each(bursts.filter(({ noun }) => nouns.has(noun)))(
      "$limit admits no more than it says ($noun)",
      async (burst) => {
        const attempt = await burst.ready(swept);
        const numbers = Array.from({ length: burst.left + BEYOND }, (_, number) => number);
        const asking = (number: number) =>
          burst.byAddress ? from(addressOf(number), attempt(number)) : attempt(number);
        const answers = await Promise.all(numbers.map((number) => send(number, asking(number))));
        expect(
          answers.filter(({ status, body }) => status >= 500 && body.code !== "AGENT_TIMEOUT").map(({ body }) => body),
        ).toEqual([]);
        const admitted = (await burst.admitted?.(swept)) ?? answers.filter(wasAdmitted).length;
        expect(admitted).toBeGreaterThan(0);
        expect(admitted).toBeLessThanOrEqual(burst.left);
      },
    );

    type Asking = ReturnType<Awaited<ReturnType<Burst["ready"]>>>;
    const from = (address: string, asking: Asking): Asking => {
      if ("send" in asking) throw new Error("only requests of the contract are given an address");
      const headers = { ...asking.options.headers, "x-forwarded-for": address };
      return { ...asking, options: { ...asking.options, headers } };
    };
    /** Alternates between the servers. */
    const send = (number: number, asking: Asking): Promise<Answer> => {
      const other = number % 2 === 1 ? second : undefined;
      if ("send" in asking) return asking.send((other ?? swept.server).url);
      return ask(other ? { ...swept.server, request: toSecond } : swept.server, asking.item, asking.options);
    };
    const toSecond: Swept["server"]["request"] = (method, path, options) =>
      sendTo((second as RunningServer).url, method, path, options);
  });

/** Names of all limits in the source of the server. */
export function limitsInSource(): string[] {
  const files = ["access", "http", "features"].flatMap((room) =>
    (readdirSync(join("server", room), { recursive: true }) as string[]).map((name) => join("server", room, name)),
  );
  const sources = files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  return sources.flatMap((name) =>
    [...readFileSync(name, "utf8").matchAll(/name: "([\w-]+)",\s*max\b/g)].map((match) => match[1] as string),
  );
}
