/** `npm run prove` asks for the long version of each proof; `npm test` runs a short one of the same kind. */
export const proving = process.env["PROVE"] === "1";

export const inProof = <T>({ long, short }: { long: T; short: T }): T => (proving ? long : short);

export const MINUTES = 60_000;
const HOURS = 60 * MINUTES;

/** Of one proof, on a busy machine. */
export const PROOF_TIMEOUT_MS = inProof({ long: 8 * HOURS, short: 15 * MINUTES });
