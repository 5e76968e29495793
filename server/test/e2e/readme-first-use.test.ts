import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testCommand } from "#cli/test-shell";
import { startTestServer, type TestServer } from "../harness.ts";
import { PASSWORD, seedPerson } from "../people.ts";

const readme = readFileSync(fileURLToPath(new URL("../../../README.md", import.meta.url)), "utf8");
const command = testCommand();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer("sqlite", { ENABLE_2FA: "false" });
});
afterAll(async () => {
  command.close();
  await server?.stop();
});

it("the first use of the README goes on where the machine has no keychain", async () => {
  const [, block = ""] = /\n## Five minutes[^`]*`[^`]*`[^`]*```sh\n([^`]+)```/.exec(readme) ?? [];
  const { email } = await seedPerson(server, { role: "System Admin", mfa: false });
  const lines = block.split("\n").filter((line) => /^rmm (auth login|partners create)/.test(line));
  expect(lines.map((line) => line.split(" ")[1])).toEqual(["auth", "partners"]);
  for (const line of lines) {
    const here = line
      .replace(/\s#.*/, "")
      .replace("http://127.0.0.1:3000", server.url)
      .replace("you@msp.example", email);
    const argv = [...here.matchAll(/"([^"]*)"|(\S+)/g)]
      .map(([, quoted, plain]) => quoted ?? (plain as string))
      .slice(1);
    const ran = await command.run(argv, { tty: true, answers: argv[1] === "login" ? [PASSWORD] : [] });
    expect(ran.code, ran.stderr).toBe(0);
  }
  expect(await server.db.selectFrom("partners").select("slug").where("slug", "=", "summit").execute()).toHaveLength(1);
});
