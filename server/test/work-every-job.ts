import { expect } from "vitest";
import type { TestServer } from "./harness.ts";

/**
 * Returns when every due job has run, here or by the server's own runner: a job that the runner is claiming still
 * looks queued, and one that it runs looks running.
 */
export async function workEveryJob(server: TestServer): Promise<void> {
  await server.workJobs();
  const unfinished = server.db.selectFrom("jobs").select("id").where("status", "in", ["queued", "running"]);
  const due = unfinished.where("runAt", "<=", server.clock.now());
  await expect.poll(() => due.execute(), { interval: 5, timeout: 20_000 }).toEqual([]);
}
