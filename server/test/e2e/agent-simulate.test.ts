import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandType, commandTypes } from "#contract/core/command-types";
import { makeKey } from "../enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";
import { runFleet } from "./simulated-fleet.ts";

/** An order to carry an elevation out is handed out with its request alone (`elevations.test.ts`). */
const types = (Object.keys(commandTypes) as CommandType[]).filter((type) => type !== "actuate_elevation");
/** After these a device is not heard of for a while, or ever. */
const silencing: readonly CommandType[] = ["reboot", "reboot_safe_mode", "shutdown", "self_uninstall"];
const PER_CLAIM = 10;

/** Every type, for as few devices as answer them all. */
function sharedOut(): CommandType[][] {
  const others = types.filter((type) => !silencing.includes(type));
  const groups = Array.from({ length: Math.ceil(others.length / PER_CLAIM) }, (_, place) =>
    others.slice(place * PER_CLAIM, (place + 1) * PER_CLAIM),
  );
  return [...groups, ...silencing.map((type) => [type])];
}

describe.each(databases)("simulated devices on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let rmm: Rmm;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "100000" });
    orgId = (await seedPartner(server, "acme", ["acme"])).orgIds[0] as string;
    rmm = rmmHere({ RMM_SERVER: server.url });
  });
  afterAll(async () => {
    rmm?.close();
    await server?.stop();
  });

  it.each(["poll", "socket"] as const)(
    "answer every type of command once, over %s, and what they report is taken",
    async (transport) => {
      const given = sharedOut();
      const { summary, commands, refused, deviceIds } = await runFleet(server, {
        ...{ orgId, given, options: { transport, seed: transport } },
        async until({ answered }, ids) {
          const disks = server.db.selectFrom("deviceDisks").select("deviceId").where("deviceId", "in", ids);
          return answered === types.length && (await disks.execute()).length > given.length / 2;
        },
      });
      const held = server.db.selectFrom("devices").select("id").where("connectionId", "is not", null);
      const connected = await held.where("id", "in", deviceIds).execute();
      expect(connected).toHaveLength(transport === "socket" ? given.length : 0);
      expect(summary).toMatchObject({
        enrolled: given.length,
        claimedTwice: 0,
        ignored: 0,
        // A machine that restarts cuts off what it was saying.
        unreached: transport === "poll" ? 0 : expect.any(Number),
        connected: 0,
      });
      const uninstalled = commands.find(({ type }) => type === "self_uninstall")?.deviceId;
      expect(refused.filter((deviceId) => deviceId !== uninstalled)).toEqual([]);
      expect(commands.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
      expect(commands.filter(({ status }) => status !== "completed" && status !== "failed")).toEqual([]);
    },
  );

  it("that lie and repeat themselves change nothing that is not theirs", async () => {
    const given = [
      ["refresh_inventory", "lock"],
      ["collect_logs", "lock"],
    ] as const;
    const misbehave = { lying: 1, duplicate: 1 };
    const options = { seed: "liars", misbehave };
    const { summary, commands } = await runFleet(server, {
      orgId,
      given,
      options,
      until: ({ answered, ignored }) => answered + ignored >= 8,
    });
    expect(summary).toMatchObject({ answered: 4, ignored: 4, unreached: 0 });
    expect(commands.map(({ status }) => status)).toEqual(given.flat().map(() => "completed"));
  });

  it("that are old know few types, and failing ones answer failed", async () => {
    const given = [["lock"], ["reboot"]] as const;
    const old = await runFleet(server, {
      ...{ orgId, given, options: { seed: "old", misbehave: { old: 1 } } },
      until: ({ answered }) => answered === 2,
    });
    const byType = new Map(old.commands.map((command) => [command.type, command]));
    expect(byType.get("lock")).toMatchObject({ status: "failed" });
    expect(JSON.stringify(byType.get("lock")?.outcome)).toContain("unsupported");
    expect(byType.get("reboot")).toMatchObject({ status: "completed" });
    const { commands } = await runFleet(server, {
      ...{ orgId, given: [["lock"]], options: { seed: "failing", misbehave: { failing: 1 } } },
      until: ({ answered }) => answered === 1,
    });
    expect(commands).toMatchObject([{ status: "failed" }]);
  });

  it("go on as the same devices with the file of rmm agent simulate, which alone has secrets", async () => {
    const key = await makeKey(server, { orgId, maxUsage: 3 });
    writeFileSync(join(rmm.dir, "hq.key"), `${key.raw}\n`);
    const run = (...more: string[]) =>
      rmm.run([
        "agent",
        "simulate",
        "--count",
        "3",
        "--state",
        "fleet.json",
        "--for",
        "1s",
        "--interval",
        "1s",
        ...more,
      ]);
    const first = await run("--key-file", "hq.key", "--debug");
    expect(first.code, first.stderr).toBe(0);
    const events = first.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.filter(({ event }) => event === "enrolled")).toHaveLength(3);
    expect(events.at(-1)).toMatchObject({ event: "summary", enrolled: 3, refused: 0 });
    const kept = readFileSync(join(rmm.dir, "fleet.json"), "utf8");
    expect(statSync(join(rmm.dir, "fleet.json")).mode & 0o777).toBe(0o600);
    expect(kept).not.toContain(key.raw);
    const { devices } = JSON.parse(kept);
    for (const { identity, nonce } of devices)
      for (const secret of [identity.agentToken, identity.watchdogToken, nonce, key.raw])
        expect(first.stdout + first.stderr).not.toContain(secret);

    const again = await run("--json");
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ devices: 3, enrolled: 3, refused: 0 });
    expect(JSON.parse(again.stdout).heartbeats).toBeGreaterThan(0);
    const overSockets = await run("--json", "--transport", "socket");
    expect(overSockets.code, overSockets.stderr).toBe(0);
    expect(JSON.parse(overSockets.stdout)).toMatchObject({ enrolled: 3, refused: 0, connected: 0 });
    const connections = server.db.selectFrom("devices").select("id").where("connectionId", "is not", null);
    const ids = devices.map(({ identity }: { identity: { deviceId: string } }) => identity.deviceId);
    expect(await connections.where("id", "in", ids).execute()).toHaveLength(3);
    expect((await run("--seed", "other")).code).toBe(2);
    const { count } = await server.db
      .selectFrom("devices")
      .select((at) => at.fn.countAll<number>().as("count"))
      .where(
        "hostname",
        "in",
        events.flatMap(({ event, hostname }) => (event === "enrolled" ? [hostname] : [])),
      )
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(3);
  });

  it("that are not let in say so by the exit code", async () => {
    const key = await makeKey(server, { orgId, maxUsage: 1 });
    const run = (raw: string) =>
      rmm.run(["agent", "simulate", "--count", "2", "--for", "1s", "--seed", raw], {
        env: { RMM_ENROLLMENT_KEY: raw },
      });
    const none = await run("nobody-minted-this");
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining("2 not enrolled: ENROLLMENT_KEY_NOT_FOUND")]);
    const half = await run(key.raw);
    expect([half.code, half.stderr]).toEqual([9, expect.stringContaining("1 not enrolled: ENROLLMENT_KEY_EXHAUSTED")]);
    expect(half.stderr).toContain("`rmm enrollment-keys create --max-usage 25`");
    expect((await rmm.run(["agent", "simulate"])).stderr).toContain("--key-file");
    const wrong = await rmm.run(["agent", "simulate", "--misbehave", "sulky"], {
      env: { RMM_ENROLLMENT_KEY: key.raw },
    });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("there is no sulky kind")]);
    const pigeon = await rmm.run(["agent", "simulate", "--transport", "pigeon"], {
      env: { RMM_ENROLLMENT_KEY: key.raw },
    });
    expect([pigeon.code, pigeon.stderr]).toEqual([2, expect.stringContaining("socket or poll")]);
  });
});
