import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from "./verify-webhook.ts";

const SECRET = "whsec_of-the-receiver";
const NOW = 1_900_000_000;
const now = () => NOW * 1_000;
const body = '{"id":"e1","type":"device.online", "data":{"deviceName":"Caf\\u00e9 \u2028"}}\n';

const signed = (text: string | Buffer = body, timestamp: string | number = NOW, secret = SECRET) => ({
  "x-webhook-timestamp": String(timestamp),
  "x-webhook-signature": `sha256=${createHmac("sha256", secret).update(`${timestamp}.`).update(text).digest("hex")}`,
});
const faultOf = (rawBody: string | Uint8Array, headers: WebhookHeaders, secret: string | string[] = SECRET) =>
  verifyWebhook(rawBody, headers, secret, { now }).then(
    () => "none",
    (error: unknown) => (error instanceof WebhookVerificationError ? error.fault : String(error)),
  );

it("the event of a delivery is what its raw body says, as text or bytes, with headers of any framework", async () => {
  const event = JSON.parse(body);
  const { buffer } = new TextEncoder().encode(body);
  const spelled = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]));
  for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body), buffer])
    for (const headers of [signed(), new Headers(signed()), spelled])
      expect(await verifyWebhook(raw, headers, SECRET, { now })).toEqual(event);
  expect(await verifyWebhook(body, signed(), ["another-secret-here", SECRET], { now })).toEqual(event);
});

it.each([
  ["a body that was read and written again", JSON.stringify(JSON.parse(body)), signed(), "wrong_signature"],
  ["another secret", body, signed(body, NOW, "another"), "wrong_signature"],
  ["a timestamp that was changed", body, { ...signed(), "x-webhook-timestamp": String(NOW - 1) }, "wrong_signature"],
  ["an old one", body, signed(body, NOW - 301), "timestamp_out_of_tolerance"],
  ["one of the future", body, signed(body, NOW + 301), "timestamp_out_of_tolerance"],
  ["no timestamp", body, { ...signed(), "x-webhook-timestamp": undefined }, "no_timestamp"],
  ["a timestamp that is none", body, signed(body, "1e9"), "no_timestamp"],
  ["no signature", body, { "x-webhook-timestamp": String(NOW) }, "no_signature"],
  ["a signature cut short", body, { ...signed(), "x-webhook-signature": "sha256=00" }, "no_signature"],
  ["two signatures", body, { ...signed(), "X-Webhook-Signature": signed()["x-webhook-signature"] }, "no_signature"],
  ["a body that is no JSON", "{", signed("{"), "not_json"],
  ["a body that is no UTF-8", Buffer.from([0x22, 0xff, 0x22]), signed(Buffer.from([0x22, 0xff, 0x22])), "not_json"],
])("refuses %s", async (_, raw, headers, fault) => {
  expect(await faultOf(raw, headers)).toBe(fault);
});

it("takes what is at the edge of the tolerance, and a tolerance of one's own", async () => {
  expect(await faultOf(body, signed(body, NOW - 300))).toBe("none");
  const short = verifyWebhook(body, signed(body, NOW - 11), SECRET, { now, toleranceSeconds: 10 });
  await expect(short).rejects.toMatchObject({ code: "WEBHOOK_NOT_VERIFIED", fault: "timestamp_out_of_tolerance" });
});

it.each([
  ["none", Number.NaN],
  ["a text", "5 min" as never],
])("refuses what is old where the tolerance is %s", async (_, toleranceSeconds) => {
  const old = verifyWebhook(body, signed(body, 1), SECRET, { now, toleranceSeconds });
  await expect(old).rejects.toMatchObject({ fault: "timestamp_out_of_tolerance" });
});

it.each([[null], [undefined], [""], [{}], [["", SECRET]], [[null]]])(
  "takes no signature under the secret %j, which is none",
  async (secret) => {
    const guessed = signed(body, NOW, Array.isArray(secret) ? String(secret[0] ?? null) : String(secret));
    for (const headers of [guessed, signed()])
      await expect(verifyWebhook(body, headers, secret as never, { now })).rejects.toThrow(TypeError);
  },
);

it("an error tells neither body nor secret", async () => {
  const error = await verifyWebhook(body, signed(body, NOW, "x"), SECRET, { now }).catch((one: Error) => one);
  const told = JSON.stringify(error) + String(error) + (error as Error).stack;
  for (const secret of [SECRET, "Caf", signed()["x-webhook-signature"]]) expect(told).not.toContain(secret);
});
