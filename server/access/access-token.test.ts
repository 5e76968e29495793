import { expect, it } from "vitest";
import { systemClock } from "#server/platform/clock";
import { ACCESS_TOKEN_SECONDS, accessTokens } from "./access-token.ts";

let nowMs = Date.parse("2026-03-02T09:00:00.000Z");
const tokens = accessTokens("a secret of at least thirty-two bytes", { ...systemClock, nowMs: () => nowMs });
const token = tokens.sign({
  sub: "u",
  sid: "s",
  scope: "partner",
  partnerId: "p",
  orgId: null,
  roleId: "r",
  mfa: false,
  jti: "j",
});

it("accepts a signature in its one spelling, before and after it was remembered", () => {
  const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  // The last character of 43 has two bits that no byte needs.
  const next = last[last.indexOf(token.at(-1) as string) ^ 1] as string;
  const others = [
    `${token}=`,
    `${token}!`,
    `${token.slice(0, -1)}${next}`,
    `${token}.`,
    token.slice(0, -1),
    ` ${token}`,
  ];
  for (const known of [false, true]) {
    for (const other of others) expect(tokens.verify(other), `${known} ${other.slice(-5)}`).toBeUndefined();
    expect(tokens.verify(token)?.sub).toBe("u");
  }
});

it("a remembered token ends when it says", () => {
  nowMs += ACCESS_TOKEN_SECONDS * 1_000 - 1;
  expect(tokens.verify(token)?.sub).toBe("u");
  nowMs += 1;
  expect(tokens.verify(token)).toBeUndefined();
});
