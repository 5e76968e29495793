import type { ChainRef } from "./chain.ts";
import type { AuditVerify } from "./verify-result.ts";
import { workerResults } from "./worker-results.ts";

export interface VerifyOptions {
  database: { file: string } | { url: string };
  /** SPKI base64. */
  publicKeys?: readonly string[];
  /** `AUDIT_ANCHOR_FILE`; its anchors count as much as the database's. */
  anchorFile?: string | undefined;
}

/**
 * Verifies chains in a thread with connections of its own, so that the event loop serves requests meanwhile. Results
 * come in the order asked.
 */
export const verifyInWorker = (options: VerifyOptions, chains: readonly ChainRef[]): AsyncGenerator<AuditVerify> =>
  workerResults<AuditVerify>("verify-worker", { options, chains: [...chains] }, chains.length);
