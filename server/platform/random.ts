import { randomBytes } from "node:crypto";
import { v7 } from "uuid";
import type { Clock } from "./clock.ts";

/** The only source of randomness in domain code. Tokens are never derived from ids. */
export interface Random {
  bytes(size: number): Buffer;
  /** Time-ordered uuid (version 7). */
  uuid(): string;
}

export function secureRandom(clock: Clock): Random {
  let lastMs = 0;
  let sequence = 0;
  return {
    bytes: (size) => randomBytes(size),
    uuid() {
      // A monotonic counter keeps ids made in one millisecond in the order they were made.
      const now = clock.nowMs();
      if (now > lastMs) {
        lastMs = now;
        sequence = randomBytes(4).readUInt32BE() >>> 1;
      } else sequence += 1;
      return v7({ msecs: lastMs, seq: sequence >>> 0, random: randomBytes(16) });
    },
  };
}
