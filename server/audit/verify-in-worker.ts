import { countVerification } from "./busy.ts";
import type { ChainRef } from "./chain.ts";
import type { AuditVerify } from "./verify-result.ts";
import { workerResults } from "./worker-results.ts";

export interface VerifyOptions {
  database: { file: string } | { url: string };
  /** SPKI base64 of every key that is trusted. */
  publicKeys?: readonly string[];
  /** `AUDIT_ANCHOR_FILE`; its statements count as much as the database's. */
  anchorFile?: string | undefined;
  /** Told why the anchor file could not be read; the verification goes on without it. */
  onFileError?(message: string): void;
  /** Ends the thread when it aborts, and is thrown: what was not verified to the end has no outcome. */
  until?: AbortSignal | undefined;
}

/** What became of one chain; an error says nothing about the others. */
export type VerifyOutcome = { chain: ChainRef } & (
  | { result: AuditVerify; error?: never }
  | { error: string; result?: never }
);

/** What the thread posts. */
export type VerifyPost = VerifyOutcome & { fileError: string | undefined };

/** What the thread is given. */
export interface VerifyJob {
  readonly options: Omit<VerifyOptions, "onFileError" | "until">;
  readonly chains: readonly ChainRef[];
  /** How busy the process is (`busy.ts`). */
  readonly memory: Int32Array;
}

/**
 * Verifies chains in a thread with connections of its own, so that the event loop serves requests meanwhile. Outcomes
 * come in the order asked.
 */
export async function* verifyEach(
  { onFileError, until, ...options }: VerifyOptions,
  chains: readonly ChainRef[],
): AsyncGenerator<VerifyOutcome> {
  let told = false;
  const counted = countVerification();
  try {
    const job: VerifyJob = { options, chains: [...chains], memory: counted.memory };
    const posts = workerResults<VerifyPost>("verify-worker", job, chains.length, until);
    for await (const { fileError, ...outcome } of posts) {
      if (fileError !== undefined && !told) onFileError?.(fileError);
      told ||= fileError !== undefined;
      yield outcome;
    }
  } finally {
    counted.end();
  }
}

/** As `verifyEach`; throws when a chain cannot be verified. */
export async function* verifyInWorker(
  options: VerifyOptions,
  chains: readonly ChainRef[],
): AsyncGenerator<AuditVerify> {
  for await (const { chain, result, error } of verifyEach(options, chains)) {
    if (result === undefined) throw new Error(`the ${chain.kind} chain ${chain.id} cannot be verified: ${error}`);
    yield result;
  }
}
