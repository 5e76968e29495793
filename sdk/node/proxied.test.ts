import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { certificateFor, type TestCertificate } from "#fixtures/certificate";
import { type ProxyOptions, type ProxySimulator, startHttpProxy } from "#fixtures/simulators/http-proxy";
import { createClient } from "../client.ts";
import { ConnectionError } from "../errors.ts";
import { nodeTransport } from "../node.ts";
import { type Stub, stubServer } from "../stub-server.ts";

describe("calls through a proxy (C66)", () => {
  let certificate: TestCertificate;
  let secure: ReturnType<typeof createServer>;
  let plain: Stub;
  let proxy: ProxySimulator | undefined;
  const seen: (string | undefined)[] = [];

  beforeAll(async () => {
    certificate = await certificateFor("rmm.example");
    secure = createServer(certificate, (request, response) => {
      seen.push(request.headers["proxy-authorization"]);
      response.setHeader("content-type", "application/json").end(JSON.stringify({ host: request.headers.host }));
    });
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    plain = await stubServer(({ headers }) => ({ body: { host: headers.host } }));
  });
  afterEach(async () => {
    await proxy?.stop();
    proxy = undefined;
  });
  afterAll(async () => {
    secure.close();
    await plain.close();
  });

  const toSecure = () => ({ port: (secure.address() as AddressInfo).port });
  const start = async (options: Partial<ProxyOptions> = {}) => {
    proxy = await startHttpProxy({ to: toSecure(), ...options });
    return proxy;
  };
  const client = (baseUrl: string, env: Record<string, string>) =>
    createClient({
      baseUrl,
      transport: nodeTransport({ ca: certificate.cert, env }),
      credentials: { token: "user-token" },
      retries: 0,
    });
  const failure = async (env: Record<string, string>) => {
    const error = await client("https://rmm.example", env)
      .users.me()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(JSON.stringify(error)).not.toContain("hunter2");
    return error as ConnectionError;
  };

  it("go to https in a tunnel, the proxy's password with the tunnel alone", async () => {
    const { url, asked } = await start({ login: "ana:hunter2" });
    const env = { HTTPS_PROXY: url.replace("//", "//ana:hunter2@") };
    expect(await client("https://rmm.example", env).users.me()).toEqual({ host: "rmm.example" });
    expect(asked).toEqual(["CONNECT rmm.example:443"]);
    expect(seen.every((value) => value === undefined)).toBe(true);
  });

  it("go to http as requests to the proxy", async () => {
    const { url, asked } = await start({ to: { port: Number(new URL(plain.url).port) }, login: "ana:hunter2" });
    const env = { http_proxy: url.replace("//", "//ana:hunter2@") };
    expect(await client("http://rmm.example", env).users.me()).toEqual({ host: "rmm.example" });
    expect(asked).toEqual(["GET http://rmm.example/api/v1/users/me"]);
    expect(plain.seen.at(-1)?.headers["proxy-authorization"]).toBeUndefined();
    await expect(client("http://rmm.example", { http_proxy: url }).users.me()).rejects.toMatchObject({
      message: `Could not connect to http://rmm.example through the proxy ${url} (PROXY_407)`,
    });
  });

  it("go straight to what NO_PROXY lists", async () => {
    const { url, asked } = await start();
    const error = await failure({ HTTPS_PROXY: url, NO_PROXY: "example" });
    expect(error.message).toMatch(/^Could not connect to https:\/\/rmm\.example \(E\w+\)$/);
    expect(asked).toEqual([]);
  });

  it.each([
    [{ login: "ana:other" }, "PROXY_407"],
    [{ refuses: 403 }, "PROXY_403"],
    [{ refuses: 502 }, "PROXY_502"],
  ])("that the proxy refuses name it without its password, and were not sent: %o", async (options, reason) => {
    const { url } = await start(options);
    const error = await failure({ HTTPS_PROXY: url.replace("//", "//ana:hunter2@") });
    expect(error.message).toBe(`Could not connect to https://rmm.example through the proxy ${url} (${reason})`);
    expect(error).toMatchObject({ outcome: "not_sent", details: { reason, proxy: url } });
  });

  it("through a proxy that is not there name it", async () => {
    const error = await failure({ HTTPS_PROXY: "http://ana:hunter2@127.0.0.1:1" });
    expect(error.message).toBe(
      "Could not connect to https://rmm.example through the proxy http://127.0.0.1:1 (ECONNREFUSED)",
    );
  });
});
