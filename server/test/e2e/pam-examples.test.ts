import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { enrollFleet } from "#fixtures/simulators/agent/fleet";
import { makeKey, makeSite } from "../enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

let server: TestServer;
let rmm: Rmm;
let orgId: string;

beforeAll(async () => {
  server = await startTestServer(databases[0]!);
  const { partnerId, orgIds } = await seedPartner(server, "acme", ["contoso-dental"]);
  orgId = orgIds[0]!;
  const admin = await server.signIn({ role: "Partner Admin", partnerId });
  rmm = rmmHere({ RMM_SERVER: server.url, RMM_TOKEN: admin.token });
});
afterAll(async () => {
  rmm?.close();
  await server?.stop();
});

/** The words of a line of a shell. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...texts]) => texts.find((text) => text !== undefined)!);

/** The arguments of the first example of a help page. */
function exampleIn(help: string): string[] {
  const [line] = /^ {2}rmm .*(?:create|preview|report) .*/m.exec(help.replaceAll(/ \\\n +/g, " ")) ?? [];
  expect(line, help).toBeDefined();
  return wordsOf(line!).slice(1);
}

it.each([["rules"], ["rules", "create"], ["rules", "preview"]])(
  "a server takes the example in the help of pam %s %s, also with the one of a time window",
  async (...path) => {
    const { stdout } = await rmm.run(["pam", ...path, "--help"]);
    const example = exampleIn(stdout);
    const plain = await rmm.run([...example, "--json"]);
    expect(plain.code, plain.stderr).toBe(0);
    const [, window] = /for example\s+'(\{[^']*\})'/.exec(stdout) ?? [];
    if (path.length === 1) return;
    const timed = await rmm.run([...example, "--time-window", window!, "--json"]);
    expect(timed.code, timed.stderr).toBe(0);
  },
);

it("a list of rules that were just made shows their ids", async () => {
  const rules = [{ name: "Of a file", verdict: "auto_deny", matchUser: "pat" }];
  const argv = ["pam", "rules", "create", "--org", "contoso-dental", "-f", "-", "--columns", "outcome,id"];
  const ran = await rmm.run(argv, { stdin: JSON.stringify(rules) });
  expect(ran.stdout, ran.stderr).toMatch(/^done\t[0-9a-f]{8}-[0-9a-f-]{27}\n$/);
});

it("a device reports a prompt by the example in the help of pam report, with its token in a file", async () => {
  await makeSite(server, orgId, "HQ");
  const { raw } = await makeKey(server, { orgId });
  const now = () => server.clock.nowMs();
  const { agents } = await enrollFleet({ baseUrl: server.url, enrollmentKey: raw, count: 1, now });
  const { deviceId, agentToken } = agents[0]!.identity;
  writeFileSync(join(rmm.dir, "dev.token"), agentToken);
  const { stdout } = await rmm.run(["pam", "report", "--help"]);
  expect(stdout).toContain("--token-file dev.token");
  const [noun, verb, , ...flags] = exampleIn(stdout);
  const argv = [noun!, verb!, deviceId, ...flags, "--token-file", "dev.token", "--json"];
  const ran = await rmm.run(argv, { env: { RMM_TOKEN: "" } });
  expect(ran.code, ran.stderr).toBe(0);
  const listed = await rmm.run(["pam", "list", "--json"]);
  const jana = { id: JSON.parse(ran.stdout).id, subjectUsername: "CONTOSO\\jana" };
  expect(JSON.parse(listed.stdout), listed.stderr).toEqual([expect.objectContaining(jana)]);
});
