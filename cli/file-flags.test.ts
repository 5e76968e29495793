import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { stubApi } from "./test-api.ts";
import { commandLine, specs } from "./test-commands.ts";
import { type Leaf, leaves } from "./test-leaves.ts";
import { testCommand } from "./test-shell.ts";
import { writtenLines } from "./test-written-lines.ts";

const command = testCommand();
afterAll(command.close);

/** Folders and files of its own that a command makes, and what another command's tests hold. */
const made = new Set(["--data-dir", "--state", "--journal", "--sink-dir", "--secret-dir"]);

const flagsOf = ({ command: { options } }: Leaf) =>
  options.filter(({ long, flags }) => /<(path|file)>/.test(flags) && !made.has(long ?? "")).map(({ long }) => long!);

it("a file flag that names no file is refused with flag, path and reason in words, and nothing is sent", async () => {
  const stub = await stubApi({
    "GET /users/me": () => ({ body: { id: "u", scope: "partner", partnerId: "p", permissions: ["*:*"] } }),
  });
  const bySpec = new Map((await specs()).map((spec) => [`${spec.noun} ${spec.name}`, commandLine(spec)]));
  const written = writtenLines(command.dir);
  writeFileSync(join(command.dir, "plain"), "no folder");
  writeFileSync(join(command.dir, "tenants.yaml"), "apiVersion: rmm/v1\norganizations: []\n");
  writeFileSync(join(command.dir, "customers.csv"), "Customer\nHarbor\n");
  const faults: string[] = [];
  let tried = 0;
  for (const leaf of await leaves()) {
    const name = leaf.path.join(" ");
    const line = written[name] === undefined ? bySpec.get(name) : { ...written[name], argv: [...leaf.path, ...written[name].argv] };
    for (const flag of flagsOf(leaf)) {
      if (line === undefined) {
        faults.push(`${name}: no line`);
        continue;
      }
      const path = join(command.dir, "plain", "x");
      const stem = flag.replace(/-file$/, "");
      const argv = line.argv.filter((one) => one !== `${stem}-stdin`);
      const before = stub.seen.filter(({ method }) => method !== "GET").length;
      const ran = await command.run([...argv, flag, path], {
        env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
        ...(line.stdin === undefined ? {} : { stdin: line.stdin }),
      });
      tried += 1;
      const sent = stub.seen.filter(({ method }) => method !== "GET").length - before;
      const told = ran.stderr.includes("a part of its path is no folder") && ran.stderr.includes(path);
      if (ran.code !== 2 || !told || sent > 0) faults.push(`${name} ${flag}: ${ran.code} ${sent} ${ran.stderr.slice(0, 150)}`);
    }
  }
  await stub.close();
  expect(faults.join("\n")).toBe("");
  expect(tried).toBeGreaterThan(60);
});
