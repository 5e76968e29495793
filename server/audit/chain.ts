import * as crypto from "node:crypto";
import { timestampMs } from "./timestamp-ms.ts";

/** Which tenant an entry belongs to: its organization, else its partner, else the installation itself. */
export type ChainKind = "system" | "partner" | "organization";

/** One hash chain. The system chain has the zero uuid. */
export interface ChainRef {
  kind: ChainKind;
  id: string;
}

/** What an audit entry says. `details` is RFC 8785 text, `timestamp` ISO-8601 UTC with milliseconds, uuids lower case. */
export interface AuditContent {
  id: string;
  orgId: string | null;
  partnerId: string | null;
  timestamp: string;
  actorType: string;
  actorId: string | null;
  actorEmail: string | null;
  action: string;
  resourceType: string | null;
  resourceId: string | null;
  resourceName: string | null;
  details: string;
  ipAddress: string | null;
  userAgent: string | null;
  result: string;
  errorMessage: string | null;
}

/** One link of a chain; hashes are lower-case hex. */
export interface ChainLink {
  chainSeq: number;
  auditId: string;
  contentHash: string;
  prevHash: string | null;
  chainHash: string;
}

export const ZERO_UUID = "00000000-0000-0000-0000-000000000000";
export const SYSTEM_CHAIN: ChainRef = { kind: "system", id: ZERO_UUID };

/** Canonical field order, after the tag "al1" and with the timestamp as decimal milliseconds. Never reorder. */
export const contentFields = [
  "id",
  "orgId",
  "partnerId",
  "timestamp",
  "actorType",
  "actorId",
  "actorEmail",
  "action",
  "resourceType",
  "resourceId",
  "resourceName",
  "details",
  "ipAddress",
  "userAgent",
  "result",
  "errorMessage",
] as const satisfies readonly (keyof AuditContent)[];

const CONTENT_TAG = "al1";
const CHAIN_DOMAIN = Buffer.from("\x01AC1", "latin1");
const kindBytes: Record<ChainKind, number> = { system: 0, partner: 1, organization: 2 };

/** One-shot hash: five times faster than `createHash` for inputs of this size. */
export const sha256 = (data: string | NodeJS.ArrayBufferView): string => crypto.hash("sha256", data, "hex");

/** The chain an entry of this owner belongs to. */
export const chainOf = (owner: { orgId: string | null; partnerId: string | null }): ChainRef => {
  if (owner.orgId !== null) return { kind: "organization", id: owner.orgId };
  return owner.partnerId === null ? SYSTEM_CHAIN : { kind: "partner", id: owner.partnerId };
};

/**
 * The bytes (as text) an entry's hash is taken over: a JSON array of strings and nulls without white space.
 * An array needs no key order and strings no number rules, so Postgres `array_to_json(text[])` and SQLite
 * `json_array()` give the very same text.
 */
export const canonicalContent = (entry: AuditContent): string =>
  JSON.stringify([
    CONTENT_TAG,
    ...contentFields.map((field) => (field === "timestamp" ? String(timestampMs(entry.timestamp)) : entry[field])),
  ]);

/** Reads canonical text back; the inverse of `canonicalContent`. */
export const parseCanonicalContent = (text: string): AuditContent => {
  const [tag, ...values] = JSON.parse(text) as (string | null)[];
  if (tag !== CONTENT_TAG || values.length !== contentFields.length)
    throw new Error("not an audit entry of format al1");
  const entry = Object.fromEntries(contentFields.map((field, index) => [field, values[index]]));
  return { ...entry, timestamp: new Date(Number(entry["timestamp"])).toISOString() } as unknown as AuditContent;
};

export const contentHash = (entry: AuditContent): string => sha256(canonicalContent(entry));

/**
 * Makes the hash function of one chain. Kind, chain and position are inside the hash, so an entry can neither be
 * moved to another chain nor to another position; the leading 0x01 keeps links apart from contents (which start
 * with "["). The returned function reuses one buffer: call it, keep the string.
 */
export const chainHasher = (chain: ChainRef): ((seq: number, content: string, prev: string | null) => string) => {
  const link = Buffer.alloc(CHAIN_DOMAIN.length + 1 + 16 + 8 + 32 + 32);
  CHAIN_DOMAIN.copy(link);
  link[4] = kindBytes[chain.kind];
  if (link.write(chain.id.replaceAll("-", ""), 5, "hex") !== 16) throw new Error("chain id is not a uuid");
  return (seq, content, prev) => {
    link.writeUInt32BE(Math.floor(seq / 2 ** 32), 21);
    link.writeUInt32BE(seq % 2 ** 32, 25);
    const written = link.write(content, 29, "hex");
    if (prev === null) link.fill(0, 61);
    else if (link.write(prev, 61, "hex") !== 32) return "";
    return written === 32 ? sha256(link) : "";
  };
};

export const chainHash = (chain: ChainRef, link: Pick<ChainLink, "chainSeq" | "contentHash" | "prevHash">): string =>
  chainHasher(chain)(link.chainSeq, link.contentHash, link.prevHash);
