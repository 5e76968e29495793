import { describe, expect, it } from "vitest";
import { GroupSync } from "./group-sync.ts";

/** A disk whose writes end when they are told to. */
function heldDisk() {
  const runs: { resolve(): void; reject(error: Error): void }[] = [];
  const disk = new GroupSync(() => new Promise((resolve, reject) => runs.push({ resolve, reject })));
  return { disk, runs };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("commits of an embedded database", () => {
  it("wait for one write to the disk that began after each of them", async () => {
    const { disk, runs } = heldDisk();
    const done: string[] = [];
    const commit = (name: string) => disk.durable().then(() => done.push(name));
    void commit("first");
    await turn();
    void commit("second");
    void commit("third");
    await turn();
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await turn();
    expect([done, runs.length]).toEqual([["first"], 2]);
    void commit("fourth");
    runs[1]?.resolve();
    await turn();
    expect([done, runs.length]).toEqual([["first", "second", "third"], 3]);
  });

  it("fail where the disk fails, and those after it do not", async () => {
    const { disk, runs } = heldDisk();
    const failed = disk.durable();
    await turn();
    const later = disk.durable();
    runs[0]?.reject(new Error("no space"));
    await expect(failed).rejects.toThrow("no space");
    await turn();
    runs[1]?.resolve();
    await expect(later).resolves.toBeUndefined();
    await expect(disk.settled()).resolves.toBeUndefined();
  });
});
