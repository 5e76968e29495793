import type { ColumnType, Generated } from "kysely";
import type { AnchorStatement } from "./anchor-format.ts";
import type { AuditContent, ChainKind } from "./chain.ts";

type Fixed<T> = ColumnType<T, T, never>;
type Derived<T> = ColumnType<T, never, never>;

/** Entries that wait for the writer, written in the transaction of the change they tell of. */
export interface AuditOutboxTable {
  id: Generated<number>;
  auditId: Fixed<string>;
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  /** The canonical content (`chain.ts`); read as text or, where the db layer parses JSON, as its array. */
  entry: ColumnType<string | (string | null)[], string, never>;
  /** The content hash in hex: what the log must hold before the entry may go. Null on rows from before it was kept. */
  checksum: Fixed<string | null>;
  createdAt: Generated<string>;
}

/** Add up to the number of waiting entries. Written by triggers alone. */
export interface AuditOutboxCountsTable {
  /** 0 = removals; else the database's process that inserted. */
  lane: Derived<number>;
  entries: Derived<number>;
}

/** `details` is RFC 8785 text, `checksum` the content hash in hex; `prevChecksum` is null on every new row. */
export interface AuditLogsTable extends Record<keyof AuditContent, unknown> {
  id: Fixed<string>;
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  timestamp: Fixed<string>;
  actorType: Fixed<string>;
  actorId: Fixed<string | null>;
  actorEmail: Fixed<string | null>;
  action: Fixed<string>;
  resourceType: Fixed<string | null>;
  resourceId: Fixed<string | null>;
  resourceName: Fixed<string | null>;
  details: Fixed<string>;
  ipAddress: Fixed<string | null>;
  userAgent: Fixed<string | null>;
  result: Fixed<string>;
  errorMessage: Fixed<string | null>;
  checksum: Fixed<string>;
  prevChecksum: ColumnType<string | null, never, never>;
  /** Orders lists of a partner and is no content: the entry's partner, or that of its organization. */
  readerPartnerId: ColumnType<string | null, string | null | undefined, never>;
}

/** Written by the sealing trigger alone. Hashes are hex on SQLite and bytes on Postgres: read with `hexOf`. */
export interface AuditChainTable {
  chainKind: Derived<ChainKind>;
  chainId: Derived<string>;
  chainSeq: Derived<number>;
  auditId: Derived<string>;
  contentHash: Derived<string | Uint8Array>;
  prevHash: Derived<string | Uint8Array | null>;
  chainHash: Derived<string | Uint8Array>;
  sealedAt: Derived<string>;
}

/** Append-only heads of the chains (`anchor-format.ts`). `orgId` and `partnerId` follow from the chain. */
export interface AuditAnchorsTable extends Record<keyof AnchorStatement, unknown> {
  chainKind: Fixed<ChainKind>;
  chainId: Fixed<string>;
  orgId: Derived<string | null>;
  partnerId: Derived<string | null>;
  anchorSeq: Fixed<number>;
  headChainSeq: Fixed<number>;
  headChainHash: Fixed<string | null>;
  entryCount: Fixed<number>;
  merkleRoot: Fixed<string | null>;
  prevAnchorHash: Fixed<string | null>;
  anchoredAt: Fixed<string>;
  signature: Fixed<string | null>;
  signingKeyId: Fixed<string | null>;
}

/** Signed records of what retention removed, in the anchors' sequence; written with the removal. */
export interface AuditPrunesTable {
  chainKind: Derived<ChainKind>;
  chainId: Derived<string>;
  orgId: Derived<string | null>;
  partnerId: Derived<string | null>;
  anchorSeq: Derived<number>;
  prevAnchorHash: Derived<string | null>;
  prunedThroughSeq: Derived<number>;
  prunedThroughHash: Derived<string>;
  prunedCount: Derived<number>;
  cutoff: Derived<string>;
  prunedAt: Derived<string>;
  /** 0 or 1 on SQLite. */
  restates: Derived<boolean | number>;
  breakCount: Derived<number | null>;
  signature: Derived<string | null>;
  signingKeyId: Derived<string | null>;
}

/** Records from before prune records were signed. Nothing is added, and nothing but the restating reads them. */
export interface AuditUnsignedPrunesTable {
  chainKind: Derived<ChainKind>;
  chainId: Derived<string>;
  orgId: Derived<string | null>;
  partnerId: Derived<string | null>;
  prunedThroughSeq: Derived<number>;
  prunedThroughHash: Derived<string>;
  prunedCount: Derived<number>;
  cutoff: Derived<string>;
  prunedAt: Derived<string>;
}

/** Refused requests of a window that are counted (`fold-refusals.ts`). */
export interface AuditRefusalsTable {
  /** Hash of what they have in common. */
  key: Fixed<string>;
  kind: Fixed<"like" | "chain">;
  count: number;
  lastAt: string;
  endsAt: Fixed<string>;
  /** The canonical content of the last one's entry. */
  template: string;
}

/** Chains whose last verification failed. */
export interface AuditIncidentsTable {
  chainKind: ChainKind;
  chainId: string;
  openedAt: string;
  /** When the administrators were last told. */
  notifiedAt: string;
}

/** What the audit code needs of the database; the db layer's `Database` extends it. */
export interface AuditTables {
  auditOutbox: AuditOutboxTable;
  auditOutboxCounts: AuditOutboxCountsTable;
  auditLogs: AuditLogsTable;
  auditChain: AuditChainTable;
  auditAnchors: AuditAnchorsTable;
  auditPrunes: AuditPrunesTable;
  auditRefusals: AuditRefusalsTable;
  auditUnsignedPrunes: AuditUnsignedPrunesTable;
  auditIncidents: AuditIncidentsTable;
}

/** One spelling for a hash column of either database. */
export const hexOf = (hash: string | Uint8Array): string =>
  typeof hash === "string" ? hash : Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("hex");
