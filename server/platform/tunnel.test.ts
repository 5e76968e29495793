import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { certificateFor, type TestCertificate } from "#fixtures/certificate";
import { type DnsSimulator, startDns } from "#fixtures/simulators/dns";
import { type ProxyOptions, type ProxySimulator, startHttpProxy } from "#fixtures/simulators/http-proxy";
import { guardedFetch, OutboundRefused } from "./guarded-fetch.ts";
import { guardedPost } from "./guarded-post.ts";
import { names } from "./names.ts";

const OUTSIDE = "203.0.113.7";

describe("requests to identity providers through a proxy (C66)", () => {
  let dns: DnsSimulator;
  let certificate: TestCertificate;
  let provider: ReturnType<typeof createServer>;
  let proxy: ProxySimulator;

  beforeAll(async () => {
    dns = await startDns();
    dns.setAddresses("idp.example", [OUTSIDE]);
    dns.setAddresses("inside.example", ["10.0.0.5"]);
    dns.setAddresses("both.example", [OUTSIDE, "10.0.0.5"]);
    certificate = await certificateFor("idp.example", "inside.example");
    provider = createServer(certificate, (request, response) => response.end(`for ${request.headers.host}`));
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => proxy?.stop());
  afterAll(async () => {
    provider.close();
    await dns.stop();
  });

  const start = async (options: Partial<ProxyOptions> = {}) => {
    proxy = await startHttpProxy({ to: { port: (provider.address() as AddressInfo).port }, ...options });
    return proxy.url.replace("//", "//svc:hunter2@");
  };
  const outbound = (proxies: Record<string, string>) =>
    guardedFetch({
      names: names(dns.server),
      allowPrivate: false,
      ca: certificate.cert,
      isPublic: (address) => address === OUTSIDE,
      timeoutMs: 3_000,
      proxies,
    });
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutboundRefused);
    return error as OutboundRefused;
  };

  it("ask for a tunnel to the address that was checked, and speak TLS to the name", async () => {
    const HTTPS_PROXY = await start({ login: "svc:hunter2" });
    const answer = await outbound({ HTTPS_PROXY }).fetch("https://idp.example/keys");
    expect([answer.status, await answer.text()]).toEqual([200, "for idp.example"]);
    expect(proxy.asked).toEqual([`CONNECT ${OUTSIDE}:443`]);
  });

  it.each(["https://inside.example/", "https://both.example/", "https://10.0.0.5/", "https://[::1]/"])(
    "never lead inside: %s",
    async (url) => {
      const HTTPS_PROXY = await start();
      expect((await refusal(outbound({ HTTPS_PROXY }).fetch(url))).reason).toBe("private_address");
      expect(proxy.asked).toEqual([]);
    },
  );

  it("are not led inside by a name that changes its address in between", async () => {
    const HTTPS_PROXY = await start();
    dns.setAddresses("rebind.example", [OUTSIDE]);
    const { fetch, assertSafe } = outbound({ HTTPS_PROXY });
    await assertSafe("https://rebind.example/");
    dns.setAddresses("rebind.example", ["10.0.0.5"]);
    expect((await refusal(fetch("https://rebind.example/"))).reason).toBe("private_address");
    expect(proxy.asked).toEqual([]);
  });

  it("go straight to what NO_PROXY lists, behind the same wall", async () => {
    const HTTPS_PROXY = await start();
    const { fetch } = outbound({ HTTPS_PROXY, NO_PROXY: "inside.example" });
    expect((await refusal(fetch("https://inside.example/"))).reason).toBe("private_address");
    expect(proxy.asked).toEqual([]);
  });

  it.each([[{ login: "svc:other" }], [{ refuses: 403 }]])(
    "say that the proxy refuses, the log which: %o",
    async (options) => {
      const HTTPS_PROXY = await start(options);
      const { reason, message, cause } = await refusal(outbound({ HTTPS_PROXY }).fetch("https://idp.example/"));
      expect([reason, message]).toEqual(["proxy", "the proxy of this server does not let the request through"]);
      expect(String(cause)).toContain(proxy.url);
      expect(String(cause)).not.toContain("hunter2");
    },
  );

  it("are not made in the clear to a public address, where those to the own network may be", async () => {
    const HTTP_PROXY = await start();
    const { post, close } = guardedPost({
      names: names(dns.server),
      allowPrivate: true,
      isPublic: (address) => address === OUTSIDE,
      timeoutMs: 3_000,
      maxBytes: 100,
      proxies: { HTTP_PROXY },
    });
    const error = await refusal(post("http://idp.example/hook", { headers: {}, body: "{}" }));
    expect(error.reason).toBe("not_https");
    expect(proxy.asked).toEqual([]);
    await close();
  });
});
