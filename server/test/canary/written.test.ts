import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandGroups } from "#cli/commands/index";
import { nouns } from "#cli/generated/nouns";
import { programFor } from "#cli/program";
import { canaryCall, canaryRun } from "./canary-run.ts";
import { type CanaryServer, canaryServer, type Fault, faults } from "./canary-server.ts";
import { expectKept, planting, shows } from "./planting.ts";
import { endless, harmless, writtenCommands } from "./written-commands.ts";

describe("a hand-written command shows secrets only where it says", () => {
  let server: CanaryServer;
  beforeAll(async () => {
    server = await canaryServer();
  });
  afterAll(() => server?.stop());

  async function play(name: string, fault: Fault, more: readonly string[], run = canaryCall) {
    const plants = planting();
    const { argv, env = {}, given = {}, routes, failing, ...rest } = writtenCommands[name]!(plants.plant);
    const here = Object.entries(given).map(([file, text]) => [file, text.replaceAll("SERVER", server.url)]);
    server.play(fault, routes, failing);
    const ran = await run({
      argv: [...argv, ...more],
      env: { RMM_SERVER: server.url, ...env },
      given: Object.fromEntries(here),
      onStart: (interrupt) => {
        server.onHang = fault === "hangs within the answer" ? interrupt : undefined;
      },
    });
    return { ran, plants, ...rest };
  }

  it("every hand-written command is classified: it handles secrets, or it handles none", async () => {
    const named = [...Object.keys(writtenCommands), ...endless, ...harmless];
    const known = new Set(nouns.map(({ noun }) => noun));
    const leaves: string[] = [];
    const walk = (at: Command, path: string) => {
      if (at.commands.length === 0) leaves.push(path);
      for (const child of at.commands) walk(child, `${path} ${child.name()}`);
    };
    for (const name of Object.keys(commandGroups)) {
      if (known.has(name)) continue;
      walk((await programFor(name)).commands.find((one) => one.name() === name)!, name);
    }
    expect(leaves.filter((leaf) => !named.includes(leaf))).toEqual([]);
  });

  for (const name of Object.keys(writtenCommands)) {
    const { alone, patient, forgiving } = writtenCommands[name]!(planting().plant);
    const here = patient ? faults.filter((fault) => fault !== "hangs within the answer") : faults;
    describe(`rmm ${name}`, () => {
      it.each(alone ? (["none"] as const) : here)("--debug, and the server: %s", async (fault) => {
        const { ran, plants, prints = () => false, keeps } = await play(name, fault, ["--debug"]);
        if (fault === "none") {
          expect(ran.code, ran.stderr).toBe(0);
          for (const [what, secret] of plants.planted) {
            if (prints(what)) expect(shows(ran.stdout, secret), `${what} was promised`).toBe(true);
          }
        }
        if (fault === "dies within the secret" && !forgiving) expect(ran.code, ran.stderr).not.toBe(0);
        const goesWell = fault === "none" || fault.endsWith("first");
        expectKept(ran, plants, (what) => goesWell && prints(what), keeps);
      });

      it("as a process, with JSON and a filter that fails on it, and with Ctrl-C in the middle of the answer", async () => {
        const choking = await play(name, "none", ["--jq", "tojson | tonumber"], canaryRun);
        const { keeps } = choking;
        expectKept(choking.ran, choking.plants, () => false, keeps);
        if (alone) return;
        const stopped = await play(name, "hangs within the answer", ["--debug"], canaryRun);
        expectKept(stopped.ran, stopped.plants, () => false, keeps);
      });
    });
  }

  it("rmm keys rotate hands each secret to a command on its stdin, and to no argument or environment", async () => {
    const plants = planting();
    const { env = {}, routes } = writtenCommands["keys rotate"]!(plants.plant);
    server.play("none", routes);
    const argv = ["keys", "rotate", "--older-than", "90d", "--yes", "--secret-command", "sleep 0.2; cat > /dev/null"];
    const ran = await canaryRun({ argv, env: { RMM_SERVER: server.url, ...env } });
    expect(ran.code, ran.stderr).toBe(0);
    expect([...ran.elsewhere.keys()].some((where) => where.startsWith("environment of child"))).toBe(true);
    expectKept(ran, plants, () => false);
  });
});
