import { Secret, TOTP } from "otpauth";
import type { Limit } from "#server/access/rate-limit";
import { MINUTE } from "#server/platform/clock";
import type { Random } from "#server/platform/random";
import { sameText } from "#server/platform/vault";

/** Failed codes of a person, over all endpoints that take one (docs/sign-in.md, "Guessing"). */
export const mfaPerUser: Limit = { name: "mfa", max: 5, windowSeconds: 300 };

export const SETUP_MS = 10 * MINUTE;
export const RECOVERY_CODES = 10;
const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

export const newTotpSecret = (random: Random): string =>
  new Secret({ buffer: new Uint8Array(random.bytes(SECRET_BYTES)).buffer }).base32;

const totp = (secret: string, label?: string) =>
  new TOTP({
    secret: Secret.fromBase32(secret),
    algorithm: "SHA1",
    digits: 6,
    period: PERIOD_SECONDS,
    issuer: "RMM",
    ...(label === undefined ? {} : { label }),
  });

/** What an authenticator app reads from the QR code. */
export const otpAuthUrl = (secret: string, email: string): string => totp(secret, email).toString();

export const totpCode = (secret: string, atMs: number): string => totp(secret).generate({ timestamp: atMs });

/**
 * The time step that a code is valid for: the current one or its neighbours, and only steps after the last accepted
 * one, so that a code cannot be used again.
 */
export function acceptedStep(secret: string, code: string, nowMs: number, lastStep: number): number | undefined {
  const current = Math.floor(nowMs / 1_000 / PERIOD_SECONDS);
  return [current, current - 1, current + 1].find(
    (step) => step > lastStep && sameText(totpCode(secret, step * PERIOD_SECONDS * 1_000), code),
  );
}

export type Method = "totp" | "recovery";

/** A code as typed, made comparable; without a method its shape says which it is. */
export function readCode(typed: string, method: Method | undefined): { method: Method; code: string } {
  const code = typed.replace(/[\s-]/g, "").toUpperCase();
  const told = method ?? (/^\d{6}$/.test(code) ? "totp" : "recovery");
  return { method: told, code: told === "totp" ? code : `${code.slice(0, 4)}-${code.slice(4)}` };
}

/** Ten different codes `XXXX-XXXX`, evenly drawn. */
export function newRecoveryCodes(random: Random): string[] {
  const codes = new Set<string>();
  while (codes.size < RECOVERY_CODES) codes.add(`${letters(random, 4)}-${letters(random, 4)}`);
  return [...codes];
}

function letters(random: Random, count: number): string {
  const even = 256 - (256 % ALPHABET.length);
  let text = "";
  while (text.length < count) {
    for (const byte of random.bytes(count * 2)) {
      if (byte < even && text.length < count) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}
