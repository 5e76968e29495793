import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { Asked } from "./load-of.ts";

/**
 * Keep-alive requests over raw sockets for a while; prints how many a second. A process of its own, so that client and
 * server each have a core. argv: host port file connections milliseconds; the file holds the requests, taken in turn.
 */
const [host = "", port = "", file = "", connections = "32", ms = "3000"] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(file, "utf8")) as Asked[];
const requests = asked.map(({ method = "GET", path, headers = [], body = "" }) => {
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}:${port}`, ...headers];
  const ofBody = body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`];
  return `${[...head, ...ofBody].join("\r\n")}\r\n\r\n${body}`;
});
let turn = 0;
const next = (): string => requests[turn++ % requests.length] as string;
const end = performance.now() + Number(ms);
let answered = 0;
let failed = 0;

await Promise.all(Array.from({ length: Number(connections) }, run));
process.stdout.write(`${JSON.stringify({ perSecond: answered / (Number(ms) / 1_000), failed })}\n`);

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => socket.write(next()));
    let pending = "";
    socket.setNoDelay(true);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      pending += chunk.toString("latin1");
      const head = pending.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      if (/^HTTP\/1\.1 20[01]/.test(pending)) answered += 1;
      else failed += 1;
      pending = "";
      if (performance.now() < end) socket.write(next());
      else {
        socket.destroy();
        resolve();
      }
    });
  });
}
