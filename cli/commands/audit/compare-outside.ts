import { type ChainStatement, isPrune, reachOf, statementHash } from "#server/audit/anchor-format";
import type { AuditVerify } from "#server/audit/verify-result";
import { type Finding, nameOf, positionOf } from "./findings.ts";

/**
 * Compares external copies of statements with the server's. Statements are copied out when they are made, so the server
 * must have each one, unchanged. `stored` are the server's newest; older ones are not compared.
 */
export function compareOutside(
  result: AuditVerify,
  stored: readonly ChainStatement[],
  outside: readonly ChainStatement[],
): Finding[] {
  const known = new Map(stored.map((statement) => [statement.anchorSeq, statementHash(statement)]));
  const oldest = stored.length === 0 ? 0 : Math.min(...known.keys());
  return outside.filter(({ anchorSeq }) => anchorSeq >= oldest).flatMap((one) => compareOne(result, known, one));
}

function compareOne(
  { head, prunedPrefix }: AuditVerify,
  known: ReadonlyMap<number, string>,
  statement: ChainStatement,
): Finding[] {
  const broken = (kind: string, message: string): Finding[] => [
    {
      severity: "broken",
      kind,
      chainSeq: positionOf(statement),
      message: `${nameOf(statement)}, kept elsewhere, ${message}`,
    },
  ];
  const emptied = head === null && prunedPrefix;
  const reach = reachOf(statement);
  const end = head?.chainSeq ?? 0;
  if (reach > end && !emptied) return broken("seq_regressed", `covers position ${reach}, but the chain ends at ${end}`);
  if (!isPrune(statement) && reach === head?.chainSeq && statement.headChainHash !== head.chainHash)
    return broken("hash_diverged", `has another hash at position ${reach} than the chain`);
  const hash = known.get(statement.anchorSeq);
  if (hash === undefined) return broken("anchor_lost", "is unknown to the server: its record of it is gone");
  if (hash === statementHash(statement)) return [];
  return broken("hash_diverged", `says something else than the server's number ${statement.anchorSeq}`);
}
