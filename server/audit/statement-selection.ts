import { type ChainStatement, isPrune, statedAt } from "./anchor-format.ts";

const NEWEST = 100;

/** What is kept of a chain's statements while they stream by, however many there are. */
export interface StatementSelection {
  /** By rising anchorSeq where they come from a database or a bundle; a file may hold them in any order. */
  add(statement: ChainStatement): void;
  /** Every prune record, the newest hundred anchors, the last of each day before them, and the very first. */
  kept(): ChainStatement[];
}

export function selectStatements(): StatementSelection {
  const prunes: ChainStatement[] = [];
  const newest: ChainStatement[] = [];
  const daily = new Map<string, ChainStatement>();
  let first: ChainStatement | undefined;
  return {
    add(statement) {
      if (first === undefined || statement.anchorSeq < first.anchorSeq) first = statement;
      if (isPrune(statement)) {
        prunes.push(statement);
        return;
      }
      newest.push(statement);
      if (newest.length <= NEWEST) return;
      const older = newest.shift()!;
      daily.set(String(statedAt(older)).slice(0, 10), older);
    },
    kept() {
      const all = [...prunes, ...daily.values(), ...newest];
      return first === undefined || all.includes(first) ? all : [first, ...all];
    },
  };
}
