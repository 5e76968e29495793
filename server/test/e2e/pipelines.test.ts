import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startTestServer } from "../harness.ts";
import { enrol, freshCode, PASSWORD, seedPerson } from "../people.ts";
import { ciRunner, type Runner } from "./ci-runner.ts";
import { rotationWorld } from "./key-rotation-world.ts";

const text = readFileSync(fileURLToPath(new URL("../../../cli/PIPELINES.md", import.meta.url)), "utf8");
let runner: Runner;
beforeEach(() => {
  runner = ciRunner();
});
afterEach(() => runner.remove());

/** The lines of a section's block, at the places of this runner. */
function linesOf(section: string): string {
  const [, block = ""] = new RegExp(`\n## ${section}\n[^]*?\`\`\`sh\n([^]+?)\`\`\``).exec(text) ?? [];
  expect(block.trim().split("\n").length, section).toBeGreaterThan(2);
  return block.replaceAll("/run/secrets", join(runner.dir, "secrets"));
}

it.each(["Partner Admin", "System Admin"] as const)("a job rotates keys as the guide says: %s", async (role) => {
  const world = await rotationWorld(await startTestServer("sqlite"));
  const { server, partnerId, keys, ownerOf } = world;
  try {
    await server.db.updateTable("partners").set({ slug: "summit" }).where("id", "=", partnerId).execute();
    await server.db
      .updateTable("partnerServicePrincipalKeys")
      .set({ name: "ci" })
      .where("id", "=", keys.partner.id)
      .execute();
    const bot = await seedPerson(server, role === "System Admin" ? { role } : { role, partnerId });
    await server.db.updateTable("users").set({ mfaSecret: null }).where("id", "=", bot.userId).execute();
    const { secret } = await enrol(server, bot.token);
    for (const folder of ["secrets", "tools"]) mkdirSync(join(runner.dir, folder));
    const place = (name: string, content: string) =>
      writeFileSync(join(runner.dir, name), content, { mode: name.startsWith("tools") ? 0o700 : 0o600 });
    place("secrets/rotator-totp", secret);
    place("secrets/rotator-password", `${PASSWORD}\n`);
    place("secrets/ci.key", keys.partner.secret);
    // It stands in for the tool, which may not be here, and knows no other way of calling it.
    const called = `--totp --base32 @${join(runner.dir, "secrets/rotator-totp")}`;
    place("tools/oathtool", `#!/bin/sh\n[ "$*" = "${called}" ] && echo ${freshCode(server, secret)}\n`);
    const lines = linesOf("Rotation by a job").replace("rotator@msp.example", bot.email);
    const ran = await runner.script("rotation", `PATH="$PWD/tools:$PATH"\n${lines}`, { RMM_SERVER: server.url });
    expect(ran.code, ran.log).toBe(0);
    const made = runner.read("secrets/ci.key").trim();
    expect(made).not.toBe(keys.partner.secret);
    expect(await ownerOf(made)).toMatch(/^partner-key /);
    expect(await ownerOf(keys.partner.secret)).toBeUndefined();
    expect(ran.log).not.toContain(made);
    expect(ran.log).not.toContain("Partner keys are left out");
    // The partner key is young by then; the others are not.
    expect(readdirSync(join(runner.dir, "rotated")).length).toBe(3);
    for (const old of [keys.api, keys.service, keys.enrollment]) expect(await ownerOf(old.secret)).toBeUndefined();
    expect(runner.exists("rotator.code")).toBe(false);
  } finally {
    await server.stop();
  }
});

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

it("a job starts a server and waits for it as the guide says, also where the administrator is there", async () => {
  const port = String(await freePort());
  runner.write("admin.password", "Correct-Horse-9\n", 0o600);
  const lines = linesOf("A server in a job");
  const first = lines.split("\n")[0] as string;
  const ran = await runner.script("server", `${first}\n${lines}\nkill $!\nwait $! || true\n`, {
    PORT: port,
    RMM_SERVER: `http://127.0.0.1:${port}`,
  });
  expect(ran.code, `${ran.log}${runner.exists("server.log") ? runner.read("server.log") : ""}`).toBe(0);
  expect(ran.log).toContain("There already: ci@msp.example");
  expect(runner.read("ready.json")).toContain("ready");
}, 120_000);
