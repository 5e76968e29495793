import canonicalize from "canonicalize";
import { v7 as uuidV7 } from "uuid";
import { type AuditContent, ZERO_UUID } from "./chain.ts";

/** What the pipeline knows of an event. Owner: `orgId`, else `partnerId`, else the installation itself. */
export interface AuditEvent {
  orgId?: string | null;
  partnerId?: string | null;
  action: string;
  actorType: string;
  actorId?: string | null;
  actorEmail?: string | null;
  resourceType?: string | null;
  resourceId?: string | null;
  resourceName?: string | null;
  details?: Record<string, unknown>;
  ipAddress?: string | null;
  userAgent?: string | null;
  result: string;
  errorMessage?: string | null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SECRET = /secret|password|token|hash|key$/i;
/** Deeper values are cut: no honest request nests so far, and the canonical form is made recursively. */
const DEPTH_MAX = 100;
/** The most UTF-16 units of what clients choose: a header must not make every entry of a log large. */
const LONGEST = {
  actorEmail: 255,
  action: 100,
  resourceType: 50,
  resourceName: 255,
  ipAddress: 45,
  userAgent: 512,
  errorMessage: 1_000,
} as const;
const DETAILS_MAX_BYTES = 32 * 1024;

/**
 * Makes the entry that is stored, once and for all: an id that grows with time (v7), lower-case uuids, well-formed
 * text without U+0000 (noted in `details.replacedCharacters`), secrets dropped from the details, ids that are no
 * uuid moved to `details.rawActorId` and `details.rawResourceId`, nothing longer than its field may be (noted in
 * `details.truncated`). An entry of an organization carries no partner.
 */
export const auditEntry = (event: AuditEvent, options: { now: Date; id?: string }): AuditContent => {
  const clean = cleaner();
  const details = clean.value(event.details ?? {}, 0) as Record<string, unknown>;
  const id = (value: string | null | undefined, name: string): string | null => {
    if (value === null || value === undefined) return null;
    const lower = value.toLowerCase();
    if (UUID.test(lower)) return lower;
    details[name] = clean.text(value);
    return ZERO_UUID;
  };
  const short = (field: keyof typeof LONGEST, value: string): string => {
    const whole = clean.text(value);
    if (whole.length <= LONGEST[field]) return whole;
    details["truncated"] = true;
    // Not in the middle of a pair.
    return whole.slice(0, LONGEST[field]).replace(/[\ud800-\udbff]$/, "");
  };
  const text = (field: Exclude<keyof typeof LONGEST, "action">): string | null => {
    const value = event[field];
    return value === null || value === undefined ? null : short(field, value);
  };
  const orgId = event.orgId?.toLowerCase() ?? null;
  const entry = {
    id: options.id ?? uuidV7(),
    orgId,
    partnerId: orgId === null ? (event.partnerId?.toLowerCase() ?? null) : null,
    timestamp: options.now.toISOString(),
    actorType: clean.text(event.actorType),
    actorId: id(event.actorId, "rawActorId"),
    actorEmail: text("actorEmail"),
    action: short("action", event.action),
    resourceType: text("resourceType"),
    resourceId: id(event.resourceId, "rawResourceId"),
    resourceName: text("resourceName"),
    ipAddress: text("ipAddress"),
    userAgent: text("userAgent"),
    result: clean.text(event.result),
    errorMessage: text("errorMessage"),
  };
  if (clean.replaced()) details["replacedCharacters"] = true;
  return { ...entry, details: detailsText(details) };
};

/**
 * RFC 8785 text, without as many of the largest values as it takes to be no longer than it may be. The sites go last,
 * because they decide who reads the entry.
 */
function detailsText(details: Record<string, unknown>): string {
  const whole = canonicalize(details)!;
  if (Buffer.byteLength(whole) <= DETAILS_MAX_BYTES) return whole;
  const kept: Record<string, unknown> = { ...details, truncated: true };
  // Braces of its own instead of a comma make each one byte longer than what goes with it.
  const bytesOf = (of: Record<string, unknown>) => Buffer.byteLength(canonicalize(of)!);
  const sizes = Object.keys(details)
    .map((name) => ({ name, bytes: bytesOf({ [name]: details[name] }) - 1, last: name === "siteIds" }))
    .sort((a, b) => Number(a.last) - Number(b.last) || b.bytes - a.bytes);
  let over = bytesOf(kept) - DETAILS_MAX_BYTES;
  for (const { name, bytes } of sizes) {
    if (over <= 0) break;
    if (name === "truncated") continue;
    delete kept[name];
    over -= bytes;
  }
  return canonicalize(kept)!;
}

function cleaner() {
  let replaced = false;
  const text = (value: string): string => {
    const clean = value.toWellFormed().replaceAll("\u0000", "\uFFFD");
    if (clean !== value) replaced = true;
    return clean;
  };
  const value = (input: unknown, depth: number): unknown => {
    if (typeof input === "string") return text(input);
    if (typeof input === "bigint") return String(input);
    if (typeof input === "number") return Number.isFinite(input) ? input : null;
    if (typeof input === "function" || typeof input === "symbol") return undefined;
    if (input === null || typeof input !== "object") return input;
    if (depth >= DEPTH_MAX) return "[nested too deep]";
    if ("toJSON" in input && typeof input.toJSON === "function") return value(input.toJSON(), depth + 1);
    if (Array.isArray(input)) return input.map((item) => value(item, depth + 1) ?? null);
    const kept = Object.entries(input).filter(([key, item]) => item !== undefined && !SECRET.test(key));
    return Object.fromEntries(kept.map(([key, item]) => [text(key), value(item, depth + 1)]));
  };
  return { text, value, replaced: () => replaced };
}
