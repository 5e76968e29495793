import type { CommandType } from "#contract/core/command-types";
import { McpClient } from "#fixtures/simulators/mcp-client";
import type { Environment } from "#server/config";
import { RUN_JOB } from "#server/features/access-control/elevation-requests/tool-action";
import { enqueueJob } from "#server/jobs/queue";
import type { DatabaseName, SignedInUser } from "../harness.ts";
import { ElevationWorld, type TestAgent } from "./elevation-world.ts";

export const EVERYTHING = ["devices:read", "devices:write", "devices:execute", "sites:read"] as const;

/** A key of an organization with a client that uses it. */
export interface TestModel {
  readonly keyId: string;
  readonly key: string;
  readonly client: McpClient;
}

/** A customer whose devices a model reaches through tools. */
export class ToolWorld {
  readonly elevations: ElevationWorld;
  readonly agent: TestAgent;
  readonly model: TestModel;
  /** Made the keys. */
  readonly maker: SignedInUser;

  private constructor(elevations: ElevationWorld, agent: TestAgent, maker: SignedInUser, model: TestModel) {
    this.elevations = elevations;
    this.agent = agent;
    this.maker = maker;
    this.model = model;
  }

  static async start(database: DatabaseName, env: Environment = {}): Promise<ToolWorld> {
    const elevations = await ElevationWorld.start(database, env);
    const { server, partnerId, orgId } = elevations;
    const maker = await server.signIn({ role: "Partner Admin", partnerId, name: "Max Maker" });
    const model = await makeModel(elevations, orgId, maker);
    return new ToolWorld(elevations, await elevations.device(), maker, model);
  }

  get server() {
    return this.elevations.server;
  }

  stop = () => this.elevations.stop();

  makeModel = (scopes: readonly string[] = EVERYTHING, orgId = this.elevations.orgId) =>
    makeModel(this.elevations, orgId, this.maker, scopes);

  reboot = (model = this.model, deviceId = this.agent.deviceId) =>
    model.client.call("send_device_command", { deviceId, type: "reboot" });

  /** A request that waits, with its execution. */
  async pendingReboot(model = this.model, deviceId = this.agent.deviceId) {
    const { data } = await this.reboot(model, deviceId);
    if (data.status !== "pending") throw new Error(`not pending: ${JSON.stringify(data)}`);
    await this.#holdRun(data.elevationRequestId);
    return { toolExecutionId: data.toolExecutionId as string, elevationRequestId: data.elevationRequestId as string };
  }

  /** Runs approved calls, which wait for this here; a call that is tested for its own sake waits for nobody. */
  async work(): Promise<void> {
    const { db, clock } = this.server;
    await db.updateTable("jobs").set({ runAt: clock.now() }).where("kind", "=", RUN_JOB).execute();
    await this.server.workJobs();
  }

  /** The job that an approval queues is there already, and not due. */
  async #holdRun(id: string): Promise<void> {
    const { orgId } = this.elevations;
    const job = { kind: RUN_JOB, payload: { id, orgId }, uniqueKey: `${RUN_JOB} ${id}` };
    await this.server.db.transaction().execute(async (tx) => {
      await enqueueJob(tx, this.server.services, job);
      const runAt = "2099-01-01T00:00:00.000Z";
      await tx.updateTable("jobs").set({ runAt }).where("uniqueKey", "=", job.uniqueKey).execute();
    });
  }

  execution = (id: string) =>
    this.server.db.selectFrom("toolExecutions").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  /** Commands of a type that the device was ever sent. */
  async commands(type: CommandType = "reboot", deviceId = this.agent.deviceId): Promise<number> {
    const rows = this.server.db.selectFrom("deviceCommands").select("id").where("deviceId", "=", deviceId);
    return (await rows.where("type", "=", type).execute()).length;
  }

  /** A rule of the organization about tools. */
  async rule(fields: object): Promise<string> {
    const { orgId } = this.elevations;
    const answer = await this.elevations.request("POST", "/pam/rules", { orgId, name: "rule", ...fields });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.rule.id;
  }

  async dropRules(): Promise<void> {
    await this.server.db.deleteFrom("pamRules").execute();
  }
}

async function makeModel(
  world: ElevationWorld,
  orgId: string,
  maker: SignedInUser,
  scopes: readonly string[] = EVERYTHING,
): Promise<TestModel> {
  const made = await world.request("POST", "/api-keys", { orgId, name: "model", scopes, rateLimit: 100_000 }, maker);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const { id, key } = made.body;
  return { keyId: id, key, client: new McpClient(world.server.url, key) };
}
