import { describe, expect, it } from "vitest";
import { decideRefresh, refusalOf } from "#server/features/sign-in/sessions/rules";

const now = "2026-03-02T09:00:00.000Z";

describe("why a sign-in is refused", () => {
  const user = { status: "active", lockedUntil: null } as const;
  const fine = { user, passwordMatches: true, closed: undefined, now };

  it.each([
    [fine, undefined],
    [{ ...fine, user: undefined, passwordMatches: false }, "unknown_email"],
    [{ ...fine, user: { ...user, status: "invited" as const } }, "user_invited"],
    [{ ...fine, user: { ...user, status: "disabled" as const } }, "user_disabled"],
    [{ ...fine, passwordMatches: false }, "wrong_password"],
    [{ ...fine, user: { ...user, lockedUntil: "2026-03-02T09:00:00.001Z" } }, "account_locked"],
    [{ ...fine, user: { ...user, lockedUntil: now } }, undefined],
    [{ ...fine, closed: "partner_inactive" as const }, "partner_inactive"],
  ])("case %#", (attempt, reason) => expect(refusalOf(attempt)).toBe(reason));
});

describe("what happens to a refresh token", () => {
  const session = { revokedAt: null, absoluteExpiresAt: "2026-04-01T00:00:00.000Z" };
  const fresh = { spentAt: null, expiresAt: "2026-03-09T00:00:00.000Z", session, userStatus: "active" };

  it.each([
    [fresh, "rotate"],
    [{ ...fresh, expiresAt: now }, "invalid"],
    [{ ...fresh, spentAt: "2026-03-02T08:59:50.000Z" }, "raced"],
    [{ ...fresh, spentAt: "2026-03-02T08:59:49.999Z" }, "reused"],
    [{ ...fresh, spentAt: "2026-03-02T08:59:49.999Z", expiresAt: now }, "reused"],
    [{ ...fresh, userStatus: "disabled" }, "invalid"],
    [{ ...fresh, session: { ...session, absoluteExpiresAt: now } }, "invalid"],
    [{ ...fresh, spentAt: now, session: { ...session, revokedAt: now } }, "invalid"],
  ])("case %#", (token, decision) => expect(decideRefresh(token, now)).toBe(decision));
});
