import type { EventData } from "./generated/event-data.ts";
import { RmmError } from "./rmm-error.ts";

/** What a webhook sends, for each kind of event that this version knows. */
export type WebhookEvent =
  | { [K in keyof EventData & string]: Told<K, EventData[K]> }[keyof EventData & string]
  | WebhookTest;

interface Told<Type extends string, Data> {
  /** Of the event: the same however often it arrives. */
  readonly id: string;
  readonly type: Type;
  readonly timestamp: string;
  readonly orgId: string;
  readonly siteId: string | null;
  readonly data: Data;
}

type WebhookTest = Told<"webhook.test", { sampleOf: string; payload: Record<string, unknown> }>;

/** Why a request is not a delivery of the webhook whose secret is known. */
export type WebhookFault =
  | "no_signature"
  | "no_timestamp"
  | "timestamp_out_of_tolerance"
  | "wrong_signature"
  | "not_json";

const messages: Record<WebhookFault, string> = {
  no_signature: "the request has no X-Webhook-Signature of the form sha256=<64 hexadecimal digits>",
  no_timestamp: "the request has no X-Webhook-Timestamp in seconds",
  timestamp_out_of_tolerance: "the request was signed too long ago, or in the future",
  wrong_signature: "the signature is not of this body, timestamp and secret",
  not_json: "the body is no event",
};

/** A request that must be answered 400 or 401, and not acted on. */
export class WebhookVerificationError extends RmmError {
  static override readonly kind = "WebhookVerificationError";
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault, cause?: unknown) {
    super(messages[fault], { code: "WEBHOOK_NOT_VERIFIED", outcome: "rejected", cause });
    this.fault = fault;
  }
}

/** As `fetch`, Node, Express and Fastify have them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How old, or how far ahead of this machine's clock, a signature may be; default 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970, in place of this machine's clock. */
  readonly now?: () => number;
}

/**
 * The event of a delivery, once its signature and time are proven. `rawBody` is the body as it came: JSON that was read
 * and written again has other bytes. `secret` may be several while one is being replaced. Compares in constant time and
 * needs WebCrypto alone. Rejects with `WebhookVerificationError`, or with `TypeError` for a secret that is none. An event may arrive more than once: its `id` tells.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const secrets = [secret].flat();
  // A key of `null` or of no characters is one that anybody can sign with.
  if (secrets.some((one) => typeof one !== "string" || one === ""))
    throw new TypeError("verifyWebhook: the secret must be text, and not empty");
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(headerOf(headers, "x-webhook-signature")) ?? [];
  if (hex === undefined) throw new WebhookVerificationError("no_signature");
  const timestamp = headerOf(headers, "x-webhook-timestamp");
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError("no_timestamp");
  // So written, no tolerance that is no number lets everything through.
  if (!(Math.abs(now() / 1_000 - Number(timestamp)) <= toleranceSeconds))
    throw new WebhookVerificationError("timestamp_out_of_tolerance");
  const body = typeof rawBody === "string" ? encoder.encode(rawBody) : new Uint8Array(rawBody);
  const signed = joined(encoder.encode(`${timestamp}.`), body);
  let isProven = false;
  for (const one of secrets) if (await isSignature(one, bytesOf(hex), signed)) isProven = true;
  if (!isProven) throw new WebhookVerificationError("wrong_signature");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as WebhookEvent;
  } catch (error) {
    throw new WebhookVerificationError("not_json", error);
  }
}

const encoder = new TextEncoder();

/** WebCrypto compares in constant time. */
async function isSignature(secret: string, signature: Bytes, signed: Bytes): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, signature, signed);
}

type Bytes = Uint8Array<ArrayBuffer>;

function joined(first: Uint8Array, second: Uint8Array): Bytes {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

const bytesOf = (hex: string): Bytes => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** One value, whatever the case of the name; a header that is there twice counts as not there. */
function headerOf(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  const values = found.flatMap(([, value]) => value ?? []);
  return values.length === 1 ? (values[0] as string) : "";
}
