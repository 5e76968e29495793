import { startWebhookReceiver, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import {
  type Answer,
  type DatabaseName,
  type SignedInUser,
  seedPartner,
  startTestServer,
  type TestOptions,
  type TestServer,
} from "./harness.ts";

export interface WebhookTest {
  readonly server: TestServer;
  readonly receiver: WebhookReceiver;
  readonly partnerId: string;
  readonly orgId: string;
  readonly admin: SignedInUser;
  send(method: string, path?: string, body?: object): Promise<Answer>;
  /** Creates one in the organization; throws where it is refused. */
  create(body?: object): Promise<Answer["body"]>;
  /** Its deliveries, newest first. */
  deliveries(id: string): Promise<Answer["body"][]>;
  stop(): Promise<void>;
}

/** A server that trusts the simulator and treats its address as the public internet. */
export async function startWebhookTest(database: DatabaseName, options: TestOptions = {}): Promise<WebhookTest> {
  const receiver = await startWebhookReceiver();
  const env = { DNS_RESOLVER: receiver.dns.server };
  const server = await startTestServer(database, env, { ...options, outbound: receiver.outbound });
  const seeded = await seedPartner(server, "acme", ["one"]);
  const orgId = seeded.orgIds[0] as string;
  const admin = await server.signIn({ role: "Partner Admin", partnerId: seeded.partnerId });
  const send = (method: string, path = "", body?: object) =>
    server.request(method, `/webhooks${path}`, { token: admin.token, ...(body && { body }) });
  return {
    server,
    receiver,
    partnerId: seeded.partnerId,
    orgId,
    admin,
    send,
    async create(body = {}) {
      const all = { orgId, name: "Pager", url: receiver.url("/in"), events: ["site.*"], ...body };
      const answer = await send("POST", "", all);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return answer.body;
    },
    deliveries: async (id) => (await send("GET", `/${id}/deliveries`)).body.data,
    async stop() {
      await server.stop();
      await receiver.stop();
    },
  };
}
