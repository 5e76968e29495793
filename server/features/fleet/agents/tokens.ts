import type { Random } from "#server/platform/random";
import { sha256 } from "#server/platform/vault";

export interface TokenPair {
  readonly agentToken: string;
  readonly watchdogToken: string;
}

/** A main and a watchdog token (docs/fleet.md, "Agent identity"). */
export const newTokenPair = (random: Random): TokenPair => ({
  agentToken: newToken(random),
  watchdogToken: newToken(random),
});

/** The columns that a fresh pair sets; the tokens themselves are stored nowhere. */
export const hashesOf = ({ agentToken, watchdogToken }: TokenPair) => ({
  agentTokenHash: sha256(agentToken),
  watchdogTokenHash: sha256(watchdogToken),
});

const newToken = (random: Random) => `agt_${random.bytes(32).toString("hex")}`;
