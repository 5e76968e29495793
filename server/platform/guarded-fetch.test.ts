import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { certificateFor, type TestCertificate } from "#fixtures/certificate";
import { type DnsSimulator, startDns } from "#fixtures/simulators/dns";
import { type GuardOptions, guardedFetch, OutboundRefused } from "./guarded-fetch.ts";
import { names } from "./names.ts";
import { isPublicAddress } from "./public-address.ts";

/** The whole of 127/8 reaches this machine: one address of it stands for the internet, the others for our network. */
const OUTSIDE = "127.0.0.1";
const INSIDE = "127.0.0.2";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

describe("the guarded fetch", () => {
  let dns: DnsSimulator;
  let certificate: TestCertificate;
  let port: number;
  const listeners: Server[] = [];
  /** Connections that reached a listener on an address that is not public. */
  let reachedInside = 0;
  let answer: Answer = (_, response) => response.end("public");

  beforeAll(async () => {
    dns = await startDns();
    certificate = await certificateFor("idp.example", "other.example", "rebind.example");
    const outside = createServer(certificate, (request, response) => answer(request, response));
    await listen(outside, 0, OUTSIDE);
    port = (outside.address() as AddressInfo).port;
    for (const host of [INSIDE, "::1"]) {
      const inside = createServer(certificate, (_, response) => response.end("internal"));
      inside.on("connection", () => {
        reachedInside += 1;
      });
      await listen(inside, port, host);
    }
    dns.setAddresses("idp.example", [OUTSIDE]);
  });
  afterEach(() => {
    expect(reachedInside).toBe(0);
    answer = (_, response) => response.end("public");
  });
  afterAll(async () => {
    for (const listener of listeners) listener.close();
    await dns.stop();
  });

  const listen = (server: Server, at: number, host: string) => {
    listeners.push(server);
    return new Promise<void>((resolve, reject) => server.once("error", reject).listen(at, host, resolve));
  };
  const guarded = (options: Partial<GuardOptions> = {}) =>
    guardedFetch({
      names: names(dns.server),
      allowPrivate: false,
      ca: certificate.cert,
      isPublic: (address) => address === OUTSIDE,
      ...options,
    });
  const reasonOf = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (refusal: unknown) => refusal,
    );
    expect(error).toBeInstanceOf(OutboundRefused);
    return (error as OutboundRefused).reason;
  };
  const at = (host: string, path = "/") => `https://${host}:${port}${path}`;

  it("asks a public host over TLS for its own name, and hands over status, headers and body", async () => {
    answer = (request, response) => {
      response.writeHead(418, { "content-type": "text/plain", "x-two": ["a", "b"] });
      response.end(`${request.method} ${request.headers.host} ${request.headers["x-mine"]}`);
    };
    const { fetch } = guarded();
    const response = await fetch(at("idp.example"), { method: "POST", body: "x", headers: { "x-mine": "1" } });
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.headers.get("x-two")]).toEqual([418, "a, b"]);
    expect(await response.text()).toBe(`POST idp.example:${port} 1`);
    expect(await reasonOf(guarded({ ca: (await certificateFor("idp.example")).cert }).fetch(at("idp.example")))).toBe(
      "unreachable",
    );
    dns.setAddresses("stranger.example", [OUTSIDE]);
    expect(await reasonOf(fetch(at("stranger.example")))).toBe("unreachable");
  });

  it.each([
    "169.254.169.254",
    "10.0.0.5",
    INSIDE,
    "[::1]",
    "[::ffff:127.0.0.2]",
    "[64:ff9b::7f00:2]",
    "0x7f.2",
    "2130706434",
    "0177.0.0.2",
    "127.2",
  ])("refuses the literal %s without asking anything", async (host) => {
    const { fetch, assertSafe } = guarded();
    expect(await reasonOf(fetch(at(host)))).toBe("private_address");
    expect(await reasonOf(assertSafe(at(host)))).toBe("private_address");
  });

  it("refuses what is not https, and names and passwords in the address", async () => {
    const { fetch, assertSafe } = guarded();
    for (const url of ["http://idp.example/", "ftp://idp.example/", "file:///etc/passwd", "data:text/plain,x"]) {
      expect([url, await reasonOf(fetch(url))]).toEqual([url, "not_https"]);
      expect(await reasonOf(assertSafe(url))).toBe("not_https");
    }
    expect(await reasonOf(fetch(`https://user:pw@idp.example:${port}/`))).toBe("credentials_in_url");
    expect(await reasonOf(fetch("no address at all"))).toBe("not_https");
  });

  it("refuses a name when any of its addresses is not public", async () => {
    for (const addresses of [
      [INSIDE],
      ["10.0.0.5"],
      ["::1"],
      ["::ffff:127.0.0.2"],
      [OUTSIDE, INSIDE],
      [OUTSIDE, "::1"],
    ]) {
      dns.setAddresses("other.example", addresses);
      const { fetch, assertSafe } = guarded();
      expect([addresses, await reasonOf(fetch(at("other.example")))]).toEqual([addresses, "private_address"]);
      expect(await reasonOf(assertSafe(at("other.example")))).toBe("private_address");
    }
    expect(await reasonOf(guarded().fetch(at("nowhere.example")))).toBe("unresolvable");
    expect(await reasonOf(guarded({ names: names(undefined), isPublic: isPublicAddress }).fetch(at("localhost")))).toBe(
      "private_address",
    );
  });

  it("waits for a silent name server no longer than for a silent host", async () => {
    const silent = { addresses: () => new Promise<string[]>(() => {}), texts: async () => [] };
    const { fetch, assertSafe } = guarded({ names: silent, timeoutMs: 50 });
    expect(await reasonOf(assertSafe(at("idp.example")))).toBe("timeout");
    expect(await reasonOf(fetch(at("idp.example")))).toBe("timeout");
  });

  it("connects to the addresses it checked: a name that changes in between gets nothing", async () => {
    dns.setAddresses("rebind.example", [[OUTSIDE], [INSIDE]]);
    const first = guarded();
    expect(await (await first.fetch(at("rebind.example"))).text()).toBe("public");
    expect(dns.asked.filter((name) => name === "A rebind.example")).toHaveLength(1);
    expect(await reasonOf(first.fetch(at("rebind.example")))).toBe("private_address");
    dns.setAddresses("rebind.example", [[OUTSIDE], [INSIDE]]);
    const second = guarded();
    await second.assertSafe(at("rebind.example"));
    expect(await reasonOf(second.fetch(at("rebind.example")))).toBe("private_address");
  });

  it("follows a redirect on its origin, and to nowhere else", async () => {
    const to =
      (location: string): Answer =>
      (request, response) => {
        if (request.url === "/there") return response.end("there");
        return response.writeHead(302, { location }).end();
      };
    const { fetch } = guarded();
    answer = to("/there");
    expect(await (await fetch(at("idp.example"))).text()).toBe("there");
    dns.setAddresses("other.example", [OUTSIDE]);
    for (const location of [
      at(INSIDE),
      at("[::1]"),
      at("other.example"),
      "http://idp.example/",
      `http://idp.example:${port}/there`,
      "https://idp.example/there",
      "file:///etc/passwd",
      "/again",
    ]) {
      answer = to(location);
      expect([location, await reasonOf(fetch(at("idp.example")))]).toEqual([location, "redirect"]);
    }
    answer = to(at(INSIDE));
    expect((await fetch(at("idp.example"), { redirect: "manual" })).status).toBe(302);
    expect((await fetch(at("idp.example"), { method: "POST", body: "secret" })).status).toBe(302);
  });

  it("reads at most the limit, however the body is sent", async () => {
    const { fetch } = guarded({ maxBytes: 1000 });
    answer = (_, response) => response.end("x".repeat(1000));
    expect((await (await fetch(at("idp.example"))).text()).length).toBe(1000);
    answer = (_, response) => response.end("x".repeat(1001));
    expect(await reasonOf(fetch(at("idp.example")))).toBe("too_large");
    let sent = 0;
    answer = (_, response) => {
      const timer = setInterval(() => response.write("y".repeat(100), () => (sent += 1)), 1);
      response.on("close", () => clearInterval(timer));
    };
    expect(await reasonOf(fetch(at("idp.example")))).toBe("too_large");
    expect(sent).toBeLessThan(200);
  });

  it("gives up on a host that is slow with its answer, or drips it", async () => {
    const { fetch } = guarded({ timeoutMs: 200 });
    answer = () => undefined;
    expect(await reasonOf(fetch(at("idp.example")))).toBe("timeout");
    answer = (_, response) => {
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    };
    const began = Date.now();
    expect(await reasonOf(fetch(at("idp.example")))).toBe("timeout");
    expect(Date.now() - began).toBeLessThan(2_000);
    answer = (request) => request.socket.destroy();
    expect(await reasonOf(fetch(at("idp.example")))).toBe("unreachable");
  });

  it("reaches http and private addresses where the operator allows it", async () => {
    const plain = createHttp((_, response) => response.end("plain"));
    await listen(plain, 0, OUTSIDE);
    const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/`;
    const { isPublic: _, ...own } = { isPublic: undefined, names: names(dns.server), allowPrivate: true };
    expect(await (await guardedFetch(own).fetch(url)).text()).toBe("plain");
    expect(await reasonOf(guardedFetch({ ...own, allowPrivate: false }).fetch(url))).toBe("not_https");
    await guardedFetch(own).assertSafe(url);
    expect(await reasonOf(guardedFetch(own).fetch("ftp://127.0.0.1/"))).toBe("not_https");
  });

  it("says nothing in its message that only this network knows", async () => {
    dns.setAddresses("other.example", ["10.0.0.5"]);
    const refusal = await guarded()
      .fetch(at("other.example"))
      .catch((error: Error) => error.message);
    expect(refusal).toBe("the address is not on the public internet");
  });
});
