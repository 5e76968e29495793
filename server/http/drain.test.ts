import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { drainOf } from "./drain.ts";

it("a server that stops answers what it was asked, and waits for no connection that is idle or silent", async () => {
  const server = createServer(async (_request, response) => {
    await pause(150);
    response.end("answered");
  });
  const drain = drainOf(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const silent = connect(port, "127.0.0.1");
  await once(silent, "connect");
  const agent = new Agent({ keepAlive: true });
  const asked = new Promise<IncomingMessage>((resolve) => get({ port, host: "127.0.0.1", agent }, resolve));
  await once(server, "request");
  const began = performance.now();
  await drain();
  expect(performance.now() - began).toBeLessThan(3_000);
  const answer = await asked;
  expect((await answer.toArray()).join("")).toBe("answered");
  silent.destroy();
  agent.destroy();
});
