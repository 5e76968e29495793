import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

const hopByHop = /^(upgrade|http2-settings)$/i;

/**
 * Serves a request whose wish for another protocol is not granted as if it had none (RFC 9110 §7.8). Node hands every
 * such request to the listener of upgrades, unread from its body on, and some clients ask for HTTP/2 each time: it
 * goes back to the beginning, less the wish.
 */
export function serveWithoutUpgrade(
  server: Server,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  const { rawHeaders } = request;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    if (hopByHop.test(name)) continue;
    lines.push(`${name}: ${/^connection$/i.test(name) ? withoutWish(value) : value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

/** What a `Connection` header says besides; `keep-alive` is what HTTP/1.1 does anyway. */
const withoutWish = (value: string): string =>
  value
    .split(",")
    .map((token) => token.trim())
    .filter((token) => !hopByHop.test(token))
    .join(", ") || "keep-alive";
