import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Clock } from "#server/platform/clock";

export const ACCESS_TOKEN_SECONDS = 900;

/** Claims choose one of the user's memberships; they never widen it (docs/conventions.md, "Callers"). */
export interface AccessClaims {
  sub: string;
  sid: string;
  scope: "organization" | "partner" | "system";
  partnerId: string | null;
  orgId: string | null;
  roleId: string;
  mfa: boolean;
  typ: "access";
  iat: number;
  exp: number;
  jti: string;
}

/** JWT HS256 (docs/sign-in.md, "Tokens"). No other algorithm is accepted. */
export interface AccessTokens {
  sign(claims: Omit<AccessClaims, "typ" | "iat" | "exp">): string;
  /** Undefined when malformed, forged or expired. */
  verify(token: string): AccessClaims | undefined;
}

const HEADER = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");
const TOKEN_MAX_LENGTH = 4_096;
const VERIFIED_MAX = 5_000;

export function accessTokens(secret: string, clock: Clock): AccessTokens {
  const key: KeyObject = createSecretKey(Buffer.from(secret, "utf8"));
  /** Tokens whose signature was checked; the session behind them is read again for every request. */
  const verified = new Map<string, AccessClaims>();
  const signature = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    sign(claims) {
      const iat = Math.floor(clock.nowMs() / 1000);
      const payload: AccessClaims = { ...claims, typ: "access", iat, exp: iat + ACCESS_TOKEN_SECONDS };
      const text = `${HEADER}.${Buffer.from(JSON.stringify(payload)).toString("base64url")}`;
      return `${text}.${signature(text)}`;
    },
    verify(token) {
      if (token.length > TOKEN_MAX_LENGTH) return undefined;
      const claims = verified.get(token) ?? signed(token);
      return claims && claims.exp * 1000 > clock.nowMs() ? claims : undefined;
    },
  };

  /** The cache holds only tokens that this server signed. */
  function signed(token: string): AccessClaims | undefined {
    const [header, payload, given, ...rest] = token.split(".");
    if (header !== HEADER || !payload || !given || rest.length > 0) return undefined;
    const wanted = Buffer.from(signature(`${header}.${payload}`));
    // Compared as text: base64url can spell the same bytes in several ways, and each spelling would be cached.
    const bytes = Buffer.from(given);
    if (bytes.length !== wanted.length || !timingSafeEqual(bytes, wanted)) return undefined;
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as AccessClaims;
    if (claims.typ !== "access") return undefined;
    if (verified.size >= VERIFIED_MAX) verified.clear();
    verified.set(token, claims);
    return claims;
  }
}
