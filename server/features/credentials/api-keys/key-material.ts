import type { Random } from "#server/platform/random";
import { sha256 } from "#server/platform/vault";

const PREFIX_LENGTH = 12;

/** Tells the client that the material is shown only once. */
export const WARNING = "Store this key securely now: it cannot be shown again.";

/** What the database keeps of an API key. */
export const apiKeyHash = sha256;

/** `svc_` and 24 random bytes in base64url; never one that reads as a partner principal's `svc_sp_…`. */
export function newApiKey(random: Random): { key: string; keyPrefix: string; keyHash: string } {
  for (;;) {
    const key = `svc_${random.bytes(24).toString("base64url")}`;
    if (key.startsWith("svc_sp_")) continue;
    return { key, keyPrefix: key.slice(0, PREFIX_LENGTH), keyHash: apiKeyHash(key) };
  }
}
