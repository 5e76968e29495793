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

/**
 * Makes the entry that is stored, once and for all: an id that grows with time (v7), lower-case uuids, well-formed
 * text without U+0000 (noted in `details.replacedCharacters`), secrets dropped from the details, ids that are no
 * uuid moved to `details.rawActorId` and `details.rawResourceId`. An entry of an organization carries no partner.
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
  const text = (value: string | null | undefined) => (value === null || value === undefined ? null : clean.text(value));
  const orgId = event.orgId?.toLowerCase() ?? null;
  const entry = {
    id: options.id ?? uuidV7(),
    orgId,
    partnerId: orgId === null ? (event.partnerId?.toLowerCase() ?? null) : null,
    timestamp: options.now.toISOString(),
    actorType: clean.text(event.actorType),
    actorId: id(event.actorId, "rawActorId"),
    actorEmail: text(event.actorEmail),
    action: clean.text(event.action),
    resourceType: text(event.resourceType),
    resourceId: id(event.resourceId, "rawResourceId"),
    resourceName: text(event.resourceName),
    ipAddress: text(event.ipAddress),
    userAgent: text(event.userAgent),
    result: clean.text(event.result),
    errorMessage: text(event.errorMessage),
  };
  if (clean.replaced()) details["replacedCharacters"] = true;
  return { ...entry, details: canonicalize(details)! };
};

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
