import type { EndpointTypes } from "#contract/core/endpoint";
import type { EventKind } from "#contract/core/events";
import type { AuditAction } from "#contract/core/generated/audit-actions";
import type { Principal, UserPrincipal } from "#server/access/principal";
import type { Config } from "#server/config";
import type { Scope } from "#server/db/scope";
import type { SystemReason } from "#server/db/system-reasons";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Told } from "#server/events/emit";
import type { Clock } from "#server/platform/clock";
import type { Log } from "#server/platform/log";
import type { Random } from "#server/platform/random";
import type { Services } from "#server/services";

/** Which tenant's chain an entry belongs to. */
export interface AuditOwner {
  readonly orgId?: string | null;
  readonly partnerId?: string | null;
}

export interface AuditResource {
  readonly type?: string;
  readonly id: string;
  readonly name?: string | null;
}

/** What a handler adds to the entry that the pipeline writes. */
export interface AuditNote {
  /** Replaces the endpoint's action, such as `user.login.failed` on a refused login. */
  readonly action?: AuditAction;
  readonly resource?: AuditResource;
  /** Chain of the entry; default the caller's tenant (docs/audit.md, "Chain of an entry"). */
  readonly owner?: AuditOwner;
  /**
   * Context; secrets never belong here and are dropped by name as a second guard. Nor do `siteIds`, which decide who reads
   * the entry: those of the subject stand below, others under another name.
   */
  readonly details?: Record<string, unknown> & { readonly siteIds?: never };
  /** For a change that was made because the call is refused, such as ending a stolen session; default success. */
  readonly result?: "failure" | "denied";
  /**
   * Sites of the subject as of now: null = the whole organization, both of a move. Readers confined to sites see the
   * entry if all of them are theirs, and without this not at all (docs/audit.md, "Who reads which entries").
   */
  readonly siteIds?: readonly (string | null)[];
  /** Where the caller is not the signed-in principal: the person signing in, the device enrolling. */
  readonly actor?: {
    readonly type: "user" | "agent" | "api_key" | "ai_agent" | "system";
    readonly id: string;
    readonly email?: string | null;
  };
}

export interface AuditPen {
  /** Adds to the entry of this call; later notes win field by field, details are merged. */
  note(note: AuditNote): void;
  /** A further entry, written in the same transaction. */
  also(note: AuditNote & { readonly action: AuditAction }): void;
  /** This call turned out to change nothing that is audited. */
  skip(): void;
}

/** The one object that a handler gets. */
export interface Call<T extends EndpointTypes = EndpointTypes> {
  readonly who: Principal;
  readonly params: T["params"];
  readonly query: T["query"];
  readonly body: T["body"];
  /** As it was sent, before validation left anything out. */
  readonly sentBody: unknown;
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly config: Config;
  readonly services: Services;
  readonly scope: Scope;
  readonly audit: AuditPen;
  /** Scoped reads. Writing takes `transaction`. */
  readonly db: Reader;
  /** Scoped writes; the audit entry and the idempotency record commit with them. Joins an open one. */
  transaction<R>(work: (tx: Tx) => Promise<R>): Promise<R>;
  /** Unscoped work for one of the listed reasons; joins an open transaction, else opens its own without audit. */
  asSystem<R>(reason: SystemReason, work: (tx: Tx) => Promise<R>): Promise<R>;
  readAsSystem<R>(reason: SystemReason, work: (db: Reader) => Promise<R>): Promise<R>;
  /**
   * Tells of an event that the endpoint declares, inside the transaction of the change and while the row of its subject
   * is held: it commits with the change or not at all (docs/platform.md, "Events").
   */
  emit<K extends EventKind>(kind: K, told: Told<K>): void;
  /** Aborts when the caller goes away before the answer. */
  readonly gone: AbortSignal;
  /** A create found its row there already: it answers with the endpoint's `foundStatus`. */
  foundIt(): void;
  /** One of the endpoint's `otherStatuses`. */
  answerWith(status: 200 | 202 | 207): void;
  /** Runs when what this call wrote is durable. */
  afterCommit(step: () => void): void;
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
  /** Where this server is reached, for links and agents. */
  readonly serverUrl: string;
}

/** A call whose caller is known to be a signed-in user. */
export type UserCall<T extends EndpointTypes = EndpointTypes> = Omit<Call<T>, "who"> & { readonly who: UserPrincipal };

export { user } from "#server/access/principal";
