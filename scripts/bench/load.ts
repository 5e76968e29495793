import { connect } from "node:net";

/**
 * Keep-alive GETs over raw sockets for a while; prints requests a second. A process of its own, so
 * that client and server each have a core. argv: host port path connections milliseconds [header…]
 */
const [host = "", port = "", path = "", connections = "32", ms = "3000", ...headers] = process.argv.slice(2);
const request = `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n`;
const end = performance.now() + Number(ms);
let answered = 0;
let failed = 0;

await Promise.all(Array.from({ length: Number(connections) }, run));
process.stdout.write(`${JSON.stringify({ perSecond: answered / (Number(ms) / 1_000), failed })}\n`);

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => socket.write(request));
    let pending = "";
    socket.setNoDelay(true);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      pending += chunk.toString("latin1");
      const head = pending.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      if (pending.startsWith("HTTP/1.1 200")) answered += 1;
      else failed += 1;
      pending = "";
      if (performance.now() < end) socket.write(request);
      else {
        socket.destroy();
        resolve();
      }
    });
  });
}
