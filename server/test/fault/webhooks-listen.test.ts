import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWebhookReceiver, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import { verifyWebhook } from "#sdk/verify-webhook";
import { rmmProcess } from "../e2e/rmm-process.ts";
import { seedPartner, signIn } from "../harness.ts";
import { type Installation, install, until } from "./processes.ts";

let installation: Installation;
let receiver: WebhookReceiver;
let relay: Server;
/** Where the one address of the server leads. */
let port = 0;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  installation = await install("sqlite", { migrated: true });
  relay = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const)
      from.on("error", () => to.destroy()).pipe(to);
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  relay?.close();
  await installation?.remove();
  await receiver?.stop();
});

it("rmm webhooks listen goes on where it was after the server was killed and started again, and ends with Ctrl-C", async () => {
  let server = await installation.start();
  port = Number(new URL(server.url).port);
  const { partnerId, orgIds } = await seedPartner(installation, "listened", ["one"]);
  const { token } = await signIn(installation, { role: "Partner Admin", partnerId });
  const rmm = rmmProcess({
    RMM_SERVER: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    RMM_TOKEN: token,
    RMM_ORG: orgIds[0] as string,
  });
  const argv = ["webhooks", "listen", "--events", "site.*", "--forward", receiver.plainUrl("/hook"), "--ndjson"];
  const listening = rmm.start(argv);
  const [secret] = await listening.onStderr(/whsec_[\w-]+/);
  const happens = async (name: string) => {
    const made = await server.request("POST", "/orgs/sites", { token, body: { orgId: orgIds[0], name } });
    expect(made.status).toBe(201);
  };
  const arrived = (count: number) =>
    until(`${count} have arrived`, async () => receiver.received.length === count, { timeoutMs: 20_000 });
  await happens("Before");
  await arrived(1);
  await server.kill();
  await listening.onStderr(/Tries again until it is back/);
  server = await installation.start();
  // Before the command finds the server again.
  await happens("While it was away");
  port = Number(new URL(server.url).port);
  await arrived(2);
  listening.kill("SIGINT");
  const { code, stdout, stderr } = await listening.done;
  const told = [];
  for (const { body, headers } of receiver.received) told.push(await verifyWebhook(body, headers, secret));
  expect(told.map(({ data }) => (data as { siteName?: string }).siteName)).toEqual(["Before", "While it was away"]);
  const printed = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(printed.map(({ eventId, status }) => [eventId, status])).toEqual(told.map(({ id }) => [id, "delivered"]));
  expect([code, stderr]).toEqual([130, expect.stringContaining("2 delivered, 0 failed, 0 not delivered")]);
  expect(stderr + stdout).not.toContain(token);
  rmm.close();
});
