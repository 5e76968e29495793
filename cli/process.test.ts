import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { paged, stubApi } from "./test-api.ts";
import { testCommand } from "./test-shell.ts";

const folder = testCommand();
const root = fileURLToPath(new URL("..", import.meta.url));
const entry = fileURLToPath(new URL("./entry.ts", import.meta.url));
const many = Array.from({ length: 5_000 }, (_, index) => ({ id: `id-${index}`, name: "x".repeat(200) }));
let stub: Stub;
let silent: Stub;
beforeAll(async () => {
  stub = await stubApi({
    "GET /orgs": () => ({ body: { data: many } }),
    "POST /orgs/partners": async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { status: 201, body: { id: "018f0000-0000-7000-8000-000000000001", name: "p", slug: "p" } };
    },
    "GET /devices": (_seen, query) => paged([], query),
  });
  silent = await stubApi({ "GET /orgs": () => new Promise(() => undefined) });
});
afterAll(async () => {
  await Promise.all([stub.close(), silent.close()]);
  folder.close();
});

/** The command as a process of its own, started by a shell line in which `$RMM` is the command. */
function shell(line: string, env: Record<string, string> = {}): ChildProcess {
  const rmm = `${process.execPath} --conditions=source --import tsx ${entry}`;
  const own = { RMM_CONFIG_DIR: folder.configDir, RMM_SERVER: stub.url, RMM_TOKEN: "token", RMM: rmm, ...env };
  return spawn("bash", ["-o", "pipefail", "-c", line], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: folder.dir, ...own },
  });
}

async function ended(child: ChildProcess) {
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.on("data", (chunk: Buffer) => (written[name] += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, ...written };
}

it("what every call loads holds no library that few calls use, and has its compiled code beside it", () => {
  const folder = join(root, "dist/rmm");
  const files = readdirSync(folder);
  const pieces = files.filter((name) => /^(entry|help|call)\b.*\.cjs$/.test(name));
  expect(pieces).toHaveLength(3);
  const heavy = /\brequire\(["'`](node:(crypto|child_process|https|tls|readline|zlib)|zod|ky|undici|yaml)["'`]\)/;
  for (const name of pieces) {
    const text = readFileSync(join(folder, name), "utf8");
    expect(heavy.exec(text)?.[0], name).toBeUndefined();
    expect(text.length, name).toBeLessThan(240_000);
    expect(files, "compiled").toContain(`${name}.cache`);
  }
});

it("what is built loads a library when it is used, and Node warns of nothing", async () => {
  const line = `${process.execPath} ${join(root, "bin/rmm.js")} help exit-codes --jq '.[0].code'`;
  expect(await ended(shell(line))).toEqual({ code: 0, stdout: "0\n", stderr: "" });
});

describe("a reader that leaves (C48)", () => {
  it("ends the command quietly", async () => {
    for (const line of [
      "$RMM orgs list-accessible --all --json | head -1",
      "$RMM --help | true",
      "$RMM orgs list-accessible --all | head -c 10",
    ]) {
      expect(await ended(shell(line)), line).toMatchObject({ code: 0, stderr: "" });
    }
  });

  it("is not confused with a full disk", async () => {
    for (const line of ["$RMM orgs list-accessible --all --json > /dev/full", "$RMM --version > /dev/full"]) {
      const ran = await ended(shell(line));
      expect(ran.code, line).toBe(1);
      expect(ran.stderr).toContain("no space is left on the device");
    }
  });
});

it.each(["SIGINT", "SIGTERM"] as const)("%s stops a call and exits 130", async (name) => {
  const child = shell("exec $RMM orgs list-accessible", { RMM_SERVER: silent.url });
  const done = ended(child);
  const before = silent.seen.length;
  while (silent.seen.length === before) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill(name);
  const { code, stdout, stderr } = await done;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toContain("Interrupted");
});

it("a list of entries sent 16 at once makes Node warn of nothing", async () => {
  const list = Array.from({ length: 40 }, (_, index) => JSON.stringify({ name: `p${index}`, slug: `p${index}` }));
  const path = join(folder.dir, "partners.ndjson");
  writeFileSync(path, list.join("\n"));
  const { code, stderr } = await ended(shell(`exec $RMM partners create -f ${path} --concurrency 16 --quiet`));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

it("a server starts on a free port, prints it, and stops on a signal", async () => {
  const child = shell('exec $RMM server start --port 0 --json --data-dir "$RMM_CONFIG_DIR/data"');
  const done = ended(child);
  const url = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (chunk: Buffer) =>
      resolve((JSON.parse(chunk.toString().split("\n")[0]!) as { url: string }).url),
    ),
  );
  expect((await fetch(`${url}/health`)).status).toBe(200);
  child.kill("SIGTERM");
  const { code, stdout } = await done;
  expect(code).toBe(0);
  expect(stdout).toBe(`${JSON.stringify({ event: "listening", url })}\n`);
});
