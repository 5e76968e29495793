import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answers, startWebhookReceiver, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import { OutboundRefused } from "./guarded-fetch.ts";
import { type GuardedPost, guardedPost, type PostOptions } from "./guarded-post.ts";
import { names } from "./names.ts";
import { isOwnNetwork, isPublicAddress } from "./public-address.ts";

describe("posts to addresses of tenants", () => {
  let receiver: WebhookReceiver;
  const open: GuardedPost[] = [];
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
  });
  beforeEach(() => receiver.reset());
  afterEach(async () => {
    expect(receiver.insideReached()).toBe(0);
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  afterAll(() => receiver?.stop());

  const posting = (options: Partial<PostOptions> = {}) => {
    const own = { names: names(receiver.dns.server), allowPrivate: false, timeoutMs: 5_000, maxBytes: 1_000 };
    const made = guardedPost({ ...own, ...receiver.outbound, ...options });
    open.push(made);
    return made;
  };
  const sent = { headers: { "content-type": "application/json" }, body: "{}" };
  const reasonOf = (work: Promise<unknown>) =>
    work.then(
      () => "none",
      (error: unknown) => (error instanceof OutboundRefused ? error.reason : String(error)),
    );

  it("share connections as long as the name has the same addresses, and only then", async () => {
    const { post } = posting();
    const url = receiver.url("/", "moving.example");
    const before = receiver.connections();
    for (let n = 0; n < 3; n += 1) expect((await post(url, sent)).status).toBe(204);
    expect(receiver.connections() - before).toBe(1);
    receiver.dns.setAddresses("moving.example", ["127.0.0.2"]);
    expect(await reasonOf(post(url, sent))).toBe("private_address");
    receiver.dns.setAddresses("moving.example", ["127.0.0.1", "::1"]);
    expect(await reasonOf(post(url, sent))).toBe("private_address");
    expect(receiver.received).toHaveLength(3);
  });

  it("hand over a redirect, and the beginning of a body without end", async () => {
    const { post } = posting();
    receiver.answer = answers.redirect(`https://127.0.0.2:${receiver.port}/`);
    expect((await post(receiver.url(), sent)).status).toBe(302);
    receiver.answer = answers.endless;
    expect(await post(receiver.url(), sent)).toEqual({ status: 200, text: "x".repeat(1_000), isPrivate: false });
    receiver.answer = (response) => void response.writeHead(200).write("so far");
    expect(await posting({ timeoutMs: 200 }).post(receiver.url(), sent)).toMatchObject({ status: 200, text: "so far" });
  });

  it("give up on a host that says nothing, on a certificate of another, and on a signal", async () => {
    receiver.answer = answers.silence;
    expect(await reasonOf(posting({ timeoutMs: 100 }).post(receiver.url(), sent))).toBe("timeout");
    receiver.dns.setAddresses("stranger.example", ["127.0.0.1"]);
    expect(await reasonOf(posting().post(receiver.url("/", "stranger.example"), sent))).toBe("unreachable");
    const stopped = AbortSignal.abort();
    expect(await reasonOf(posting().post(receiver.url(), { ...sent, signal: stopped }))).toBe("timeout");
  });

  it("reach http and the own network where that is allowed, and neither link-local addresses nor http elsewhere", async () => {
    const own = { allowPrivate: true, isPrivate: isOwnNetwork, isPublic: isPublicAddress };
    const { post, assertSafe } = posting(own);
    expect(await post(receiver.plainUrl(), sent)).toMatchObject({ status: 204, isPrivate: true });
    await assertSafe("https://10.0.0.5/");
    for (const host of [
      "169.254.169.254",
      "[fe80::1]",
      "[::ffff:169.254.169.254]",
      "100.100.100.200",
      "[fd00:ec2::254]",
      "0.0.0.0",
    ])
      expect([host, await reasonOf(assertSafe(`http://${host}/`))]).toEqual([host, "private_address"]);
    expect(await reasonOf(assertSafe("http://93.184.216.34/"))).toBe("not_https");
    expect(await reasonOf(posting({ isPublic: isPublicAddress }).assertSafe(receiver.plainUrl()))).toBe("not_https");
    expect(await reasonOf(posting({ isPublic: isPublicAddress }).assertSafe("https://127.0.0.1/"))).toBe(
      "private_address",
    );
  });
});
