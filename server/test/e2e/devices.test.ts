import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testCommand } from "#cli/test-shell";
import { enrollFleet, type SimulatedAgent } from "#fixtures/simulators/agent/fleet";
import { AgentError, agentTransport } from "#fixtures/simulators/agent/transport";
import { makeKey, makeSite } from "../enroll.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../harness.ts";

const command = testCommand();
const away = new AbortController();
let server: TestServer;
let admin: SignedInUser;
let agents: readonly SimulatedAgent[];
let hosts: string[];
/** Every command that an agent was handed, by id. */
const handed: string[] = [];

/** Fetches commands as agents do and answers them; the last machine fails at everything. */
async function serve(agent: SimulatedAgent): Promise<void> {
  const transport = agentTransport({ baseUrl: server.url });
  const { agentId, agentToken } = agent.identity;
  while (!away.signal.aborted) {
    for (const { id } of (await agent.heartbeat()).commands) {
      handed.push(id);
      const fails = agent === agents.at(-1);
      const body = fails ? { status: "failed", error: "Access is denied" } : { status: "completed", exitCode: 0 };
      await transport.send(`/agents/${agentId}/commands/${id}/result`, { token: agentToken, body });
    }
    await pause(200, undefined, { signal: away.signal }).catch(() => undefined);
  }
}

/** An agent whose device was taken out of service is done. */
function ifRetired(error: unknown): void {
  if (!(error instanceof AgentError) || error.code !== "DEVICE_DECOMMISSIONED") throw error;
}

const served: Promise<void>[] = [];
beforeAll(async () => {
  server = await startTestServer(databases[0], { AGENT_ENROLL_RATE_LIMIT: "1000" });
  const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme-west", "acme-east"]);
  const [orgId, otherId] = orgIds as [string, string];
  await makeSite(server, orgId, "HQ");
  await makeSite(server, otherId, "Annex");
  admin = await server.signIn({ role: "Partner Admin", partnerId });
  const { raw: key } = await makeKey(server, { orgId });
  const fleet = await enrollFleet({
    baseUrl: server.url,
    enrollmentKey: key,
    count: 3,
    now: () => server.clock.nowMs(),
  });
  agents = fleet.agents;
  hosts = agents.map(({ machine }) => machine.hostname);
  served.push(...agents.map((agent) => serve(agent).catch(ifRetired)));
});
afterAll(async () => {
  away.abort();
  await Promise.allSettled(served);
  command.close();
  await server.stop();
});

async function rmm(argv: readonly string[]) {
  const env = { RMM_SERVER: server.url, RMM_TOKEN: admin.token };
  const ran = await command.run([...argv, "--json"], { env, now: () => server.clock.nowMs() });
  return { ...ran, value: ran.stdout === "" ? undefined : JSON.parse(ran.stdout) };
}

it("a command for a customer's devices is followed to the answers of their agents; a repeated run queues none", async () => {
  const argv = [
    "devices",
    "run",
    "refresh_inventory",
    "--org",
    "acme-west",
    "--wait",
    "--idempotency-key",
    "run-of-today",
  ];
  const first = await rmm(argv);
  expect(first.code, first.stderr).toBe(9);
  const outcomes = (value: { item: { name: string }; outcome: string }[]) =>
    Object.fromEntries(value.map(({ item, outcome }) => [item.name, outcome]));
  const expected = { [hosts[0] as string]: "done", [hosts[1] as string]: "done", [hosts[2] as string]: "failed" };
  expect(outcomes(first.value)).toEqual(expected);
  const again = await rmm(argv);
  expect(outcomes(again.value)).toEqual(expected);
  expect(handed).toHaveLength(3);
  const listed = await rmm(["commands", "list", hosts[0] as string]);
  expect(listed.value).toMatchObject([{ type: "refresh_inventory", status: "completed" }]);
  const shown = await rmm(["commands", "show", hosts[0] as string, listed.value[0].id]);
  expect(shown.value).toMatchObject({ result: { exitCode: 0 } });
});

it("values that are set are exported, and what was exported changes nothing when it is imported", async () => {
  for (const [key, type] of [
    ["rack", "number"],
    ["owner", "text"],
  ] as const)
    expect(
      (await rmm(["custom-fields", "create", "--org", "acme-west", "--field-key", key, "--type", type, "--name", key]))
        .code,
    ).toBe(0);
  const set = await rmm([
    "devices",
    "set",
    ...hosts.slice(0, 2),
    "--field",
    "rack=4",
    "--field",
    "owner==1+1",
    "--org",
    "acme-west",
  ]);
  expect(set.code, set.stderr).toBe(0);
  const path = join(command.dir, "devices.csv");
  const { stdout } = await command.run(["devices", "export"], {
    env: { RMM_SERVER: server.url, RMM_TOKEN: admin.token },
  });
  expect(stdout).toContain("'=1+1");
  writeFileSync(path, stdout);
  const same = await rmm(["devices", "import", path]);
  expect(
    same.value.map(({ outcome }: { outcome: string }) => outcome),
    same.stderr,
  ).toEqual(Array(3).fill("unchanged"));
  const added = "acme-west,HQ,new-till,windows,Front desk,7";
  writeFileSync(path, `org,site,hostname,osType,displayName,custom.rack\n${added}\n`);
  const provisions = ["devices", "import", path, "--provision", "--secret-dir", join(command.dir, "secrets")];
  const made = await rmm(provisions);
  expect(made.value, made.stderr).toMatchObject([{ outcome: "done" }]);
  expect((await rmm(provisions)).value).toMatchObject([{ outcome: "unchanged" }]);
  const shown = await rmm(["devices", "show", "new-till"]);
  expect(shown.value).toMatchObject({ status: "pending", displayName: "Front desk", customFields: { rack: 7 } });
});

it("a device is moved and taken out of service by its name", async () => {
  const moved = await rmm(["devices", "move", "new-till", "--org", "acme-east", "--site", "Annex", "--yes"]);
  expect(moved.value, moved.stderr).toMatchObject({ device: { hostname: "new-till" } });
  const gone = await rmm(["devices", "decommission", hosts[1] as string, "--uninstall", "--yes"]);
  expect(gone.code, gone.stderr).toBe(0);
  const refused = await rmm(["devices", "run", "lock", hosts[1] as string, "--yes"]);
  expect([refused.code, refused.value]).toMatchObject([1, [{ error: { code: "DEVICE_DECOMMISSIONED" } }]]);
});
