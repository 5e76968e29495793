/** `npm run prove` runs the long version of each proof, `npm test` a short one. */
export const proving = process.env["PROVE"] === "1";

export const inProof = <T>({ long, short }: { long: T; short: T }): T => (proving ? long : short);

export const MINUTES = 60_000;
const HOURS = 60 * MINUTES;

/** Timeout of one proof, on a busy machine. */
export const PROOF_TIMEOUT_MS = inProof({ long: 8 * HOURS, short: 15 * MINUTES });
