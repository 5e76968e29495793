/** `npm run prove` runs the long version of each proof, `npm test` a short one. `PROVE=0.05` runs a twentieth of the long. */
const share = Number(process.env["PROVE"] ?? 0);

export const proving = share > 0;

/** A count. Never less thorough than the short version; where that is the larger number, it is a stride. */
export function inProof({ long, short }: { long: number; short: number }): number {
  if (!proving) return short;
  return long >= short ? Math.max(short, Math.round(long * share)) : Math.min(short, Math.round(long / share));
}

/** Where a long proof runs on both databases, the short one runs on the one whose way of failing it is about. */
export const provenOn = <D>(databases: readonly D[], short: D): readonly D[] => (proving ? databases : [short]);

export const MINUTES = 60_000;
const HOURS = 60 * MINUTES;

/** Timeout of one proof, on a busy machine. */
export const PROOF_TIMEOUT_MS = proving ? 8 * HOURS : 15 * MINUTES;
