import { limitReads, wasLate } from "#server/db/read-bounds";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

const LIMIT_MS = 10_000;

/** The reads of an answer have ten seconds in the database (docs/audit.md, "Reading entries"). */
export const limited =
  <C extends Call, R>(handler: (call: C) => Promise<R>) =>
  async (call: C): Promise<R> => {
    limitReads(call.scope, LIMIT_MS);
    try {
      return await handler(call);
    } catch (error) {
      throw wasLate(error) ? problem("FILTER_TIMEOUT", { cause: error }) : error;
    }
  };
