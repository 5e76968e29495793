import { WebSocketServer } from "ws";
import { takeAttempt } from "#server/access/attempts";
import type { Limit } from "#server/access/rate-limit";
import { ownDevice, refuseDraining } from "#server/features/fleet/agents/own-device";
import type { Arrival, Channel } from "#server/http/upgrade";
import { SECOND } from "#server/platform/clock";
import { invalid, problem } from "#server/problem";
import type { Services } from "#server/services";
import { AgentConnection } from "./connection.ts";

/** Connections that a device begins (docs/agents.md, "Limits of an agent"). */
const connects: Limit = { name: "agent-connect", max: 12, windowSeconds: 60 };

const TICK_MS = 250;

const protocol = {
  noServer: true,
  clientTracking: false,
  maxPayload: 24 * 1024 * 1024,
  perMessageDeflate: false,
  autoPong: false,
  /** How long an agent that does not agree to the end of its connection may take. */
  closeTimeout: 2 * SECOND,
  handleProtocols: () => false as const,
};

/** The agents' connections to this process (docs/agents.md, "Connection"). */
export function openAgentChannel(services: Services): Channel {
  const handshakes = new WebSocketServer(protocol);
  const connections = new Set<AgentConnection>();
  const ticking = setInterval(() => {
    const now = services.clock.nowMs();
    for (const connection of connections) connection.tick(now);
  }, TICK_MS);
  return {
    async admit(arrival) {
      const who = ownDevice({ who: arrival.who, params: { id: arrival.params["id"] as string } });
      refuseDraining(who);
      if (who.orgStatus === "merging") throw problem("SERVICE_UNAVAILABLE", { retryAfterSeconds: 60 });
      await takeAttempt(services, connects, who.deviceId);
      shakeHands(handshakes, arrival, (socket) => {
        const connection = new AgentConnection(socket, services, { who, facts: arrival.facts });
        connections.add(connection);
        socket.once("close", () => connections.delete(connection));
      });
    },
    async stop() {
      clearInterval(ticking);
      await Promise.all([...connections].map((connection) => connection.stop()));
    },
  };
}

/** Throws what is wrong with the request, which the library judges before it writes anything. */
function shakeHands(
  handshakes: WebSocketServer,
  { request, socket, head }: Arrival,
  taken: Parameters<WebSocketServer["handleUpgrade"]>[3],
): void {
  let fault: Error | undefined;
  const note = (error: Error) => {
    fault = error;
  };
  handshakes.on("wsClientError", note);
  handshakes.handleUpgrade(request, socket, head, taken);
  handshakes.off("wsClientError", note);
  if (fault) throw invalid({ path: "", message: fault.message });
}
