import { createHash, createHmac, createSecretKey, hkdfSync } from "node:crypto";

/** Signs what the database does for the server alone (migrations "signed scope" and "audit definer functions"). */
export interface ServerKey {
  /** Names the key without telling it. */
  readonly id: string;
  /** The key as the database keeps it: HMAC's two padded blocks, so that it needs no extension to check a signature. */
  readonly pads: { readonly inner: Buffer; readonly outer: Buffer };
  sign(message: string): Buffer;
}

const BLOCK_BYTES = 64;

/** The key that belongs to a server's encryption key. From what the database keeps, that one cannot be found. */
export function serverKey(secret: string | Buffer): ServerKey {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "rmm:database", 32));
  const secretKey = createSecretKey(key);
  const block = Buffer.concat([key, Buffer.alloc(BLOCK_BYTES - key.length)]);
  const padded = (byte: number) => Buffer.from(block.map((value) => value ^ byte));
  return {
    id: createHash("sha256").update(key).digest("hex").slice(0, 16),
    pads: { inner: padded(0x36), outer: padded(0x5c) },
    sign: (message) => createHmac("sha256", secretKey).update(message, "utf8").digest(),
  };
}
