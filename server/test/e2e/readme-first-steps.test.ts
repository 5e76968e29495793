import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../harness.ts";
import { ciRunner, type Runner } from "./ci-runner.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
let server: TestServer;
let runner: Runner;
beforeAll(async () => {
  server = await startTestServer("sqlite");
  runner = ciRunner();
});
afterAll(async () => {
  runner?.remove();
  await server?.stop();
});

it("the first steps of the README can be pasted after the sign-in, and what they list is there", async () => {
  const [, block = ""] = /\n## Five minutes[^`]*`npm run quickstart`[^`]*```sh\n([^`]+)```/.exec(read()) ?? [];
  const lines = block.split("\n");
  const first = lines.findIndex((line) => line.startsWith("rmm partners create"));
  expect(first, "a line that makes a partner").toBeGreaterThan(4);
  mkdirSync(join(runner.dir, "fixtures/files"), { recursive: true });
  copyFileSync(join(root, "fixtures/files/tenants.yaml"), join(runner.dir, "fixtures/files/tenants.yaml"));
  const { token } = await server.signIn({ role: "System Admin" });
  // Nobody answers the questions of this shell, and nobody ends the devices either.
  const steps = lines
    .slice(first)
    .map((line) => line.replace(/^rmm apply .*?(?= {2,}#|$)/, "$& --yes").replace("--for 1h", "--for 20s"));
  const ran = await runner.script("README", `${steps.join("\n")}\nwait\n`, {
    RMM_SERVER: server.url,
    RMM_TOKEN: token,
  });
  expect(ran.code, ran.log).toBe(0);
  expect(ran.log).toContain("no changes");
  expect(ran.log).toContain("Nothing differs");
  const listed = ran.log
    .split("\n")
    .filter((line) => /\tonline\t(windows|macos|linux)\tHarbor Dental Group\t/.test(line));
  expect(listed.length, ran.log).toBe(8);
  expect(ran.log).toMatch(/^SRV-DC-04\tdone\t/m);
  expect(ran.log).toMatch(/^OK {2}organization Harbor Dental Group$/m);

  const [removal = ""] = /rmm enrollment-keys remove trial/.exec(read()) ?? [];
  const diff = "rmm diff fixtures/files/tenants.yaml --partner summit";
  const tidied = await runner.script(
    "README",
    `${diff} || echo "then $?"\n${removal} --yes\n${diff} && echo "now $?"\nrmm devices list --json`,
    {
      RMM_SERVER: server.url,
      RMM_TOKEN: token,
    },
  );
  expect(tidied.log).toContain("@@ delete enrollment key harbor-dental/trial @@");
  expect(tidied.log).toMatch(/^then 10$/m);
  expect(tidied.log).toMatch(/^now 0$/m);
  expect(tidied.log.match(/"hostname"/g)).toHaveLength(8);
}, 120_000);

function read(): string {
  return readFileSync(join(root, "README.md"), "utf8");
}
