import type { ChainLink } from "./chain.ts";
import { uuidOf } from "./copied-canonical.ts";
import { int32At } from "./postgres-copy.ts";

/** What `linkAt` reads, in this order, and what each column is. */
export const linkColumns = {
  audit_id: "uuid",
  chain_seq: "bigint",
  content_hash: "bytea",
  chain_hash: "bytea",
  prev_hash: "bytea",
} as const;

/** What stands for a column that was made another type, or emptied: no chain has it. */
export const linkNothing: Partial<Record<keyof typeof linkColumns, string>> = {
  audit_id: "'00000000-0000-0000-0000-000000000000'::uuid",
  chain_seq: "'0'::bigint",
};

const [FIELDS, LENGTH, UUID, BIGINT, HASH] = [2, 4, 16, 8, 32] as const;
const SEQ = FIELDS + LENGTH + UUID + LENGTH;
const CONTENT = SEQ + BIGINT + LENGTH;
const CHAIN = CONTENT + HASH + LENGTH;
const PREV = CHAIN + HASH + LENGTH;

/** An entry's link as it was read; its id is written with dashes only where somebody asks. */
export class CopiedLink implements ChainLink {
  constructor(
    readonly id: string,
    readonly chainSeq: number,
    readonly contentHash: string,
    readonly prevHash: string | null,
    readonly chainHash: string,
  ) {}

  get auditId(): string {
    return uuidOf(this.id);
  }
}

/** What is read of something else: the hash of nothing, and that of a link that has such a hash is none either. */
const NO_HASH = "not 32 bytes";

/** A link of a tuple. */
export function linkAt(data: Buffer, at: number): CopiedLink {
  const id = data.toString("hex", at + FIELDS + LENGTH, at + FIELDS + LENGTH + UUID);
  const seq = int32At(data, at + SEQ) * 2 ** 32 + data.readUInt32BE(at + SEQ + 4);
  const prevLength = int32At(data, at + PREV - LENGTH);
  if (
    int32At(data, at + CONTENT - LENGTH) === HASH &&
    int32At(data, at + CHAIN - LENGTH) === HASH &&
    prevLength === HASH
  ) {
    // A call for all three costs less than one for each.
    const hex = data.toString("hex", at + CONTENT, at + PREV + HASH);
    return new CopiedLink(id, seq, hex.slice(0, 64), hex.slice(144), hex.slice(72, 136));
  }
  const hashes: (string | null)[] = [];
  for (let [from, index] = [at + CONTENT - LENGTH, 0]; index < 3; index += 1) {
    const length = int32At(data, from);
    from += LENGTH;
    hashes.push(length < 0 ? null : length === HASH ? data.toString("hex", from, from + length) : NO_HASH);
    from += Math.max(0, length);
  }
  const [contentHash, chainHash, prevHash] = hashes;
  return new CopiedLink(id, seq, contentHash ?? NO_HASH, prevHash ?? null, chainHash ?? NO_HASH);
}
