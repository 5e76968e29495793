import { createHmac } from "node:crypto";
import { stable } from "./fields.ts";

/**
 * The idempotency key of the object that these parts identify: 50 printable characters, the same at every run with one
 * secret. Whoever gets hold of a session cannot ask the server for the answers to another installation's requests.
 */
export type IdempotencyKeys = (parts: readonly unknown[]) => string;

/** Keys under one secret (`profile/idempotency-secret.ts`). */
export const idempotencyKeysOf =
  (secret: string): IdempotencyKeys =>
  (parts) =>
    `apply-${createHmac("sha256", secret).update(stable(parts)).digest("base64url")}`;
