import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import type { CommandSpec } from "../manifest.ts";
import { ANY_ID, commandLine, specs, tokenFor } from "../test-commands.ts";
import { type RunOptions, testCommand } from "../test-shell.ts";

const command = testCommand();
const ORG = "22222222-2222-4222-8222-222222222222";
const org = { id: ORG, slug: "slug-of-it", name: "It" };
let stub: Stub;
beforeAll(async () => {
  stub = await stubServer(({ method, path }) => {
    if (method !== "GET") return { body: { success: true } };
    const isList = /\/(orgs|sites)(\?|$)/.test(path);
    return { body: isList ? { data: [{ ...org, name: "Kiosks" }], total: 1 } : org };
  });
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const bare = (await specs()).filter(({ fields }) => fields.join() === "success");
const run = ({ argv, stdin }: { argv: string[]; stdin?: string }, options: RunOptions, RMM_TOKEN = "token-of-ana") =>
  command.run(argv, {
    ...(stdin === undefined ? {} : { stdin }),
    ...options,
    env: { RMM_SERVER: stub.url, RMM_TOKEN, NO_COLOR: "1" },
  });
const runSpec = (spec: CommandSpec, more: string[], options: RunOptions) => {
  const { argv, stdin } = commandLine(spec);
  return run({ argv: [...argv, ...more], ...(stdin === undefined ? {} : { stdin }) }, options, tokenFor(spec.access));
};

describe("an answer that only says that it was done", () => {
  it("is that of many commands", () => expect(bare.length).toBeGreaterThan(15));

  it.each(bare.map((spec) => [`${spec.noun} ${spec.name}`, spec] as const))(
    "of rmm %s is a sentence about the past on a terminal, and for programs as it is",
    async (_name, spec) => {
      const told = await runSpec(spec, ["--no-input"], { tty: true });
      expect(told.code, told.stderr).toBe(0);
      expect(told.stdout).toMatch(/^(Deleted|Removed|Ended|Turned|Left|Set|Forgot|Took) \w[^\n]*\n$/);
      expect(told.stdout).not.toMatch(/success/i);
      if (spec.params.length > 0) expect(told.stdout).toContain(`: ${ANY_ID}`);
      const json = await runSpec(spec, ["--json"], { tty: true });
      expect(JSON.parse(json.stdout)).toEqual({ success: true });
      expect((await runSpec(spec, [], {})).stdout).toBe("success\ttrue\n");
    },
  );

  it("names what it was done to as it was typed, with its id", async () => {
    const { stdout } = await run({ argv: ["sites", "remove", "Kiosks", "--yes"] }, { tty: true });
    expect(stdout).toBe(`Deleted a site: Kiosks (${ORG})\n`);
  });

  it("has both verbs of a summary in the past", async () => {
    const { stdout } = await run({ argv: ["memberships", "remove", ANY_ID, "--yes"] }, { tty: true });
    expect(stdout).toBe(`Left a tenant, or declined its invitation: ${ANY_ID}\n`);
  });
});
