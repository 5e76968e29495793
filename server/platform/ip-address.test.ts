import { expect, it } from "vitest";
import { canonicalAddress, clientBlock, liesIn, networks } from "./ip-address.ts";

it("limits count an IPv4 address alone and an IPv6 address with its /64", () => {
  expect(clientBlock("203.0.113.9")).toBe("203.0.113.9");
  expect(clientBlock("::ffff:203.0.113.9")).toBe("203.0.113.9");
  expect(clientBlock("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(clientBlock("2001:0DB8:1:2::ffff")).toBe("2001:db8:1:2::/64");
  expect(clientBlock("2001:db8:1:3::1")).not.toBe(clientBlock("2001:db8:1:2::1"));
  expect(clientBlock(null)).toBe("unknown");
});

it("reads dotted and IPv6 addresses and no shorthand of either", () => {
  for (const text of ["1", "127.1", "0x7f.0.0.1", "010.0.0.1x", "", "::1::", "example"])
    expect([text, canonicalAddress(text)]).toEqual([text, undefined]);
});

it("a network of mapped addresses is the IPv4 network", () => {
  expect(liesIn("203.0.113.9", networks(["::ffff:203.0.113.0/120"]))).toBe(true);
  expect(liesIn("203.0.114.9", networks(["::ffff:203.0.113.0/120"]))).toBe(false);
  expect(liesIn("203.0.113.9", networks(["::/0"]))).toBe(false);
});
