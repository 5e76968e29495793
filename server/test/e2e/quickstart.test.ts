import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Ran, type RmmProcess, rmmProcess } from "./rmm-process.ts";

describe("rmm quickstart", { timeout: 240_000 }, () => {
  let rmm: RmmProcess;
  beforeAll(() => {
    rmm = rmmProcess({});
  });
  afterAll(() => rmm.close());

  const realWork = {
    DATABASE_URL: "postgres://nobody@127.0.0.1:9/none",
    RMM_TOKEN: "of-another-server",
    NODE_ENV: "production",
  };
  /** Its temporary folders are created in the test's folder. */
  const run = (...flags: string[]): Promise<Ran> =>
    rmm.run(["quickstart", ...flags], { env: { TMPDIR: rmm.dir, ...realWork } });
  const folders = () => readdirSync(rmm.dir).filter((name) => name.startsWith("rmm-quickstart-"));

  it("names the step that failed, shows the server's error, and leaves nothing behind", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    const ran = await run("--port", String(port));
    taken.close();
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/^rmm: Start a server: /);
    expect(ran.stderr).toContain(`Port ${port} is in use`);
    expect(folders()).toEqual([]);
  });

  it("completes despite settings for other servers; with --keep the server stays, and secrets are in files", async () => {
    const ran = await run("--keep", "--json");
    expect(ran.code, ran.stderr).toBe(0);
    const { url, dir, organizations, devices, auditEntriesVerified } = JSON.parse(ran.stdout);
    expect([organizations >= 40, devices, auditEntriesVerified > 0]).toEqual([true, 50, true]);
    const pid = Number(/kill (\d+)/.exec(ran.stderr)?.[1]);
    try {
      for (const typed of ["server start", "auth login", "apply tenants.yaml", "devices list", "audit verify"])
        expect(ran.stderr).toContain(
          `$ ${typed === "server start" ? "AGENT_ENROLL_RATE_LIMIT=1000 " : ""}rmm ${typed}`,
        );
      expect((await fetch(`${url}/health`)).status).toBe(200);
      // Its libraries are bundled with the server, and load when they are first used.
      expect((await fetch(`${url}/docs/swagger-ui.css`)).status).toBe(200);
      const config = { env: { RMM_CONFIG_DIR: join(dir, "config") } };
      const listed = await rmm.run(["devices", "list", "--all", "--json=hostname"], config);
      expect(JSON.parse(listed.stdout)).toHaveLength(50);
      const kept = join(dir, "sign-ins.txt");
      expect(statSync(kept).mode & 0o777).toBe(0o600);
      const secrets = [
        ...[...readFileSync(kept, "utf8").matchAll(/^(?:password|TOTP) +(\S+)/gm)].map((match) => match[1] as string),
        ...readdirSync(join(dir, "secrets")).map((name) => readFileSync(join(dir, "secrets", name), "utf8").trim()),
        readFileSync(join(dir, "pat.invite"), "utf8").trim(),
      ];
      expect(secrets.length).toBeGreaterThan(30);
      for (const secret of secrets) expect(ran.stderr + ran.stdout).not.toContain(secret);
    } finally {
      process.kill(pid, "SIGTERM");
    }
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 20_000 });
  });
});
