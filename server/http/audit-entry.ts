import type { AnyEndpoint } from "#contract/core/endpoint";
import type { AuditAction } from "#contract/core/generated/audit-actions";
import type { Principal } from "#server/access/principal";
import { type AuditContent, ZERO_UUID } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
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

  /** The entries of this call; none if no tenant can be named for it (docs/audit.md, "Chain of an entry"). */
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
  const through = note.actor ? {} : throughWhat(scene.who);
  return auditEntry(
    {
      ...owner,
      actorType: actor.type,
      actorId: actor.id,
      actorEmail: actor.email ?? null,
      action: note.action,
      resourceType: note.resource?.type ?? note.action.slice(0, note.action.indexOf(".")),
      resourceId: note.resource?.id ?? null,
      resourceName: note.resource?.name ?? null,
      details: {
        ...through,
        ...note.details,
        ...placed(note, scene.who),
        ...outcome.details,
        requestId: scene.requestId,
      },
      ipAddress: scene.ip,
      userAgent: scene.userAgent,
      result: outcome.result === "success" ? (note.result ?? outcome.result) : outcome.result,
      errorMessage: outcome.errorMessage,
    },
    { now: new Date(scene.at), id: scene.newId() },
  );
}

/** Types of what stands where its device does. */
const ofDevices: readonly (string | undefined)[] = ["device", "elevation_request"];

/**
 * An empty list: the organization as a whole. What an agent does is about its own device. What hangs on a device that
 * stands nowhere is placed nowhere.
 */
function placed(note: AuditNote, who: Principal): { siteIds?: string[] } {
  const own = who.kind === "agent" && note.siteIds === undefined;
  const siteIds = own ? [who.siteId] : note.siteIds;
  if (siteIds === undefined) return {};
  const known = [...new Set(siteIds.filter((id) => id !== null))].sort();
  return known.length === 0 && (own || ofDevices.includes(note.resource?.type)) ? {} : { siteIds: known };
}

/** Organization, else partner, else system for callers of system scope; entries without a tenant are dropped. */
function ownerOf(noted: AuditOwner | undefined, who: Principal): AuditOwner | undefined {
  if (noted) return noted;
  if (who.kind === "agent") return { orgId: who.orgId };
  if (who.kind === "apiKey") return { orgId: who.orgId };
  if (who.kind === "partnerKey") return { partnerId: who.partnerId };
  if (who.kind !== "user") return undefined;
  if (who.scope === "system") return {};
  return who.scope === "organization" ? { orgId: who.orgId } : { partnerId: who.partnerId };
}

/** The session or principal behind the actor, and what a person was called then: a new name rewrites no history. */
function throughWhat(who: Principal): Record<string, unknown> {
  if (who.kind === "user") return { sessionId: who.sessionId, actorName: who.name };
  if (who.kind === "partnerKey") return { partnerServicePrincipalId: who.principalId };
  return who.kind === "apiKey" && who.servicePrincipalId ? { servicePrincipalId: who.servicePrincipalId } : {};
}

function actorOf(who: Principal): { type: string; id: string; email?: string | null } {
  if (who.kind === "user") return { type: "user", id: who.userId, email: who.email };
  if (who.kind === "apiKey" || who.kind === "partnerKey") return { type: "api_key", id: who.keyId };
  if (who.kind === "agent") return { type: "agent", id: who.deviceId };
  return { type: "system", id: ZERO_UUID };
}
