import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { connectSqlite } from "./sqlite-connection.ts";
import type { SqliteConnection } from "./sqlite-library.ts";
import { type ReadThreads, readThreads, WAITING_MAX } from "./sqlite-threads.ts";
import { isUnavailable } from "./unavailable.ts";

const SLOW =
  "with recursive c(n) as (select 1 union all select n + 1 from c where n < 3000000) select max(n) as n from c";

describe("reads that wait for a thread", () => {
  const folder = mkdtempSync(join(tmpdir(), "rmm-sqlite-"));
  let connection: SqliteConnection;
  let threads: ReadThreads;
  const posted = vi.spyOn(Worker.prototype, "postMessage");
  const workers = () => new Set(posted.mock.contexts as Worker[]);
  const someone = { gone: new AbortController().signal };
  const read = (number: number, bounds: Parameters<ReadThreads["rows"]>[2] = someone) =>
    Promise.resolve().then(() => threads.rows("select ? as number", [number], bounds));
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => "answered",
      (error: { code?: string }) => error.code,
    );

  beforeAll(() => {
    connection = connectSqlite(join(folder, "rmm.db"));
    connection.exec("create table t (a)");
  });
  beforeEach(() => {
    posted.mockClear();
    threads = readThreads(join(folder, "rmm.db"), connection, 1);
    return () => threads.close();
  });
  afterAll(() => {
    posted.mockRestore();
    connection.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("are refused beyond a limit, all at once or not; the server's own work never is", async () => {
    const asked = Array.from({ length: WAITING_MAX + 70 }, (_, number) => codeOf(read(number)));
    await Promise.resolve();
    const own = threads.rows("select 'own' as name", []);
    const codes = await Promise.all(asked);
    expect([...new Set(codes)].toSorted()).toEqual(["RMM_READ_FULL", "answered"].toSorted());
    expect(codes.filter((code) => code === "answered").length).toBeGreaterThanOrEqual(WAITING_MAX);
    expect(codes.filter((code) => code === "RMM_READ_FULL").length).toBeGreaterThan(50);
    expect(await own).toEqual([{ name: "own" }]);
    expect(await read(1)).toEqual([{ number: 1 }]);
  });

  it("of one tenant keep those of no other waiting: tenants take turns, and who waits for most is refused first", async () => {
    const asks = (tenant: string, number: number) => codeOf(read(number, { ...someone, tenant }));
    const flood = Array.from({ length: WAITING_MAX + 10 }, () => asks("flood", 0));
    await Promise.resolve();
    const others = ["first", "second"].map((tenant) => asks(tenant, 1));
    expect(await Promise.all(others)).toEqual(["answered", "answered"]);
    const codes = await Promise.all(flood);
    expect(codes.filter((code) => code === "RMM_READ_FULL")).toHaveLength(12);
    const given = posted.mock.calls.map(([asked]) => (asked as { parameters: number[] }).parameters[0]);
    expect(given.slice(0, 3)).toEqual([0, 1, 1]);
  });

  it("each of these errors says that the caller may try again", () => {
    for (const code of ["RMM_READ_FULL", "RMM_READ_LATE", "RMM_READ_LEFT", "RMM_READ_THREAD", "57014"])
      expect(isUnavailable({ code }), code).toBe(true);
  });

  it("end with their caller's leaving where they may take long, and another thread follows", async () => {
    const leaving = new AbortController();
    const slow = codeOf(threads.rows(`${SLOW} -- left`, [], { gone: leaving.signal, apart: true }));
    await vi.waitUntil(() => posted.mock.calls.length > 0, { timeout: 20_000, interval: 1 });
    const terminated = vi.spyOn(Worker.prototype, "terminate");
    leaving.abort();
    expect(await slow).toBe("RMM_READ_LEFT");
    expect(terminated).toHaveBeenCalledTimes(1);
    terminated.mockRestore();
    expect(await read(1)).toEqual([{ number: 1 }]);
  });

  it("are given up at their time, and another thread follows", async () => {
    const untilMs = performance.now() + 300;
    const slow = [1, 2].map(() => codeOf(threads.rows(SLOW, [], { ...someone, untilMs })));
    const waits = codeOf(read(1, { ...someone, untilMs }));
    expect(await Promise.all([...slow, waits])).toEqual(Array.from({ length: 3 }, () => "RMM_READ_LATE"));
    expect(await read(2)).toEqual([{ number: 2 }]);
    expect(workers().size).toBeGreaterThan(2);
  });

  it("are dropped when their caller leaves; one that runs goes on, so that its thread stays", async () => {
    const leaving = new AbortController();
    const gone = { gone: leaving.signal };
    const running = [1, 2].map(() => codeOf(threads.rows(SLOW, [], gone)));
    await vi.waitFor(() => expect(posted).toHaveBeenCalledTimes(2));
    const waits = codeOf(read(1, gone));
    const stays = read(2);
    leaving.abort();
    expect(await waits).toBe("RMM_READ_LEFT");
    expect(await codeOf(read(3, gone))).toBe("RMM_READ_LEFT");
    expect(await Promise.all(running)).toEqual(["answered", "answered"]);
    expect(await stays).toEqual([{ number: 2 }]);
    expect([posted.mock.calls.length, workers().size]).toEqual([3, 2]);
  });

  it("a value that no thread can take fails alone", async () => {
    expect(await codeOf(threads.rows("select ?", [Symbol("no value")], someone))).not.toBe("answered");
    expect(await read(1)).toEqual([{ number: 1 }]);
  });

  it("a thread that dies fails what it reads, and what waits is read by the next", async () => {
    const running = codeOf(threads.rows(SLOW, [], someone));
    await vi.waitFor(() => expect(workers().size).toBe(1));
    const waits = Array.from({ length: 5 }, (_, number) => read(number));
    for (const worker of workers()) worker.emit("error", new Error("out of memory"));
    expect(await running).toBe("RMM_READ_THREAD");
    expect(await Promise.all(waits)).toEqual(Array.from({ length: 5 }, (_, number) => [{ number }]));
  });

  it("columns are named right after more statements than are remembered", async () => {
    const names = Array.from({ length: 1_100 }, (_, index) => `c${index}`);
    for (const name of [...names, ...names.slice(0, 3)])
      expect(await threads.rows(`select 1 as ${name}`, [])).toEqual([{ [name]: 1 }]);
  });
});
