import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { holdAlone } from "./sole-server.ts";
import { openSqliteFile } from "./sqlite-library.ts";

const folder = mkdtempSync(join(tmpdir(), "rmm-alone-"));
const file = join(folder, "rmm.db");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("an SQLite database has one server, and others may read and write it meanwhile", async () => {
  const leave = await holdAlone(file, 0);
  expect(leave).not.toBe(false);
  expect(await holdAlone(file, 150)).toBe(false);
  openSqliteFile(file).exec("create table rows (id)").close();
  (leave as () => void)();
  const next = await holdAlone(file, 0);
  expect(next).not.toBe(false);
  (next as () => void)();
});

it("a server that follows one that stops waits for its end", async () => {
  const leave = (await holdAlone(file, 0)) as () => void;
  setTimeout(leave, 150);
  const next = await holdAlone(file, 5_000);
  expect(next).not.toBe(false);
  (next as () => void)();
});

it("a process that is killed holds it no more", async () => {
  const script = `
    import { holdAlone } from ${JSON.stringify(join(import.meta.dirname, "sole-server.ts"))};
    if ((await holdAlone(${JSON.stringify(file)}, 0)) === false) process.exit(3);
    process.kill(process.pid, "SIGKILL");
  `;
  const argv = ["--conditions=source", "--import", "tsx", "--input-type=module", "-e", script];
  expect(() => execFileSync(process.execPath, argv, { stdio: "pipe" })).toThrow(
    expect.objectContaining({ signal: "SIGKILL" }),
  );
  const leave = await holdAlone(file, 0);
  expect(leave).not.toBe(false);
  (leave as () => void)();
});
