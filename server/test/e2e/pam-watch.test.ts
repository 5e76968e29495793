import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { SECOND } from "#server/platform/clock";
import { ElevationWorld, type TestAgent } from "../access-control/elevation-world.ts";
import type { SignedInUser } from "../harness.ts";
import { PASSWORD, seedPerson } from "../people.ts";
import { hasScript, openTerminal, type Terminal, whyNoScript } from "./terminal.ts";

if (!hasScript) process.stderr.write(`rmm pam watch is not tested on a terminal: ${whyNoScript}\n`);

/** What a machine could write to clear the screen, hide text, name the window, colour by one byte, and turn text round. */
const hostile = {
  subject_username: "CONTOSO\\jana\u001b[8m",
  target_executable_path: "C:/Setup/\u001b]0;owned\u0007printer.exe",
  command_line: "printer.exe \u001b[2J\u009b31m\u202e /S",
};
const obeyed = /\u001b\]|\u0007|\u001b\[2J|\u001b\[8m|\u009b|\u202e/;
const ctrlC = "\u0003";
const down = "\u001b[B";
const cursorHidden = "\u001b[?25l";

describe.skipIf(!hasScript)("rmm pam watch, the process on a pseudo-terminal", { timeout: 60_000 }, () => {
  const home = mkdtempSync(join(tmpdir(), "rmm-e2e-"));
  let world: ElevationWorld;
  let device: TestAgent;
  let mia: SignedInUser;
  let terminal: Terminal | undefined;

  beforeAll(async () => {
    world = await ElevationWorld.start("sqlite");
    mia = await seedPerson(world.server, { role: "Org Admin", orgId: world.orgId, name: "Mia" });
    device = await world.device();
  });
  afterEach(() => terminal?.kill());
  afterAll(async () => {
    await world?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  function watch(...flags: string[]): Terminal {
    const env = { HOME: home, RMM_CONFIG_DIR: home, RMM_SERVER: world.server.url, RMM_TOKEN: mia.token };
    terminal = openTerminal(["pam", "watch", ...flags], env);
    return terminal;
  }

  const reported = async (): Promise<string> => (await device.report(hostile)).body.id;

  /** Later than those before it, so that it stands below them. */
  async function reportedNext(more: Parameters<ElevationWorld["pending"]>[1]): Promise<string> {
    world.server.clock.advance(SECOND);
    return world.pending(device.deviceId, more);
  }

  /** Its exit code, once the terminal is as it was and nothing was on it that may not be. */
  async function ended(of: Terminal): Promise<number | null> {
    const { code, before, after } = await of.done;
    expect(before).toMatch(/^[0-9a-f:]+$/);
    expect(after).toBe(before);
    const written = of.written();
    expect(written.match(/\u001b\[\?25[lh]/g)?.at(-1)).not.toBe(cursorHidden);
    expect(written).not.toMatch(obeyed);
    for (const secret of [mia.token, PASSWORD]) expect(written).not.toContain(secret);
    return code;
  }

  it("shows what comes, decides what a key and a yes say, and gives the terminal back", async () => {
    const shown = watch();
    await shown.shows("Keys: a approves, d denies, s shows, q quits");
    shown.type("a");
    await shown.shows("Nothing waits");
    const known = await reported();
    await shown.shows(new RegExp(`waits .*printer\\.exe .*${known}`));
    shown.type("a");
    await shown.shows("Command line printer.exe \\u001b[2J\\u009b31m\\u202e /S");
    await shown.shows("Approve CONTOSO\\jana\\u001b[8m on pc-1");
    await shown.shows("(y/N)");
    expect(await world.show(known)).toMatchObject({ status: "pending" });
    const critical = await reportedNext({ riskTier: 4 });
    const game = await reportedNext({ deviceHostname: "till-2", reason: "A game\u001b[2J" });
    shown.type("y\r");
    await shown.shows(new RegExp(`over .*${known}`));
    expect(await world.show(known)).toMatchObject({ status: "approved", approvedByName: "Mia" });

    shown.type("d");
    await shown.shows(`❯ reception-pc  CONTOSO\\jana  C:/Setup/printer.exe  ${critical}`);
    shown.type(down);
    await shown.shows(`❯ till-2  CONTOSO\\jana  C:/Setup/printer.exe  ${game}`);
    shown.type("\r");
    await shown.shows("Reason       A game\\u001b[2J");
    await shown.shows(/Deny CONTOSO.*till-2 .*\(y\/N\)/);
    shown.type("y\r");
    await shown.shows(new RegExp(`over .*A game.*${game}`));
    expect(await world.show(game)).toMatchObject({ status: "denied", reason: "A game\u001b[2J" });
    expect(await world.show(critical)).toMatchObject({ status: "pending" });

    shown.type("a");
    await shown.shows(/Approve CONTOSO.*\(y\/N\)/);
    shown.type("y\r");
    await shown.shows("Your password");
    shown.type(`${PASSWORD}\r`);
    await shown.shows(new RegExp(`over .*${critical}`));
    expect(await world.show(critical)).toMatchObject({ status: "approved" });
    shown.type("q");
    expect(await ended(shown)).toBe(0);
  });

  it("ends with Ctrl-C, at a question too, which decides nothing", async () => {
    const waiting = [await reported(), await reportedNext({ deviceHostname: "till-2" })];
    const asked = watch();
    await asked.shows(new RegExp(`waits .*${waiting[1]}`));
    asked.type("d");
    await asked.shows("❯ pc-1");
    await asked.shows("navigate");
    asked.type(ctrlC);
    expect(await ended(asked)).toBe(130);
    expect(asked.written()).toContain(cursorHidden);
    const idle = watch();
    await idle.shows(new RegExp(`waits .*${waiting[1]}`));
    idle.type(ctrlC);
    expect(await ended(idle)).toBe(130);
    for (const id of waiting) expect(await world.show(id)).toMatchObject({ status: "pending" });
  });

  it("prints objects for programs on a terminal too, and ends with Ctrl-C", async () => {
    const id = await reported();
    const printed = watch("--ndjson");
    await printed.shows(new RegExp(`\\{.*"id":"${id}".*\\}`));
    printed.type(ctrlC);
    expect(await ended(printed)).toBe(130);
  });
});
