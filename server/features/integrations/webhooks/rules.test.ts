import { expect, it } from "vitest";
import { eventKinds } from "#contract/core/events";
import { refuseMask, secretsIn, shownAddress, splitCredentials, standsFor, targetOf } from "./address.ts";
import { defaultPolicy, isReservedHeader, matches, retryDelayMs, unknownPatterns } from "./rules.ts";
import { outcomeOf } from "./sending/outcome.ts";
import { Slots } from "./sending/slots.ts";

it("a pattern is a kind, a prefix or everything, and nothing that looks like one", () => {
  expect(matches(["device.online"], "device.online")).toBe(true);
  expect(matches(["device.online"], "device.offline")).toBe(false);
  expect(matches(["device.*"], "device.command.failed")).toBe(true);
  expect(matches(["device.command.*"], "device.online")).toBe(false);
  expect(eventKinds.every((kind) => matches(["*"], kind))).toBe(true);
  const unknown = ["device", "devic.*", "device*", "*.online", "device.online.*", "", ".*", "DEVICE.ONLINE", "**"];
  expect(unknownPatterns([...unknown, "device.*", "*", "site.created"])).toEqual(unknown);
});

it("the pause before a retry doubles up to the longest, a tenth more or less", () => {
  const plain = [1, 2, 3, 9, 10].map((retry) => retryDelayMs(defaultPolicy, retry, 0.5));
  expect(plain).toEqual([1_000, 2_000, 4_000, 256_000, 300_000]);
  expect([retryDelayMs(defaultPolicy, 1, 0), retryDelayMs(defaultPolicy, 1, 1)]).toEqual([900, 1_100]);
});

it("headers of the delivery and of the connection are reserved, in any case", () => {
  const reserved = [
    "Host",
    "content-type",
    "Content-Anything",
    "X-WEBHOOK-Signature",
    "user-agent",
    "Connection",
    "TE",
  ];
  expect(reserved.every(isReservedHeader)).toBe(true);
  expect(["Authorization", "X-Tenant", "Cookie", "X-Webhooks"].some(isReservedHeader)).toBe(false);
});

it("an address shows neither user, password nor values of its query, and stands for itself", () => {
  const address = "https://bob:pw%40rd@hooks.example:8443/in?token=s3cret&flag&empty=&x=a%3Db#part";
  const shown =
    "https://********:********@hooks.example:8443/in?token=********&********&empty=********&x=********#part";
  expect(shownAddress(address)).toBe(shown);
  expect(standsFor(shown, shownAddress(address))).toBe(true);
  expect(standsFor(shown.replace("/in", "/out"), shown)).toBe(false);
  expect(shownAddress("https://Hooks.example/in")).toBe("https://Hooks.example/in");
  expect(targetOf(address)).toBe("https://hooks.example:8443");
  expect(targetOf("https://hooks.example:443/a")).toBe(targetOf("https://HOOKS.example/b"));
  for (const masked of [
    shown,
    "https://h.example/?a=********",
    "https://********@h.example/",
    "https://h.example/?********",
  ])
    expect(() => refuseMask(masked), masked).toThrow(/stands for a stored value/);
  expect(() => refuseMask(address)).not.toThrow();
  expect(splitCredentials(address)).toEqual({
    url: "https://hooks.example:8443/in?token=s3cret&flag&empty=&x=a%3Db#part",
    authorization: `Basic ${Buffer.from("bob:pw@rd").toString("base64")}`,
  });
  expect(secretsIn(address)).toEqual(expect.arrayContaining(["s3cret", "flag", "a=b", "pw%40rd", "pw@rd", "bob"]));
  const { authorization } = splitCredentials("https://100%:%zz%41@hooks.example/");
  expect(authorization).toBe(`Basic ${Buffer.from("100%:%zzA").toString("base64")}`);
});

it("an attempt that failed is made again until its retries are used up; a test never is", () => {
  const at = { policy: { ...defaultPolicy, maxRetries: 2 }, now: "2026-03-02T09:00:00.000Z", chance: 0.5 };
  const answer = {
    responseStatus: 500,
    responseBody: "",
    responseTimeMs: 1,
    errorMessage: "The receiver answered 500",
    isFinal: false,
  };
  const after = (attempts: number, origin: "event" | "test" = "event", change = {}) =>
    outcomeOf({ id: "d", attempts, origin }, { ...answer, ...change }, at);
  expect(after(0)).toMatchObject({ status: "retrying", attempts: 1, nextAttemptAt: "2026-03-02T09:00:01.000Z" });
  expect(after(1)).toMatchObject({ status: "retrying", attempts: 2, nextAttemptAt: "2026-03-02T09:00:02.000Z" });
  expect(after(2)).toMatchObject({ status: "failed", attempts: 3, nextAttemptAt: null });
  expect(after(0, "test")).toMatchObject({ status: "failed", nextAttemptAt: null });
  expect(after(0, "event", { isFinal: true })).toMatchObject({ status: "failed" });
  expect(after(2, "event", { errorMessage: null })).toMatchObject({ status: "delivered", deliveredAt: at.now });
});

it("4 attempts run at once for a webhook, 16 for an organization and 128 for a partner; failing receivers leave half", () => {
  const slots = new Slots();
  const bound = (org: string, webhook: string, change = {}) => ({
    orgId: org,
    partnerId: `partner of ${org.slice(0, 3)}`,
    webhookId: webhook,
    target: `https://${webhook}`,
    isBurden: false,
    isFailing: false,
    ...change,
  });
  const taken = (org: string, webhook: string, change = {}) => {
    let number = 0;
    while (slots.take(bound(org, webhook, change))) number += 1;
    return number;
  };
  const failing = { isBurden: true, isFailing: true };
  expect(Array.from({ length: 12 }, (_, n) => taken("a", `dead-${n}`, failing))).toEqual([
    ...Array(8).fill(1),
    0,
    0,
    0,
    0,
  ]);
  expect(Array.from({ length: 3 }, (_, n) => taken("a", `well-${n}`))).toEqual([4, 4, 0]);
  expect([slots.running, taken("b", "other")]).toEqual([16, 4]);
  slots.free(bound("a", "well-0"));
  expect(taken("a", "well-2")).toBe(1);
  const same = { target: "https://shared" };
  expect(Array.from({ length: 12 }, (_, n) => taken(`c${n}`, `w${n}`, same)).reduce((a, b) => a + b)).toBe(32);
  const crowd = (partner: string, change = {}) =>
    Array.from({ length: 640 }, (_, n) => taken(`${partner} ${n >> 4}`, `${partner} ${n}`, change)).reduce(
      (a, b) => a + b,
    );
  expect([crowd("big", failing), crowd("big"), crowd("two")], "half of all, and of those half").toEqual([64, 64, 76]);
});
