import type { Insertable } from "kysely";
import { plainElevation } from "#fixtures/nouns/access-control/elevation-requests";
import type { Environment } from "#server/config";
import type { Database } from "#server/db/tables";
import { enroll, makeKey, makeSite, type TestKey } from "../enroll.ts";
import {
  type Answer,
  type DatabaseName,
  type SignedInUser,
  seedPartner,
  startTestServer,
  type TestServer,
} from "../harness.ts";

export interface TestAgent {
  readonly deviceId: string;
  /** Calls of the agent itself. */
  claim(): Promise<{ id: string; type: string; payload: Record<string, unknown> }[]>;
  answer(commandId: string, result: unknown, status?: string): Promise<Answer>;
  status(id: string): Promise<Answer>;
  /** `as`: another device in the path. */
  report(body: object, as?: string): Promise<Answer>;
}

/** A server with a customer, its devices, and people who decide. */
export class ElevationWorld {
  readonly server: TestServer;
  readonly partnerId: string;
  readonly orgId: string;
  readonly otherOrgId: string;
  readonly siteId: string;
  readonly secondSiteId: string;
  readonly otherSiteId: string;
  readonly admin: SignedInUser;
  readonly #key: TestKey;
  #devices = 0;

  private constructor(made: Omit<ElevationWorld, "#key"> & { key: TestKey }) {
    this.server = made.server;
    this.partnerId = made.partnerId;
    this.orgId = made.orgId;
    this.otherOrgId = made.otherOrgId;
    this.siteId = made.siteId;
    this.secondSiteId = made.secondSiteId;
    this.otherSiteId = made.otherSiteId;
    this.admin = made.admin;
    this.#key = made.key;
  }

  static async start(database: DatabaseName, env: Environment = {}): Promise<ElevationWorld> {
    const server = await startTestServer(database, {
      AGENT_ENROLL_RATE_LIMIT: "100000",
      PAM_ACTUATOR_ENABLED: "true",
      ...env,
    });
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme", "beta"]);
    const [orgId, otherOrgId] = orgIds as [string, string];
    const made = {
      ...{ server, partnerId, orgId, otherOrgId },
      siteId: await makeSite(server, orgId, "HQ"),
      secondSiteId: await makeSite(server, orgId, "Depot"),
      otherSiteId: await makeSite(server, otherOrgId, "Beta"),
      key: await makeKey(server, { orgId }),
      admin: await server.signIn({ role: "Partner Admin", partnerId, name: "Ada Admin" }),
    };
    return new ElevationWorld(made as never);
  }

  stop = () => this.server.stop();

  /** A device that reports, at the first site. */
  async device(more: Record<string, unknown> = {}): Promise<TestAgent> {
    const { server } = this;
    this.#devices += 1;
    const about = { hostname: `pc-${this.#devices}`, siteId: this.siteId, ...more };
    const { body } = await enroll(server, this.#key, about);
    const own = { token: body.agentToken as string };
    const path = `/agents/${body.agentId}`;
    return {
      deviceId: body.deviceId,
      claim: async () => (await server.request("GET", `${path}/commands`, own)).body.commands,
      answer: (commandId, result, status = "completed") =>
        server.request("POST", `${path}/commands/${commandId}/result`, { ...own, body: { status, result } }),
      report: (report, as = body.agentId) =>
        server.request("POST", `/agents/${as}/elevation-requests`, { ...own, body: report }),
      status: (id) => server.request("GET", `${path}/elevation-requests/${id}`, own),
    };
  }

  /** A prompt that waits, put there behind the API. */
  async pending(deviceId: string, more: Partial<Insertable<Database["elevationRequests"]>> = {}): Promise<string> {
    const { random, clock } = this.server.services;
    const id = random.uuid();
    const row = plainElevation(clock.now(), { id, orgId: this.orgId, deviceId, ...more });
    await this.server.db.insertInto("elevationRequests").values(row).execute();
    return id;
  }

  /** Access tokens are valid for 15 minutes, and the clock goes on: each request has a new one. */
  request = (method: string, path: string, body?: object, as: SignedInUser = this.admin): Promise<Answer> => {
    const claims = JSON.parse(Buffer.from(as.token.split(".")[1] as string, "base64url").toString());
    const { iat: _, exp: __, ...known } = claims;
    const token = this.server.services.accessTokens.sign({ ...known, jti: this.server.services.random.uuid() });
    return this.server.request(method, path, { token, ...(body && { body }) });
  };

  respond = (id: string, body: object, as = this.admin) =>
    this.request("POST", `/pam/elevation-requests/${id}/respond`, body, as);
  approve = (id: string, more: object = {}, as = this.admin) => this.respond(id, { decision: "approve", ...more }, as);
  deny = (id: string, more: object = {}, as = this.admin) => this.respond(id, { decision: "deny", ...more }, as);
  revoke = (id: string, reason = "done", as = this.admin) =>
    this.request("POST", `/pam/elevation-requests/${id}/revoke`, { reason }, as);
  actuate = (deviceId: string, elevationRequestId: string, as = this.admin) =>
    this.request("POST", `/devices/${deviceId}/actuate-elevation`, { elevationRequestId }, as);
  ask = (deviceId: string, more: object = {}, as = this.admin) =>
    this.request(
      "POST",
      "/pam/elevation-requests",
      { deviceId, flowType: "tech_jit_admin", reason: "Printer", ...more },
      as,
    );

  async show(id: string, as = this.admin) {
    return (await this.request("GET", `/pam/elevation-requests/${id}`, undefined, as)).body;
  }

  /** The events of its ledger. */
  ledger = async (id: string): Promise<string[]> =>
    (await this.show(id)).events.map(({ event }: { event: string }) => event);

  /** Approved, and the order to carry it out is with the agent: its command. */
  async actuated(agent: TestAgent, more: Partial<Insertable<Database["elevationRequests"]>> = {}) {
    const id = await this.pending(agent.deviceId, more);
    await this.approve(id);
    await this.actuate(agent.deviceId, id);
    const [command] = await agent.claim();
    if (!command) throw new Error("nothing to claim");
    return { id, commandId: command.id };
  }

  person = (role: string, more: object = {}) => this.server.signIn({ role, orgId: this.orgId, ...more } as never);
}
