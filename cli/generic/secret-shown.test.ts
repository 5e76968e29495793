import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import type { CommandSpec } from "../manifest.ts";
import { writesOf } from "../test-api.ts";
import { ANY_ID, commandLine, specs, tokenFor } from "../test-commands.ts";
import { testCommand } from "../test-shell.ts";
import { mints, topSecrets } from "./secret-fields.ts";

const command = testCommand();
const SECRET = "s3cret-that-was-minted";
let stub: Stub;
let secrets: readonly string[] = [];
let deeper: object = {};
beforeAll(async () => {
  stub = await stubServer(() => ({
    body: {
      id: ANY_ID,
      name: "It",
      user: { email: "a@b.example" },
      ...Object.fromEntries(secrets.map((one) => [one, SECRET])),
      ...deeper,
    },
  }));
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const minting = (await specs()).filter((spec) => mints(spec) && spec.transport === "json");

describe("a secret that would not be shown", () => {
  it.each(minting.map((spec) => [`${spec.noun} ${spec.name}`, spec] as const))(
    "%s does not make it, and makes one that is shown or kept",
    async (_name, spec) => {
      secrets = topSecrets(spec);
      const token = tokenFor(spec.access);
      const { argv, stdin } = commandLine(spec);
      const run = (...more: string[]) =>
        command.run([...argv, ...more], {
          env: { RMM_SERVER: stub.url, RMM_TOKEN: token },
          ...(stdin === undefined ? {} : { stdin }),
        });
      const other = spec.fields.find((name) => !secrets.includes(name)) ?? "none";
      const named = [[`--json=${other}`], ["--columns", other], ["--ndjson", `--json=${other}`]];
      const choices = [["--jq", `.${other}`], ...(other === "none" ? [] : named)];
      // What a sign-in makes is kept by the sign-in, whatever is printed.
      if (!(spec.noun === "users" && spec.name === "accept-invite")) {
        for (const more of choices) {
          const refused = await run(...more);
          if (more[0] !== "--ndjson") expect(refused.stderr, more.join(" ")).toContain("not be shown anywhere");
          expect(refused, more.join(" ")).toMatchObject({ code: 2, stdout: "" });
        }
        expect(writesOf(stub)).toEqual([]);
        const path = join(command.dir, `${spec.noun}-${spec.name}`);
        expect((await run("--jq", `.${other}`, "--secret-file", path)).code).toBe(0);
        expect(existsSync(path)).toBe(true);
        expect((await run(`--json=${secrets[0]}`)).stdout).toContain(SECRET);
        expect((await run("--jq", `.${secrets[0]}`)).stdout).toContain(SECRET);
        expect(writesOf(stub)).toHaveLength(3);
      }
    },
  );

  it("is kept with what goes with it where it stands deeper, and is alone what a log must not show", async () => {
    const spec = minting.find(({ noun, name }) => noun === "devices" && name === "provision") as CommandSpec;
    expect(topSecrets(spec)).toEqual(["enrollment"]);
    const enrollment = { enrollmentKey: SECRET, enrollmentSecret: `${SECRET}-2`, serverUrl: "https://rmm.example" };
    secrets = [];
    deeper = { device: { id: ANY_ID, hostname: "till-07" }, enrollment };
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", GITHUB_ACTIONS: "true" };
    const { argv } = commandLine(spec);
    const path = join(command.dir, "enrollment.json");
    const kept = await command.run([...argv, "--json", "--secret-file", path], { env });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(enrollment);
    const masks = [`::add-mask::${SECRET}`, `::add-mask::${SECRET}-2`];
    const lines = kept.stdout.split("\n").concat(kept.stderr.split("\n"));
    expect(lines.filter((line) => line.includes("add-mask"))).toEqual(masks);
    expect(lines.filter((line) => line.includes(SECRET))).toEqual(masks);
    expect(kept.stdout).toContain("till-07");
    const jq = await command.run([...argv, "--jq", ".enrollment.enrollmentKey"], { env });
    expect([jq.code, jq.stdout.includes(SECRET)]).toEqual([0, true]);
    expect((await command.run([...argv, "--jq", ".enrollment.serverUrl"], { env })).code).toBe(2);
    deeper = {};
  });

  it("rmm api and lists of entries refuse it too", async () => {
    secrets = ["key"];
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const api = ["api", "POST", "/enrollment-keys", "-f", "name=hq"];
    const list = ["enrollment-keys", "create", "--org-id", ANY_ID, "-f", "-"];
    const stdin = '[{"name":"A"},{"name":"B"}]';
    for (const argv of [
      [...api, "--jq", ".id"],
      [...api, "--json=id"],
      [...api, "--silent"],
      [...list, "--json=outcome"],
      [...list, "--jq", ".[].outcome"],
      [...list, "--columns", "id"],
    ])
      expect(await command.run(argv, { env, stdin }), argv.join(" ")).toMatchObject({ code: 2, stdout: "" });
    expect(stub.seen).toEqual([]);
    for (const argv of [
      [...api, "--jq", ".key"],
      [...list, "--json=result"],
      [...list, "--columns", "id,key"],
    ])
      expect((await command.run(argv, { env, stdin })).stdout, argv.join(" ")).toContain(SECRET);
  });
});
