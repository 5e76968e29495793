import canonicalize from "canonicalize";
import type { AuditAction } from "#contract/core/audit-actions";
import type { AnyEndpoint } from "#contract/core/endpoint";
import type { Principal } from "#server/access/principal";
import { type AuditContent, canonicalContent, ZERO_UUID } from "#server/audit/chain";
import type { Tx } from "#server/db/unit-of-work";
import type { AuditNote, AuditOwner, AuditPen } from "./call.ts";

/** What the pipeline knows of a call when it writes the entry. */
export interface AuditScene {
  readonly who: Principal;
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly at: string;
  readonly newId: () => string;
}

export interface Outcome {
  readonly result: "success" | "failure" | "denied";
  readonly errorMessage: string | null;
  readonly details?: Record<string, unknown>;
}

/** Collects what a handler notes until the pipeline writes it. */
export class AuditNotes implements AuditPen {
  #main: AuditNote = {};
  #more: (AuditNote & { action: AuditAction })[] = [];
  #skipped = false;

  note(note: AuditNote): void {
    const details = note.details ? { details: { ...this.#main.details, ...note.details } } : {};
    this.#main = { ...this.#main, ...note, ...details };
  }

  also(note: AuditNote & { action: AuditAction }): void {
    this.#more.push(note);
  }

  skip(): void {
    this.#skipped = true;
  }

  /** True when the handler named an action, also on an endpoint that has none of its own. */
  get named(): boolean {
    return this.#main.action !== undefined;
  }

  /** True when the handler added entries beside the endpoint's own. */
  get added(): boolean {
    return this.#more.length > 0;
  }

  /** The entries of this call; none when its owner cannot be told (contract 4 §8.1). */
  entries(endpoint: AnyEndpoint, scene: AuditScene, outcome: Outcome): AuditContent[] {
    const action = this.#main.action ?? endpoint.audit;
    const main =
      typeof action === "string" && !(this.#skipped && outcome.result === "success") ? [{ ...this.#main, action }] : [];
    const more = outcome.result === "success" ? this.#more : [];
    return [...main, ...more].flatMap((note) => entry(note, scene, outcome) ?? []);
  }
}

function entry(
  note: AuditNote & { action: AuditAction },
  scene: AuditScene,
  outcome: Outcome,
): AuditContent | undefined {
  const owner = ownerOf(note.owner, scene.who);
  if (!owner) return undefined;
  const actor = note.actor ?? actorOf(scene.who);
  const details: Record<string, unknown> = { ...note.details, ...outcome.details, requestId: scene.requestId };
  if (scene.who.kind === "user") details["sessionId"] ??= scene.who.sessionId;
  const resourceId = uuidOrZero(note.resource?.id, details, "rawResourceId");
  const actorId = uuidOrZero(actor.id, details, "rawActorId");
  const type = note.resource?.type ?? note.action.slice(0, note.action.indexOf("."));
  return {
    id: scene.newId(),
    orgId: owner.orgId ?? null,
    partnerId: owner.orgId ? null : (owner.partnerId ?? null),
    timestamp: scene.at,
    actorType: actor.type,
    actorId,
    actorEmail: clean(actor.email ?? null, 255),
    action: note.action,
    resourceType: clean(type, 50),
    resourceId,
    resourceName: clean(note.resource?.name ?? null, 255),
    details: clean(canonicalize(safe(details)) as string, Number.POSITIVE_INFINITY) as string,
    ipAddress: clean(scene.ip, 45),
    userAgent: clean(scene.userAgent, 1_000),
    result: outcome.result === "success" ? (note.result ?? outcome.result) : outcome.result,
    errorMessage: clean(outcome.errorMessage, 1_000),
  };
}

/** Organization, else partner, else the installation for callers of system scope; nobody's events are dropped. */
function ownerOf(noted: AuditOwner | undefined, who: Principal): AuditOwner | undefined {
  if (noted) return noted;
  if (who.kind === "agent") return { orgId: who.orgId };
  if (who.kind !== "user") return undefined;
  if (who.scope === "system") return {};
  return who.scope === "organization" ? { orgId: who.orgId } : { partnerId: who.partnerId };
}

function actorOf(who: Principal): { type: string; id: string; email?: string | null } {
  if (who.kind === "user") return { type: "user", id: who.userId, email: who.email };
  if (who.kind === "agent") return { type: "agent", id: who.deviceId };
  return { type: "system", id: ZERO_UUID };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function uuidOrZero(id: string | undefined, details: Record<string, unknown>, raw: string): string | null {
  if (id === undefined) return null;
  if (UUID.test(id)) return id.toLowerCase();
  details[raw] = id;
  return ZERO_UUID;
}

/** The second guard behind handlers that know better: no key of this name is ever stored (contract 4 §0). */
const secretName = /secret|password|token|hash|key$/i;

export function safe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(safe);
  if (value === null || typeof value !== "object") return typeof value === "string" ? wellFormed(value) : value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([name, field]) =>
          field !== undefined && (name === "keyPrefix" || /keyPrefix$/i.test(name) || !secretName.test(name)),
      )
      .map(([name, field]) => [wellFormed(name), safe(field)]),
  );
}

/** Postgres stores no NUL and canonical text holds no lone surrogate; both become U+FFFD. */
const wellFormed = (text: string): string => text.replaceAll("\u0000", "\uFFFD").toWellFormed();

const clean = (text: string | null, max: number): string | null =>
  text === null ? null : wellFormed(Number.isFinite(max) ? [...text].slice(0, max).join("") : text);

/** Puts entries into the outbox within the caller's transaction; the writer moves them on (contract 4 §8.1). */
export async function enqueueAudit(tx: Tx, entries: readonly AuditContent[]): Promise<void> {
  if (entries.length === 0) return;
  await tx
    .insertInto("auditOutbox")
    .values(
      entries.map((content) => ({
        auditId: content.id,
        orgId: content.orgId,
        partnerId: content.partnerId,
        entry: canonicalContent(content),
      })),
    )
    .execute();
}
