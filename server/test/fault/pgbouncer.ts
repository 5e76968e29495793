import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const places = ["/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"];

/** The PgBouncer of this machine; without one, tests that need it are skipped. */
export const pgbouncerPath: string | undefined = places.find((path) => existsSync(path));

export const whyNoPgbouncer = `no PgBouncer in ${places.join(", ")}: install the package pgbouncer`;

export interface Pooler {
  /** The database's URL, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A real PgBouncer in front of a database. It refuses to run as root, so it runs as `nobody` then. */
export async function startPgbouncer(database: string, settings: Record<string, string>): Promise<Pooler> {
  const dir = mkdtempSync(join(tmpdir(), "rmm-pgbouncer-"));
  chmodSync(dir, 0o755);
  const port = await freePort();
  const { hostname, port: behind, username, password, pathname } = new URL(database);
  const config = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "any",
    max_client_conn: "200",
    ...settings,
  };
  const lines = Object.entries(config).map(([name, value]) => `${name} = ${value}`);
  const login = `host=${hostname} port=${behind} user=${username} password=${decodeURIComponent(password)}`;
  writeFileSync(join(dir, "pgbouncer.ini"), ["[databases]", `* = ${login}`, "[pgbouncer]", ...lines, ""].join("\n"));
  const asRoot = userInfo().uid === 0 ? ["-u", "nobody"] : [];
  const child = spawn(pgbouncerPath as string, [...asRoot, "-q", join(dir, "pgbouncer.ini")], { stdio: "ignore" });
  await untilListening(port, child);
  const url = new URL(`postgres://${username}@127.0.0.1:${port}${pathname}`);
  return {
    url: url.href,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (let left = 200; ; left -= 1) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (open) return;
    if (left === 0 || child.exitCode !== null) throw new Error("PgBouncer did not start");
    await pause(50);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
