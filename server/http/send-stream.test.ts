import { createServer, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { sendStream } from "./send-stream.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function serve(handle: RequestListener): Promise<number> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}

/** The text and whether it came to its end. */
const read = (port: number): Promise<[text: string, whole: boolean]> =>
  new Promise((resolve) => {
    request({ port, host: "127.0.0.1" }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("error", () => undefined);
      response.on("close", () => resolve([text, response.complete]));
    }).end();
  });

async function* numbers(count: number, fail?: Error) {
  for (let at = 0; at < count; at += 1) yield `${at},`;
  if (fail) throw fail;
}

it("sends every part, and the end", async () => {
  const port = await serve((_, response) => void sendStream(response, numbers(4)));
  expect(await read(port)).toEqual(["0,1,2,3,", true]);
});

it("ends the connection where a part cannot be made, so that nobody takes a part for the whole", async () => {
  const failures: unknown[] = [];
  const port = await serve(
    (_, response) => void sendStream(response, numbers(2, new Error("no more"))).catch((error) => failures.push(error)),
  );
  expect((await read(port))[1]).toBe(false);
  expect(failures).toEqual([new Error("no more")]);
});

it("makes no more than a caller takes, lets others in between, and gives up one that stopped reading", async () => {
  const big = "x".repeat(1_048_576);
  let made = 0;
  let ended = false;
  async function* parts() {
    try {
      for (; made < 1_000; made += 1) yield big;
    } finally {
      ended = true;
    }
  }
  let done: Promise<void> | undefined;
  const port = await serve((_, response) => {
    done = sendStream(response, parts(), 200);
  });
  await new Promise<void>((resolve) => {
    request({ port, host: "127.0.0.1" }, (response) => {
      response.pause();
      response.on("error", () => undefined);
      resolve();
    }).end();
  });
  await done;
  expect(ended).toBe(true);
  expect(made).toBeLessThan(100);
});
