import { createSocket } from "node:dgram";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askKeychain } from "./profile/keychain-process.ts";
import { memoryKeychain, type RunOptions, testCommand } from "./test-shell.ts";

const command = testCommand();
const silentServers: Server[] = [];
let silentUrl: string;

/** Accepts connections and says nothing. */
async function silentServer(at: number | string = 0): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => undefined));
  silentServers.push(server);
  await new Promise<void>((resolve) =>
    typeof at === "string" ? server.listen(at, resolve) : server.listen(at, "127.0.0.1", resolve),
  );
  return server;
}

beforeAll(async () => {
  silentUrl = `http://127.0.0.1:${((await silentServer()).address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const server of silentServers) server.close();
  command.close();
});

async function timed(argv: readonly string[], options: RunOptions = {}) {
  const started = performance.now();
  const ran = await command.run(argv, { ...options, env: { RMM_SERVER: silentUrl, ...options.env } });
  return { ...ran, ms: performance.now() - started };
}

const forever = () => new Promise<never>(() => undefined);
const login = ["auth", "login", "--email", "ana@contoso.example", "--password-stdin"];

describe("every wait of the command has a limit and a sentence (C59)", () => {
  it("a keychain that hangs, or waits for somebody to unlock it: three seconds, then what else can be done", async () => {
    const keychain = { ...memoryKeychain(), set: forever };
    const { code, stderr, ms } = await timed(login, { keychain, stdin: "secret\n" });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("keychain of this machine cannot be used: it did not answer within 3 s"),
    ]);
    expect(stderr).toContain("--store=file");
    expect(ms).toBeGreaterThan(2_500);
    expect(ms).toBeLessThan(10_000);
  });

  it("a keychain that hangs, under --timeout; one that fails", async () => {
    const hanging = await timed([...login, "--timeout", "200ms"], {
      keychain: { ...memoryKeychain(), set: forever },
      stdin: "x\n",
    });
    expect([hanging.code, hanging.stderr]).toEqual([1, expect.stringContaining("did not answer within 0.2 s")]);
    const failing = async () => {
      throw new Error("it is locked");
    };
    const failed = await timed(login, { keychain: { ...memoryKeychain(), set: failing }, stdin: "x\n" });
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("cannot be used: it is locked")]);
    expect(failed.ms).toBeLessThan(2_500);
  });

  it.skipIf(process.platform !== "linux")("a real keychain whose bus accepts and never answers", async () => {
    const dir = mkdtempSync(join(tmpdir(), "rmm-bus-"));
    const before = process.env["DBUS_SESSION_BUS_ADDRESS"];
    await silentServer(join(dir, "bus"));
    process.env["DBUS_SESSION_BUS_ADDRESS"] = `unix:path=${join(dir, "bus")}`;
    try {
      const started = performance.now();
      const asked = askKeychain({ action: "get", account: "nobody" }, 1_500, () => new Error("too late"));
      await expect(asked).rejects.toThrow("too late");
      expect(performance.now() - started).toBeLessThan(6_000);
    } finally {
      if (before === undefined) delete process.env["DBUS_SESSION_BUS_ADDRESS"];
      else process.env["DBUS_SESSION_BUS_ADDRESS"] = before;
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it.each([
    ["a token", ["organizations", "list", "--token-stdin"]],
    ["a password", login],
    ["items", ["organizations", "create", "-f", "-"]],
    ["a body", ["api", "POST", "/orgs/organizations", "--input", "-"]],
    ["a file of customers", ["plan", "-"]],
  ])("stdin that is open and silent where %s is read", async (_, argv) => {
    const { code, stderr, ms } = await timed([...argv, "--timeout", "300ms"], {
      stdin: new PassThrough(),
      keychain: memoryKeychain(),
      env: argv.includes("--token-stdin") ? {} : { RMM_TOKEN: "user-token" },
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("No input on stdin for 0.3 s, and it is still open")]);
    expect(ms).toBeLessThan(10_000);
  });

  it("a server that accepts and is silent", async () => {
    const { code, stderr, ms } = await timed(["users", "me", "--timeout", "400ms"], {
      env: { RMM_TOKEN: "user-token" },
    });
    expect([code, stderr]).toEqual([7, expect.stringContaining(`No answer from ${silentUrl} in time`)]);
    expect(ms).toBeLessThan(10_000);
  });

  it("a proxy that accepts and is silent", async () => {
    const env = {
      RMM_TOKEN: "user-token",
      RMM_SERVER: "https://rmm.example",
      HTTPS_PROXY: silentUrl.replace("//", "//ana:hunter2@"),
    };
    const { code, stderr, ms } = await timed(["users", "me", "--timeout", "400ms"], { env });
    expect([code, stderr]).toEqual([
      7,
      expect.stringContaining(`No answer from https://rmm.example through the proxy ${silentUrl} in time`),
    ]);
    expect(stderr).not.toContain("hunter2");
    expect(ms).toBeLessThan(10_000);
  });
});

/** Takes its own view of /etc/resolv.conf, and port 53: root on Linux. */
const mayChangeNames = process.getuid?.() === 0 && existsSync("/usr/bin/unshare");

describe("a name server that never answers (C59)", () => {
  it.skipIf(!mayChangeNames)("ends the process within --timeout and a little", async () => {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(53, "127.0.0.77", resolve));
    const config = join(command.dir, "resolv.conf");
    writeFileSync(config, "nameserver 127.0.0.77\n");
    const entry = fileURLToPath(new URL("./entry.ts", import.meta.url));
    const run = `mount --bind ${config} /etc/resolv.conf && exec ${process.execPath} --conditions=source --import tsx ${entry} users me --timeout 2s`;
    try {
      const env = {
        PATH: process.env["PATH"] ?? "",
        RMM_CONFIG_DIR: command.configDir,
        RMM_TOKEN: "t",
        RMM_SERVER: "https://rmm.example",
      };
      const ran = await execa("unshare", ["-m", "sh", "-c", run], {
        env,
        extendEnv: false,
        reject: false,
        timeout: 9_000,
      });
      expect([ran.exitCode, ran.stderr]).toEqual([7, expect.stringMatching(/https:\/\/rmm\.example/)]);
    } finally {
      socket.close();
    }
  });
});
