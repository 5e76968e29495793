import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { paged, stubApi } from "../../test-api.ts";
import { testCommand } from "../../test-shell.ts";
import { scripts } from "./scripts.ts";

const command = testCommand();
afterAll(() => command.close());

const completed = async (typed: string, env: Record<string, string> = {}) => {
  const { stdout } = await command.run(["__complete", "--", "filters", "explain", "--where", typed], { env });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0]]));
};

it("completes within the quotes of --where, whichever they are, and without", async () => {
  const systems = ["windows", "macos", "linux"];
  for (const quote of ['"', "'", ""])
    expect(await completed(`${quote}osType = `), quote).toEqual(systems.map((one) => `osType = ${one}`));
  expect(await completed("osType\\ =\\ lin")).toEqual(["osType = linux", "osType = linux and", "osType = linux or"]);
});

it("completes organizations, groups, tags and custom fields as the server has them", async () => {
  const stub = await stubApi({
    "GET /groups": () => ({ body: { data: [{ name: "Old tills", type: "dynamic" }], total: 1 } }),
    "GET /tags": () => ({ body: { data: [{ tag: "web", name: "web", deviceCount: 1 }], total: 1 } }),
    "GET /custom-fields": (_seen, query) => paged([{ fieldKey: "rack_unit", name: "Rack unit" }], query),
  });
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
  expect(await completed("orgId = cont", env)).toEqual([
    "orgId = contoso-dental",
    "orgId = contoso-dental and",
    "orgId = contoso-dental or",
  ]);
  for (const [typed, whole] of [
    ["groupId = ", "groupId = 'Old tills'"],
    ["tags any [", "tags any [web"],
    ["status = online or custom.", "status = online or custom.rack_unit"],
  ] as const)
    expect((await completed(typed, env))[0]?.startsWith(whole), typed).toBe(true);
  await stub.close();
  expect(await completed("orgId = ", env)).toEqual([]);
});

/** What bash would offer for a word, where the command answers these candidates. */
async function offered(word: string, candidates: readonly string[]): Promise<string[]> {
  const script = `rmm() { printf '%s\\t\\n' "\${CANDIDATES[@]}"; }
${scripts["bash"]}
COMP_WORDS=(rmm devices list --where "$1"); COMP_CWORD=4; shift; CANDIDATES=("$@")
_rmm; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", script, "bash", word, ...candidates]);
  return stdout.split("\n").filter((line) => line !== "");
}

it("bash goes on within the quote, and takes nothing that would end it or be expanded in it", async () => {
  const plain = ["osType = windows", "siteId = 'New York'", "osType != linux"];
  const hostile = ["siteId = '$(touch /tmp/x)'", "siteId = '`id`'", 'siteId = "a"', "siteId = '!!'", "siteId = 'a\\b'"];
  expect(await offered('"os', [...plain, ...hostile])).toEqual(plain);
  expect(await offered("'os", [...plain, "siteId = $x"])).toEqual([
    "osType = windows",
    "osType != linux",
    "siteId = $x",
  ]);
  expect(await offered("", ["New York", "$(id)"])).toEqual(["New\\ York", "\\$\\(id\\)"]);
});
