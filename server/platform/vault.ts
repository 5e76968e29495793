import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Random } from "./random.ts";

/**
 * Encryption at rest under the server's key (docs/conventions.md, "Secrets"): AES-256-GCM, a fresh nonce every time.
 */
export interface Vault {
  /** `context` is bound to the text: sealed for one purpose, it does not open for another. */
  seal(plaintext: string, context: string): string;
  open(sealed: string, context: string): string;
  /** HMAC-SHA-256 under a key of its own, hex. */
  mac(text: string, context: string): string;
  /** A key that needs the server's key, the caller's words and a salt of the row to rebuild. */
  derive(secret: string, salt: Buffer, info: string): Buffer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function vault(encryptionKey: string, random: Random): Vault {
  const root = Buffer.from(encryptionKey, "utf8");
  const keyFor = (purpose: string) => Buffer.from(hkdfSync("sha256", root, "", `rmm:${purpose}`, 32));
  const sealingKey = keyFor("seal");
  const macKey = keyFor("mac");
  return {
    seal: (plaintext, context) => sealWith(sealingKey, random.bytes(NONCE_BYTES), plaintext, context),
    open: (sealed, context) => openWith(sealingKey, sealed, context),
    mac: (text, context) => createHmac("sha256", macKey).update(`${context}\u0000${text}`).digest("hex"),
    derive: (secret, salt, info) =>
      Buffer.from(hkdfSync("sha256", Buffer.concat([root, Buffer.from(secret, "utf8")]), salt, info, 32)),
  };
}

export function sealWith(key: Buffer, nonce: Buffer, plaintext: string, context: string): string {
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(context, "utf8"));
  const body = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
}

/** Throws when the text was changed, or was sealed under another key or for another context. */
export function openWith(key: Buffer, sealed: string, context: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(context, "utf8"));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
}

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Compares without telling where two strings differ. */
export function sameText(a: string, b: string): boolean {
  const left = createHash("sha256").update(a).digest();
  const right = createHash("sha256").update(b).digest();
  return timingSafeEqual(left, right);
}
