import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { KEY, stubApi } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
let stub: Stub;
beforeAll(async () => {
  stub = await stubApi();
});
afterAll(async () => {
  await stub.close();
  command.close();
});

it("a secret that git would take is warned of, and one that it ignores or does not know is not", async () => {
  const tree = join(command.dir, "tree");
  mkdirSync(join(tree, "keys"), { recursive: true });
  const mint = (path: string) =>
    command.run(["enrollment-keys", "create", "--org", "contoso-dental", "--name", "hq", "--secret-file", path], {
      env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
    });
  expect((await mint(join(tree, "keys/before.txt"))).stderr).not.toContain("git");
  execFileSync("git", ["init", "-q", tree]);
  const taken = await mint(join(tree, "keys/taken.txt"));
  expect(taken).toMatchObject({ code: 0, stdout: "" });
  expect(taken.stderr).toContain(`Warning: git does not ignore ${join(tree, "keys/taken.txt")}`);
  expect(taken.stderr).not.toContain(KEY);
  writeFileSync(join(tree, ".gitignore"), "keys/\n");
  expect((await mint(join(tree, "keys/ignored.txt"))).stderr).not.toContain("Warning");
});
