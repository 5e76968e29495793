import type { Server } from "node:http";
import type { Socket } from "node:net";

const DRAIN_MS = 10_000;
const LOOK_MS = 20;

/**
 * Returns the orderly end of a server: it takes no more connections, requests in hand get their answers, for at most ten
 * seconds, and nothing else is waited for.
 */
export function drainOf(server: Server): () => Promise<void> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  // Node keeps a connection that becomes idle later, and one on which nothing has been asked yet, as browsers and proxies
  // open them in advance.
  const closeIdle = () => {
    server.closeIdleConnections();
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const looking = setInterval(closeIdle, LOOK_MS);
    const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    closeIdle();
    await closed;
    clearInterval(looking);
    clearTimeout(timer);
  };
}
