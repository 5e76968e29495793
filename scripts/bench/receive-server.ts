import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver of webhooks that reads what it gets and says nothing. */
const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(204).end());
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, path: "/" })}\n`);
});
