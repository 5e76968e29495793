import { randomUUID } from "node:crypto";
import pg from "pg";
import type { Wire } from "./signals.ts";

const CHANNEL = "rmm_signals";
const RETRY_MS = 1_000;

interface WireOptions {
  readonly url: string;
  readonly onError: ((error: Error) => void) | undefined;
  readonly pool: pg.Pool;
}

/**
 * LISTEN and NOTIFY. Hearing takes a connection of its own, which is made anew when it breaks; sending is a statement of
 * its own, after the commit, because notifications sent in transactions make their commits wait for each other.
 */
export function postgresWire({ url, onError, pool }: WireOptions): Wire {
  const own = randomUUID();
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  const sending = new Set<Promise<unknown>>();

  async function listen(heard: (topic: string) => void): Promise<void> {
    const next = new pg.Client({
      connectionString: url,
      application_name: "rmm signals",
      connectionTimeoutMillis: 10_000,
    });
    client = next;
    const again = (error?: Error) => {
      if (client !== next) return;
      client = undefined;
      if (error) onError?.(error);
      void next.end().catch(() => undefined);
      if (!closed) retry = setTimeout(() => void listen(heard), RETRY_MS);
    };
    next.on("error", again);
    next.on("end", () => again());
    next.on("notification", ({ payload = "" }) => {
      const at = payload.indexOf(" ");
      if (payload.slice(0, at) !== own) heard(payload.slice(at + 1));
    });
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
    } catch (error) {
      again(error as Error);
    }
  }

  return {
    open: (heard) => void listen(heard),
    send(topic) {
      if (closed) return;
      const sent = pool.query("select pg_notify($1, $2)", [CHANNEL, `${own} ${topic}`]).catch(() => undefined);
      sending.add(sent);
      void sent.finally(() => sending.delete(sent));
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      const open = client;
      client = undefined;
      await Promise.all([...sending, open?.end().catch(() => undefined)]);
    },
  };
}
