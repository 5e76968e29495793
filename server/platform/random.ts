import { randomBytes } from "node:crypto";
import { v7 } from "uuid";
import type { Clock } from "./clock.ts";

/** The only source of randomness in domain code. Tokens are never derived from ids. */
export interface Random {
  bytes(size: number): Buffer;
  /** Time-ordered uuid (version 7). */
  uuid(): string;
}

/** No id that is made at this moment or later is smaller: what grows with time can be asked for by its ids. */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

const ID_POOL_BYTES = 4_096;

export function secureRandom(clock: Clock): Random {
  let lastMs = 0;
  let sequence = 0;
  // Ids are made for every request, and asking the system for each costs more than making one.
  let pool = Buffer.alloc(0);
  const drawn = (size: number) => {
    if (pool.length < size) pool = randomBytes(ID_POOL_BYTES);
    const bytes = pool.subarray(0, size);
    pool = pool.subarray(size);
    return bytes;
  };
  return {
    bytes: (size) => randomBytes(size),
    uuid() {
      // A monotonic counter keeps ids made in one millisecond in the order they were made.
      const now = clock.nowMs();
      if (now > lastMs) {
        lastMs = now;
        sequence = drawn(4).readUInt32BE() >>> 1;
      } else sequence += 1;
      return v7({ msecs: lastMs, seq: sequence >>> 0, random: drawn(16) });
    },
  };
}
