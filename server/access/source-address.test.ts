import { describe, expect, it } from "vitest";
import { comesFrom, isSourceCidr } from "./source-address.ts";

describe("the source allowlist", () => {
  it("allows every address when it is empty, and no unknown address when it is not", () => {
    expect(comesFrom(null, [])).toBe(true);
    expect(comesFrom(null, ["0.0.0.0/0", "::/0"])).toBe(false);
    expect(comesFrom("nonsense", ["0.0.0.0/0"])).toBe(false);
  });

  it.each([
    ["203.0.113.7", "203.0.113.7", true],
    ["203.0.113.7", "203.0.113.8", false],
    ["203.0.113.7", "203.0.113.0/24", true],
    ["203.0.114.7", "203.0.113.0/24", false],
    ["203.0.113.130", "203.0.113.128/25", true],
    ["203.0.113.127", "203.0.113.128/25", false],
    ["10.1.2.3", "0.0.0.0/0", true],
    ["2001:db8::1", "2001:db8::/32", true],
    ["2001:db9::1", "2001:db8::/32", false],
    ["2001:db8:0:0::1", "2001:db8::1", true],
    ["::1", "127.0.0.0/8", false],
    ["127.0.0.1", "::/0", false],
    ["fe80::1%eth0", "fe80::/10", true],
  ])("%s against %s: %s", (ip, cidr, allowed) => expect(comesFrom(ip, [cidr])).toBe(allowed));

  it("reads addresses and networks of both families and nothing else", () => {
    for (const good of ["10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32", "::/0"])
      expect(isSourceCidr(good)).toBe(true);
    for (const bad of [
      "",
      "10.0.0",
      "10.0.0.0/33",
      "::/129",
      "10.0.0.0/",
      "10.0.0.0/8/8",
      "host.example",
      "10.0.0.0/-1",
    ])
      expect([bad, isSourceCidr(bad)]).toEqual([bad, false]);
  });
});
