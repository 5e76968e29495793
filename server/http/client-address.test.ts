import { describe, expect, it } from "vitest";
import { type ProxyTrust, readProxyTrust } from "#server/platform/proxy-trust";
import { clientAddress } from "./client-address.ts";

const from = (
  trust: ProxyTrust | undefined,
  remoteAddress: string | undefined,
  headers: Record<string, string> = {},
) => {
  if (trust === undefined) throw new Error("the setting cannot be read");
  return clientAddress({ headers, socket: { remoteAddress } }, trust);
};
const none = readProxyTrust(undefined, undefined);
const one = readProxyTrust("true", undefined);
const two = readProxyTrust("2", undefined);
const listed = readProxyTrust("10.0.0.0/8, fd00::/8", undefined);

describe("the client's address", () => {
  it("is the peer's where no proxy is trusted, whatever headers say", () => {
    const headers = {
      "x-forwarded-for": "198.51.100.1",
      "x-real-ip": "198.51.100.2",
      "cf-connecting-ip": "198.51.100.3",
    };
    expect(from(none, "203.0.113.9", headers)).toBe("203.0.113.9");
    expect(from(listed, "203.0.113.9", headers)).toBe("203.0.113.9");
  });

  it("is what the last trusted proxy saw, not what the client wrote to the left of it", () => {
    const headers = { "x-forwarded-for": "192.0.2.66, 198.51.100.7" };
    expect(from(one, "10.0.0.2", headers)).toBe("198.51.100.7");
    expect(from(two, "10.0.0.2", { "x-forwarded-for": "192.0.2.66, 198.51.100.7, 10.0.0.3" })).toBe("198.51.100.7");
    expect(from(listed, "10.0.0.2", { "x-forwarded-for": "192.0.2.66, 198.51.100.7, 10.0.0.3" })).toBe("198.51.100.7");
    expect(from(listed, "fd00::2", headers)).toBe("198.51.100.7");
  });

  it("is the outermost known one where every hop is a trusted proxy", () => {
    expect(from(listed, "10.0.0.2", { "x-forwarded-for": "10.9.9.9, 10.0.0.3" })).toBe("10.9.9.9");
    expect(from(two, "10.0.0.2", { "x-forwarded-for": "198.51.100.7" })).toBe("198.51.100.7");
  });

  it("never follows CF-Connecting-IP unless the operator names it, and then only a single address", () => {
    const headers = { "cf-connecting-ip": "192.0.2.66", "x-forwarded-for": "198.51.100.7" };
    expect(from(one, "10.0.0.2", headers)).toBe("198.51.100.7");
    const named = readProxyTrust("true", "CF-Connecting-IP");
    expect(from(named, "10.0.0.2", headers)).toBe("192.0.2.66");
    expect(from(named, "10.0.0.2", { ...headers, "cf-connecting-ip": "192.0.2.66, 192.0.2.67" })).toBe("198.51.100.7");
    expect(from(readProxyTrust("10.0.0.0/8", "CF-Connecting-IP"), "203.0.113.9", headers)).toBe("203.0.113.9");
  });

  it("stops at an entry that is no address", () => {
    expect(from(two, "10.0.0.2", { "x-forwarded-for": "198.51.100.7, unknown" })).toBe("10.0.0.2");
    expect(from(one, "10.0.0.2", { "x-forwarded-for": "", "x-real-ip": "198.51.100.8" })).toBe("198.51.100.8");
  });

  it("has one spelling: mapped IPv4 is IPv4, also in headers, and ports and zones are dropped", () => {
    expect(from(none, "::ffff:203.0.113.9")).toBe("203.0.113.9");
    expect(from(none, "::FFFF:cb00:7109")).toBe("203.0.113.9");
    expect(from(one, "10.0.0.2", { "x-forwarded-for": "::ffff:198.51.100.7" })).toBe("198.51.100.7");
    expect(from(one, "10.0.0.2", { "x-forwarded-for": "198.51.100.7:51000" })).toBe("198.51.100.7");
    expect(from(one, "10.0.0.2", { "x-forwarded-for": "[2001:DB8::1]:443" })).toBe("2001:db8::1");
    expect(from(none, "fe80::1%eth0")).toBe("fe80::1");
    expect(from(none, undefined)).toBeNull();
  });
});

it("TRUST_PROXY_HEADERS is false, true, a number of proxies, or their networks", () => {
  expect(readProxyTrust("false", "X-Client")).toEqual({ hops: 0 });
  expect(one).toEqual({ hops: 1 });
  expect(two).toEqual({ hops: 2 });
  for (const bad of ["maybe", "-1", "21", "10.0.0.0/33", "10.0.0.0/8,", "host.example"])
    expect([bad, readProxyTrust(bad, undefined)]).toEqual([bad, undefined]);
  expect(readProxyTrust("true", "bad header")).toBeUndefined();
});
