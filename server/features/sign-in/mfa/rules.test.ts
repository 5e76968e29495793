import { TOTP } from "otpauth";
import { describe, expect, it } from "vitest";
import {
  acceptedStep,
  newRecoveryCodes,
  newTotpSecret,
  otpAuthUrl,
  readCode,
  totpCode,
} from "#server/features/sign-in/mfa/rules";
import { heldClock } from "#server/platform/clock";
import { secureRandom } from "#server/platform/random";

const random = secureRandom(heldClock("2026-03-02T09:00:00.000Z"));
/** RFC 6238 appendix B, SHA-1, of which six digits are asked for here. */
const rfcSecret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

describe("time-based codes", () => {
  it.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [20_000_000_000, "353130"],
  ])("agree with RFC 6238 at %i s", (seconds, code) => expect(totpCode(rfcSecret, seconds * 1_000)).toBe(code));

  it("count one step early and late, no further, and only after the last step accepted", () => {
    const at = 1_000 * 30_000;
    const codeOf = (step: number) => totpCode(rfcSecret, step * 30_000);
    for (const step of [999, 1_000, 1_001]) expect(acceptedStep(rfcSecret, codeOf(step), at, 0)).toBe(step);
    for (const step of [998, 1_002]) expect(acceptedStep(rfcSecret, codeOf(step), at, 0)).toBeUndefined();
    expect(acceptedStep(rfcSecret, codeOf(1_000), at, 1_000)).toBeUndefined();
    expect(acceptedStep(rfcSecret, codeOf(1_001), at, 1_000)).toBe(1_001);
  });

  it("offer an app what it needs", () => {
    const secret = newTotpSecret(random);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(otpAuthUrl(secret, "ana@acme.example"));
    expect([url.protocol, url.searchParams.get("secret")]).toEqual(["otpauth:", secret]);
    const parsed = Object.fromEntries(url.searchParams);
    expect(parsed).toMatchObject({ digits: "6", period: "30", algorithm: "SHA1" });
    expect(new TOTP({ secret }).generate({ timestamp: 60_000 })).toBe(totpCode(secret, 60_000));
  });
});

describe("recovery codes", () => {
  it("are ten different ones of the stated form", () => {
    const codes = newRecoveryCodes(random);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/);
  });

  it.each([
    ["123456", undefined, { method: "totp", code: "123456" }],
    ["123 456", undefined, { method: "totp", code: "123456" }],
    ["ab12-cd34", undefined, { method: "recovery", code: "AB12-CD34" }],
    ["ab12cd34", "recovery", { method: "recovery", code: "AB12-CD34" }],
    ["123456", "recovery", { method: "recovery", code: "1234-56" }],
  ] as const)("reads %s", (typed, method, read) => expect(readCode(typed, method)).toEqual(read));
});
