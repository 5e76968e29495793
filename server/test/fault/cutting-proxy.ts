import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttingProxy {
  readonly url: string;
  /** Cuts the connection both ways after this many bytes of the next answer; -1: before the server answers. */
  cutNextAfter(bytes: number): void;
  /** Length of the last complete answer in bytes. */
  readonly passed: number;
  stop(): Promise<void>;
}

/** A proxy that cuts connections where the test says. It handles one request at a time. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { port, hostname } = new URL(target);
  const open = new Set<Socket>();
  let next: number | undefined;
  let passed = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    let left = Number.POSITIVE_INFINITY;
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", () => {
        open.delete(socket);
        end();
      });
    }
    client.on("data", (chunk) => {
      passed = 0;
      left = next ?? left;
      next = undefined;
      if (left >= 0) return void server.write(chunk);
      server.end(chunk, () => server.destroy());
      client.destroy();
    });
    server.on("data", (chunk: Buffer) => {
      const part = chunk.subarray(0, left);
      left -= part.length;
      passed += part.length;
      if (left > 0) return void client.write(part);
      // The request arrives before the connection is cut.
      server.destroy();
      client.end(part, () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cutNextAfter(bytes) {
      next = bytes;
    },
    get passed() {
      return passed;
    },
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
    },
  };
}
