import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { answers } from "#fixtures/simulators/webhook-receiver";
import { jsonLog } from "#server/platform/log";
import { auditEntries } from "../../../test/audit-entries.ts";
import { startWebhookTest, type WebhookTest } from "../../../test/webhooks.ts";

const SECRETS = { secret: "secret-of-the-webhook", header: "header-of-the-webhook", query: "query-of-the-webhook" };
const logged: string[] = [];
let test: WebhookTest;
beforeAll(async () => {
  const log = jsonLog("debug", (line) => void logged.push(line));
  test = await startWebhookTest("sqlite", { log });
});
beforeEach(() => test.receiver.reset());
afterAll(() => test?.stop());

const webhook = (name = "hooks.example") => ({
  url: `${test.receiver.url("/in", name).replace("https://", "https://bob:password-of-the-webhook@")}?key=${SECRETS.query}`,
  secret: SECRETS.secret,
  headers: [{ key: "X-Api-Key", value: SECRETS.header }],
});

it.each([
  ["repeats what it was sent", "delivered", () => answers.echo],
  [
    "fails with what it was sent",
    "failed",
    () =>
      (response, { headers, body }, { url }) => {
        response.writeHead(500).end(JSON.stringify({ headers, body, url, secret: SECRETS.secret }));
      },
  ],
  ["sends elsewhere, secrets and all", "failed", () => answers.redirect(`https://else.example/?key=${SECRETS.query}`)],
  ["breaks the connection", "failed", () => (_, __, request) => void request.socket.destroy()],
  ["speaks no HTTP", "failed", () => (response) => void response.socket?.end(`HTTP/9 ${SECRETS.query}\r\n\r\n`)],
] as const satisfies [string, string, () => typeof test.receiver.answer][])(
  "a receiver that %s leaves no secret in delivery, audit entry, answer or log",
  async (_, status, answer) => {
    test.receiver.answer = answer();
    await leavesNone(webhook(), status);
    expect(test.receiver.received).toHaveLength(1);
    expect(test.receiver.received[0]?.headers["x-api-key"], "they were sent").toBe(SECRETS.header);
  },
);

it("a receiver that repeats secrets in JSON, decoded or without their scheme leaves none", async () => {
  const secrets = ['token "of the\\webhook', "token-of-the-webhook", "token-of-the-webhook-and-more", "pässword/of-it"];
  const [quoted = "", credential = "", longer = "", password = ""] = secrets;
  test.receiver.answer = (response) => void response.writeHead(500).end(JSON.stringify(secrets) + secrets.join());
  const { id } = await test.create({
    url: test.receiver.url("/in").replace("https://", `https://%zz:${encodeURIComponent(password)}@`),
    headers: [
      { key: "X-Api-Key", value: ` ${quoted} ` },
      { key: "Authorization", value: `Bearer ${credential}` },
      { key: "X-Longer", value: longer },
    ],
  });
  await test.send("POST", `/${id}/test`);
  await test.server.deliver();
  const [{ responseBody }] = (await test.deliveries(id)) as [{ responseBody: string }];
  const masks = Array(4).fill("********");
  expect(responseBody).toBe(JSON.stringify(masks) + masks.join());
});

it.each([
  ["has a certificate of another name", "stranger.example", ["127.0.0.1"]],
  ["is not found", "nowhere.example", []],
  ["has moved inside", "moving.example", ["127.0.0.1", "127.0.0.2"]],
] as const)("a receiver that %s leaves none either, and gets none", async (_, name, addresses) => {
  test.receiver.dns.setAddresses(name, ["127.0.0.1"]);
  await leavesNone(webhook(name), "failed", () => test.receiver.dns.setAddresses(name, [...addresses]));
  expect([test.receiver.received, test.receiver.insideReached()]).toEqual([[], 0]);
});

async function leavesNone(body: object, status: string, before: () => void = () => undefined): Promise<void> {
  logged.length = 0;
  const { id } = await test.create(body);
  before();
  const sent = await test.send("POST", `/${id}/test`, { payload: { hello: 1 } });
  await test.server.deliver();
  await test.server.settled();
  const deliveries = await test.deliveries(id);
  expect(deliveries.map((one) => one.status)).toEqual([status]);
  const rows = await test.server.db.selectFrom("webhookDeliveries").selectAll().where("webhookId", "=", id).execute();
  const entries = [
    ...(await auditEntries(test.server, "webhook.create")),
    ...(await auditEntries(test.server, "webhook.test")),
  ];
  expect([rows.length, entries.length > 0, logged.length > 0]).toEqual([1, true, true]);
  const everything = JSON.stringify([sent.body, deliveries, rows, entries, logged]);
  for (const secret of [...Object.values(SECRETS), "password-of-the-webhook", btoa("bob:password-of-the-webhook")])
    expect(everything).not.toContain(secret);
}
