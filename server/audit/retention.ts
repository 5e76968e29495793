import type { PruneRecord } from "./anchor-format.ts";
import type { ChainRef } from "./chain.ts";
import type { Pruned, PruneStop, PruneTask } from "./prune-chain.ts";
import { workerResults } from "./worker-results.ts";

export type { PruneTask } from "./prune-chain.ts";

/**
 * The privileged way in: the file, or `AUDIT_ADMIN_DATABASE_URL` (a member of `rmm_retention`, or the owner) with the
 * server's key, which that database knows.
 */
export type PruneDatabase = { file: string } | { url: string; encryptionKey: string };

/** What the retention thread works with. The seed signs prune records; without it they are unsigned. */
export interface PruneSetup {
  database: PruneDatabase;
  signingKey?: string | undefined;
}

/** What became of one chain: its new records, and where the old prefix did not hold. */
export interface PruneOutcome {
  chain: ChainRef;
  records: PruneRecord[];
  stop: PruneStop | null;
  error?: string;
}

/** What the thread is asked; `restate` looks for the chains itself. */
export type PruneJob = { setup: PruneSetup } & ({ tasks: PruneTask[] } | { restate: true });

/**
 * Prunes chains in a thread with a connection of its own. Each transaction removes the longest prefix whose rows are
 * all older and hold, together with its prune record, or nothing.
 */
export const pruneInWorker = (setup: PruneSetup, tasks: readonly PruneTask[]): AsyncGenerator<PruneOutcome> =>
  workerResults<PruneOutcome>("prune-worker", { setup, tasks: [...tasks] } satisfies PruneJob, tasks.length);

/** Restates, signed, the newest prune record of every chain that has only records from before they were signed. */
export async function restateInWorker(setup: PruneSetup): Promise<PruneRecord[]> {
  const job: PruneJob = { setup, restate: true };
  for await (const records of workerResults<PruneRecord[]>("prune-worker", job, 1)) return records;
  return [];
}

/** Prunes until nothing old is left that holds. */
export async function pruneAll(chain: ChainRef, once: () => Promise<Pruned>): Promise<PruneOutcome> {
  const records: PruneRecord[] = [];
  for (;;) {
    const { record, stop } = await once();
    if (record) records.push(record);
    if (!record || stop) return { chain, records, stop };
  }
}
