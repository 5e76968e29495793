import { afterAll, beforeAll, expect, it } from "vitest";
import { enrollFleet } from "#fixtures/simulators/agent/fleet";
import { makeKey, makeSite } from "../enroll.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

let server: TestServer;
let admin: SignedInUser;
let rmm: RmmProcess;
let hosts: string[];

beforeAll(async () => {
  server = await startTestServer(databases[0], { AGENT_ENROLL_RATE_LIMIT: "1000" });
  const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme-west", "acme-east"]);
  const [orgId, otherId] = orgIds as [string, string];
  await makeSite(server, orgId, "HQ");
  await makeSite(server, otherId, "Annex");
  admin = await server.signIn({ role: "Partner Admin", partnerId });
  const { raw: key } = await makeKey(server, { orgId });
  const now = () => server.clock.nowMs();
  const { agents } = await enrollFleet({ baseUrl: server.url, enrollmentKey: key, count: 4, now });
  hosts = agents.map(({ machine }) => machine.hostname);
  rmm = rmmProcess({ RMM_SERVER: server.url, RMM_TOKEN: admin.token });
});
afterAll(async () => {
  rmm.close();
  await server.stop();
});

const namesIn = (stdout: string): string[] => stdout.split("\n").filter((line) => line !== "");
const named = (some: readonly string[]) => `hostname in [${some.map((host) => `'${host}'`).join(", ")}]`;

it("an expression lists, previews and is saved on a server, by names of tenants", async () => {
  const where = `orgId = acme-west and siteId = HQ and (${named(hosts.slice(0, 2))} or tags any [kiosk])`;
  const listed = await rmm.run(["devices", "list", "--where", where, "--columns", "hostname"]);
  expect(listed, listed.stderr).toMatchObject({ code: 0 });
  expect(namesIn(listed.stdout)).toEqual(hosts.slice(0, 2).toSorted());
  const shown = await rmm.run(["filters", "preview", "--where", "status = online", "--limit", "1"]);
  expect(shown.stderr).toContain("4 devices match; the first by hostname is shown");
  const saved = await rmm.run(["filters", "save", "Two", "--org", "acme-west", "--where", where]);
  expect(saved.code, saved.stderr).toBe(0);
  const ran = await rmm.run(["filters", "run", "Two", "--columns", "hostname"]);
  expect(namesIn(ran.stdout)).toEqual(hosts.slice(0, 2).toSorted());
  const got = await rmm.run(["filters", "get", "Two", "--json"]);
  const back = await rmm.run(["filters", "explain", "--conditions", "-"], { stdin: got.stdout });
  expect(back.stdout).toMatch(/^orgId = [0-9a-f-]{36} and siteId = [0-9a-f-]{36} and \(hostname in \[/);
});

it("what the server alone can know is shown where it stands in the expression", async () => {
  const field = ["--field-key", "rack", "--type", "number", "--name", "Rack", "--org", "acme-west"];
  expect((await rmm.run(["custom-fields", "create", ...field])).code).toBe(0);
  const where = "status = online and custom.rack starts with a";
  const fine = await rmm.run(["devices", "list", "--where", where]);
  expect(fine.code, fine.stderr).toBe(0);
  const ran = await rmm.run(["filters", "save", "Racks", "--org", "acme-west", "--where", "custom.rack within 3 days"]);
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain("  custom.rack within 3 days\n              ^^^^^^\n");
});

it("a change hits what matches, after it was counted", async () => {
  const where = named(hosts.slice(0, 3));
  const tagged = await rmm.run(["devices", "update", "--where", where, "--tags", "till"]);
  expect(tagged.code, tagged.stderr).toBe(0);
  const refused = await rmm.run(["devices", "decommission", "--where", "tags any [till]", "--yes"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--confirm=3")]);
  expect(namesIn((await rmm.run(["devices", "list", "--where", "tags any [till]"])).stdout)).toHaveLength(3);
  const gone = await rmm.run(["devices", "decommission", "--where", "tags any [till]", "--confirm=3"]);
  expect(gone.code, gone.stderr).toBe(0);
  const left = await rmm.run([
    "devices",
    "list",
    "--where",
    "osType in [windows, macos, linux]",
    "--columns",
    "hostname",
  ]);
  expect(namesIn(left.stdout)).toEqual(hosts.slice(3));
});
