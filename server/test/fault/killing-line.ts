import type { ChildProcess } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exitOf } from "./processes.ts";

/**
 * Where in a mutation the client is killed: before the server sees it, before the answer, or while it handles the answer. To fetch
 * a secret again takes two and a file, so a run gets as far as its fourth now and then.
 */
export const moments = ["unseen", "unanswered", "answered"] as const;
export type Moment = (typeof moments)[number];

/** A proxy that kills the client at a mutation chosen by the test. */
export async function startLine(server: { readonly url: string }) {
  let strike: { left: number; moment: Moment; victim: ChildProcess } | undefined;
  let mutations = 0;
  const kill = async (victim: ChildProcess) => {
    const gone = exitOf(victim);
    victim.kill("SIGKILL");
    await gone;
  };
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const mutates = request.method !== "GET";
    if (mutates) mutations += 1;
    const hit = mutates && strike !== undefined && --strike.left === 0 ? strike : undefined;
    if (hit?.moment === "unseen") return kill(hit.victim);
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(`${server.url}${request.url}`, {
      method: request.method as string,
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (hit?.moment === "unanswered") return kill(hit.victim);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body);
    // At some point while it handles the answer: a secret is being written to its file.
    if (hit) setTimeout(() => hit.victim.kill("SIGKILL"), Math.random() * 25);
  };
  const proxy = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    mutations: () => mutations,
    killAt(count: number, moment: Moment, victim: ChildProcess) {
      strike = { left: count, moment, victim };
    },
    async stop() {
      proxy.closeAllConnections();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
    },
  };
}
