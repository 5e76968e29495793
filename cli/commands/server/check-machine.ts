import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { keychainOf, keychainProblem } from "../../profile/keychain.ts";
import type { Shell } from "../../shell.ts";
import type { Check } from "./check.ts";

/** The last day on which the Node project mends a major version. */
const lastDays: Readonly<Record<number, string>> = {
  20: "2026-04-30",
  22: "2027-04-30",
  23: "2025-06-01",
  24: "2028-04-30",
  25: "2026-06-01",
};
const SUGGESTED_NODE = 24;
/** No clock of a working machine stands before this program was written. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);

/** What needs no database: Node, the data folder, the keychain, the clock. */
export async function machineChecks(shell: Shell, dataDir: string): Promise<Check[]> {
  return [
    nodeCheck(process.versions.node, shell.now()),
    ...(await folderChecks(resolve(dataDir))),
    await keychainCheck(shell),
    clockCheck(shell.now()),
  ];
}

/** `package.json`, "engines", and how long the Node project still mends it. */
export function nodeCheck(version: string, nowMs: number): Check {
  const check = "node";
  const remedy = `Install Node ${SUGGESTED_NODE}, which is supported until ${lastDays[SUGGESTED_NODE]}`;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19) || major === 21)
    return { check, status: "fail", message: `Node ${version} is too old`, remedy };
  const lastDay = lastDays[major];
  if (lastDay !== undefined && new Date(nowMs).toISOString().slice(0, 10) > lastDay)
    return { check, status: "warn", message: `Node ${version}, whose support ended on ${lastDay}`, remedy };
  return { check, status: "ok", message: `Node ${version}` };
}

async function folderChecks(dataDir: string): Promise<Check[]> {
  const check = "data folder";
  const found = await stat(dataDir).catch(() => undefined);
  if (found === undefined) {
    const parent = await nearest(dirname(dataDir));
    const writable = await canWrite(parent);
    return writable
      ? [{ check, status: "ok", message: `${dataDir} will be made at the first start` }]
      : [
          {
            check,
            status: "fail",
            message: `${dataDir} cannot be made`,
            remedy: `Make ${parent} writable, or give --data-dir`,
          },
        ];
  }
  if (!found.isDirectory())
    return [{ check, status: "fail", message: `${dataDir} is no folder`, remedy: "Give --data-dir" }];
  if (!(await canWrite(dataDir)))
    return [{ check, status: "fail", message: `${dataDir} is not writable`, remedy: `chown or chmod ${dataDir}` }];
  return [openness(check, dataDir, found.mode, "0700"), ...(await secretsCheck(dataDir))];
}

async function secretsCheck(dataDir: string): Promise<Check[]> {
  const path = join(dataDir, "secrets.json");
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? [] : [openness("secrets file", path, found.mode, "0600")];
}

/** Others must not read what signs tokens and encrypts secrets. */
function openness(check: string, path: string, mode: number, wanted: string): Check {
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  if (process.platform === "win32" || (mode & 0o077) === 0)
    return { check, status: "ok", message: `${path} (${shown})` };
  const others = (mode & 0o007) !== 0;
  return {
    check,
    status: others ? "fail" : "warn",
    message: `${path} is open to others (${shown})`,
    remedy: `chmod ${wanted} ${path}`,
  };
}

async function nearest(path: string): Promise<string> {
  if (
    await stat(path).then(
      () => true,
      () => false,
    )
  )
    return path;
  return dirname(path) === path ? path : nearest(dirname(path));
}

const canWrite = (path: string): Promise<boolean> =>
  access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );

async function keychainCheck(shell: Shell): Promise<Check> {
  const problem = await keychainProblem(keychainOf(shell));
  if (problem === undefined) return { check: "keychain", status: "ok", message: "keeps secrets" };
  return {
    check: "keychain",
    status: "warn",
    message: problem,
    remedy: "Sign in with `rmm auth login --store=file`, or set RMM_TOKEN",
  };
}

function clockCheck(nowMs: number): Check {
  const shown = new Date(nowMs).toISOString();
  if (nowMs >= EARLIEST_MS) return { check: "clock", status: "ok", message: shown };
  return { check: "clock", status: "fail", message: `${shown} cannot be right`, remedy: "Set the clock; use NTP" };
}
