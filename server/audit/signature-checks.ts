import { type ChainStatement, statedAt } from "./anchor-format.ts";
import { anchorPublicKeyOf, anchorVerifier, type StatementVerifier } from "./anchor-signing.ts";

const DAY = 24 * 60 * 60 * 1_000;

export type SignatureFault = "unsigned" | "invalid" | "unknown_key" | "superseded_key";

/**
 * Judges the signatures of one chain's statements. All are noted first: whether a missing signature is a fault, and
 * whether a key was still in use, depends on what the chain signed earlier.
 */
export interface SignatureChecks {
  note(statement: ChainStatement): void;
  /** `time`: the latest moment (milliseconds) stated in the chain up to this statement. */
  fault(statement: ChainStatement, time: number): SignatureFault | undefined;
}

/** Without a key signatures are not checked, but one that is missing after a signed statement is still a fault. */
export function signatureChecks(publicKeys: readonly string[]): SignatureChecks {
  const verifiers = new Map<string, StatementVerifier>();
  for (const key of publicKeys) verifiers.set(anchorPublicKeyOf(key).keyId, anchorVerifier(key));
  const firstUse = new Map<string, { seq: number; at: number }>();
  let firstSigned = Number.POSITIVE_INFINITY;

  /** Another key took over more than a day before: whoever still signs with this one is not the server. */
  const isSuperseded = ({ signingKeyId, anchorSeq }: ChainStatement, time: number): boolean => {
    const own = firstUse.get(signingKeyId as string)?.seq ?? anchorSeq;
    return [...firstUse.values()].some(({ seq, at }) => seq > own && seq < anchorSeq && time - at > DAY);
  };
  return {
    note(statement) {
      const { anchorSeq: seq, signature, signingKeyId } = statement;
      if (typeof signature !== "string") return;
      firstSigned = Math.min(firstSigned, seq);
      const verify = verifiers.get(signingKeyId ?? "");
      if (!verify || seq >= (firstUse.get(signingKeyId!)?.seq ?? Number.POSITIVE_INFINITY)) return;
      if (verify(statement)) firstUse.set(signingKeyId!, { seq, at: Date.parse(statedAt(statement)) });
    },
    fault(statement, time) {
      if (typeof statement.signature !== "string") return statement.anchorSeq > firstSigned ? "unsigned" : undefined;
      if (verifiers.size === 0) return undefined;
      const verify = verifiers.get(statement.signingKeyId ?? "");
      if (!verify) return "unknown_key";
      if (!verify(statement)) return "invalid";
      return isSuperseded(statement, time) ? "superseded_key" : undefined;
    },
  };
}
