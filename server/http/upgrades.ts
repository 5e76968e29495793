import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { authorize } from "#server/access/authorize";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { authenticate } from "./authenticate.ts";
import { limitRequest } from "./limit-request.ts";
import { factsOf } from "./request-facts.ts";
import { watchRequest } from "./request-log.ts";
import { sendError } from "./respond.ts";
import { API_PREFIX, refuseTwoHosts } from "./router.ts";
import { serveWithoutUpgrade } from "./serve-without-upgrade.ts";
import type { Channel, Upgrade } from "./upgrade.ts";
import { type UpgradePath, upgradePaths } from "./upgrade-paths.ts";

interface Asking {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Serves the WebSockets of a server: the order of checks is that of requests, and so are the refusals. */
export function serveUpgrades(
  server: Server,
  services: Services,
  upgrades: readonly Upgrade[],
): { stop(): Promise<void> } {
  const find = upgradePaths(upgrades, API_PREFIX);
  const channels = new Map(upgrades.map((upgrade) => [upgrade, upgrade.open(services)]));
  let stopping = false;
  const channelAt = (path: string) => {
    const found = find(path);
    if (!found) throw problem("NOT_FOUND", { details: { path: "unknown" } });
    if (stopping) throw problem("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    return { ...found, channel: channels.get(found.upgrade) as Channel };
  };
  const answer = (asking: Asking) => answerUpgrade(services, { find, channelAt }, asking);
  const answering = new WeakMap<Socket, ServerResponse>();
  server.on("request", (request, response) => answering.set(request.socket, response));
  server.on("upgrade", (request, socket: Socket, head) => {
    // A client that goes away is no fault of this server.
    const gone = () => socket.destroy();
    socket.on("error", gone);
    const take = () => {
      if (/^websocket$/i.test(request.headers.upgrade ?? "")) return void answer({ request, socket, head });
      socket.off("error", gone);
      serveWithoutUpgrade(server, { request, socket, head });
    };
    // Sent before the answer to the request before it has come: answers keep their order.
    const before = answering.get(socket);
    if (before && !before.closed) before.once("close", take);
    else take();
  });
  return {
    async stop() {
      stopping = true;
      await Promise.all([...channels.values()].map((channel) => channel.stop()));
    },
  };
}

interface Paths {
  readonly find: ReturnType<typeof upgradePaths>;
  channelAt(path: string): UpgradePath & { readonly channel: Channel };
}

async function answerUpgrade(services: Services, { find, channelAt }: Paths, asking: Asking): Promise<void> {
  const { request, socket } = asking;
  const facts = factsOf(request, services.random, services.config);
  const response = new ServerResponse(request);
  watchRequest(services, { request, response, facts, route: find(facts.path)?.label ?? "unmatched" });
  try {
    refuseTwoHosts(request);
    const { upgrade, channel, params: read } = channelAt(facts.path);
    const who = await authenticate(services, upgrade.access, request, facts);
    facts.caller = who;
    await limitRequest(services, who, response);
    authorize(who, upgrade.access, { mfaGate: services.config.enable2fa });
    const params = read(facts.path);
    // What an address holds is written into the logs of everything it passes.
    if (facts.search !== "") throw problem("VALIDATION_ERROR", { message: "This path takes no query" });
    await channel.admit({ ...asking, who, params, facts });
    response.statusCode = 101;
    // Ends the watch: this response is written by nobody.
    response.emit("close");
  } catch (error) {
    refuse(services, { response, facts, socket }, error);
  }
}

function refuse(
  services: Services,
  { response, facts, socket }: { response: ServerResponse; facts: ReturnType<typeof factsOf>; socket: Socket },
  error: unknown,
): void {
  if (socket.destroyed) return void response.emit("close");
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  response.setHeader("Connection", "close");
  sendError(services, { response, facts }, error);
}
