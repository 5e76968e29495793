import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { heldAlready } from "#cli/generic/minted";
import type { CommandSpec } from "#cli/manifest";
import { canaryCall, canaryRun, HERE } from "./canary-run.ts";
import { type CanaryServer, canaryServer, type Fault, faults } from "./canary-server.ts";
import { secretCommands, typed } from "./generated-commands.ts";
import { plantedResult } from "./planted-result.ts";
import { expectKept, planting, shows } from "./planting.ts";

const all = await secretCommands();
/** Commands of the selected nouns (`npm test -- sites`). */
const nouns = process.env["NOUNS"]?.split(",");
const commands = all.filter(({ noun }) => nouns === undefined || nouns.includes(noun));
const ID = "11111111-1111-4111-8111-111111111111";
const pathOf = ({ method, path }: CommandSpec): string => `${method} ${path.replace(/:\w+/g, ID)}`;
const cameIn = (what: string): boolean => what.startsWith("result ");

describe("a generated command shows secrets only where it says", () => {
  let server: CanaryServer;
  beforeAll(async () => {
    server = await canaryServer();
  });
  afterAll(() => server?.stop());

  async function play(spec: CommandSpec, fault: Fault, more: readonly string[], run = canaryCall) {
    const plants = planting();
    const { argv, env, given } = typed(spec, plants.plant);
    const result = plantedResult(spec, (path) => plants.plant(`result ${path}`));
    server.play(fault, { [pathOf(spec)]: () => result }, () => true);
    const ran = await run({
      argv: [...argv, ...more],
      env: { RMM_SERVER: server.url, ...env },
      given,
      onStart: (interrupt) => {
        server.onHang = fault === "hangs within the answer" ? interrupt : undefined;
      },
    });
    return { ran, plants };
  }

  it("finds the commands with secrets, and finds secrets that are there", async () => {
    const names = all.map(({ noun, name }) => `${noun} ${name}`);
    for (const one of ["api-keys create", "enrollment-keys rotate", "service-principals rotate", "users invite"]) {
      expect(names).toContain(one);
    }
    const { ran, plants } = await play(all.find(({ noun }) => noun === "api-keys")!, "none", []);
    expect(shows(ran.stdout, plants.plant("result key"))).toBe(true);
    expect(() => expectKept(ran, plants, () => false)).toThrow(/result key on stdout/);
  });

  for (const spec of commands) {
    const json = spec.transport === "json";
    const comes = json && spec.secretResult.length > 0;

    describe(`rmm ${spec.noun} ${spec.name}`, () => {
      it.each(faults)("--debug, and the server: %s", async (fault) => {
        // What the person has already is told again where it is asked for.
        const more = `${spec.noun} ${spec.name}` in heldAlready ? ["--json"] : [];
        const { ran, plants } = await play(spec, fault, ["--debug", ...more]);
        const goesWell = fault === "none" || fault.endsWith("first");
        expect(ran.stderr).toContain(`debug: > ${spec.method}`);
        if (fault === "none" && json) expect(ran.code, ran.stderr).toBe(0);
        if (fault === "none" && comes) {
          expect([...plants.planted].some(([what, secret]) => cameIn(what) && shows(ran.stdout, secret))).toBe(true);
        }
        if (!goesWell && json) expect(ran.code).not.toBe(0);
        expectKept(ran, plants, (what) => goesWell && cameIn(what));
      });

      it("--dry-run, errors as JSON, and a filter that fails on the answer", async () => {
        const dry = await play(spec, "none", ["--dry-run", "--debug"]);
        expect(dry.ran.code, dry.ran.stderr).toBe(0);
        expectKept(dry.ran, dry.plants, () => false);
        const refused = await play(spec, "refuses and repeats what it got", ["--json"]);
        expectKept(refused.ran, refused.plants, () => false);
        const choking = await play(spec, "none", ["--jq", "tojson | tonumber", "--debug"]);
        if (json) expect(choking.ran.code).not.toBe(0);
        expectKept(choking.ran, choking.plants, () => false);
      });

      it("as a process: Ctrl-C in the middle of the answer, and the secret in a file", async () => {
        const stopped = await play(spec, "hangs within the answer", ["--debug"], canaryRun);
        expect(stopped.ran.code, stopped.ran.stderr).toBe(130);
        expectKept(stopped.ran, stopped.plants, () => false);
        const more = comes ? ["--secret-file", `${HERE}/new.key`] : [];
        const written = await play(spec, "limited first", ["--debug", ...more], canaryRun);
        const isFile = (where: string) => where === "file work/new.key";
        if (comes && spec.idempotent)
          expect([...written.ran.elsewhere.keys()].some(isFile), written.ran.stderr).toBe(true);
        expectKept(
          written.ran,
          written.plants,
          () => false,
          (what, where) => cameIn(what) && isFile(where),
        );
      });
    });
  }
});
