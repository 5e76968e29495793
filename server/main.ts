import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buildServices, type Seams } from "./app.ts";
import { isSigned, restateUnsignedPrunes } from "./audit/restate.ts";
import { startBackground } from "./background.ts";
import { bootstrap } from "./bootstrap.ts";
import { type Config, ConfigError } from "./config.ts";
import { holdAlone } from "./db/dialect/sole-server.ts";
import { toldOf } from "./db/migrate.ts";
import { implementations } from "./generated/routes.ts";
import { upgrades } from "./generated/upgrades.ts";
import { drainOf } from "./http/drain.ts";
import { httpApp } from "./http/router.ts";
import { serveUpgrades } from "./http/upgrades.ts";
import { startProcessLease } from "./jobs/process-lease.ts";
import { keepHeapSmall } from "./platform/heap.ts";
import type { Services } from "./services.ts";

export interface RunningServer {
  readonly url: string;
  readonly services: Services;
  /** Stops taking requests, lets running ones finish, drains audit and jobs, closes the database. */
  stop(): Promise<void>;
}

export interface StartOptions extends Seams {
  config: Config;
  host?: string;
  /** Schedules and deliveries; off only where a test drives them itself. */
  background?: boolean;
}

/** Migrates, seeds, listens. Refuses to start rather than run half configured. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  keepHeapSmall();
  const services = buildServices(options.config, options);
  let leave: () => void = () => undefined;
  try {
    const { file } = services.store;
    if (file !== undefined && file !== ":memory:") leave = await holdFile(file);
    await services.store.requireOwnSessions();
    const applied = await services.store.migrate();
    if (applied.length > 0) services.log.info("database.migrated", toldOf(applied));
    // Unsigned anchors after signed ones prove nothing.
    if (options.config.anchorSigningKey === undefined && (await isSigned(services)))
      throw new ConfigError("AUDIT_ANCHOR_SIGNING_KEY is needed: the anchors in the database are signed");
    await bootstrap(services);
    await restateUnsignedPrunes(services);
    const alive = await startProcessLease(services);
    const background = startBackground(services, { schedules: options.background ?? true });
    const server = listener(services);
    const drain = drainOf(server);
    const channels = serveUpgrades(server, services, upgrades);
    try {
      await listen(server, options.config.port, options.host ?? "127.0.0.1");
    } catch (error) {
      services.store.signals.stopWaiting();
      await channels.stop();
      await background.stop();
      await alive.stop();
      throw error;
    }
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://${printableHost(options.host ?? "127.0.0.1")}:${port}`,
      services,
      stop: once(async () => {
        services.store.signals.stopWaiting();
        await channels.stop();
        await drain();
        await services.keyUsage.flush();
        await services.refusals.stop();
        await background.stop();
        await alive.stop();
        await services.store.close();
        leave();
      }),
    };
  } catch (error) {
    await services.store.close();
    leave();
    throw error;
  }
}

async function holdFile(file: string): Promise<() => void> {
  const leave = await holdAlone(file);
  if (leave === false)
    throw new ConfigError(`Another server runs on ${file}: stop it, or give this one a data folder of its own`);
  return leave;
}

/** Limits that keep one slow or hostile client from costing the others anything. */
function listener(services: Services): Server {
  const server = createServer({ maxHeaderSize: 16 * 1024 }, httpApp(services, implementations, upgrades));
  server.headersTimeout = 15_000;
  server.requestTimeout = 60_000;
  server.keepAliveTimeout = 10_000;
  server.maxHeadersCount = 200;
  server.maxRequestsPerSocket = 0;
  return server;
}

/** Connections that wait to be taken: after a restart a fleet comes back at once. The system may allow fewer. */
const BACKLOG = 4_096;

const listen = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });

const printableHost = (host: string) => (host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host);

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}
