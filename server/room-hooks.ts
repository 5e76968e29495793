import type { CommandType } from "#contract/core/command-types";
import type { AuditAction } from "#contract/core/generated/audit-actions";
import type { ChainRef } from "./audit/chain.ts";
import type { Db, Store } from "./db/dialect/index.ts";
import type { Tx } from "./db/unit-of-work.ts";
import type { Clock } from "./platform/clock.ts";
import type { Log } from "./platform/log.ts";
import type { Random } from "./platform/random.ts";
import type { Vault } from "./platform/vault.ts";

/** What every event brings: the transaction it happens in, under the handle of its owner, and its moment. */
interface Happened {
  readonly tx: Tx;
  readonly now: string;
}

export interface OrganizationEvent extends Happened {
  readonly orgId: string;
}

export interface PartnerEvent extends Happened {
  readonly partnerId: string;
}

export interface SiteEvent extends Happened {
  readonly siteId: string;
  readonly orgId: string;
}

export interface SiteRemovedEvent extends SiteEvent {
  /** An entry of its own for a row that goes with the site, written in the same transaction. */
  record(entry: RemovedRow): void;
}

interface RemovedRow {
  readonly action: AuditAction;
  readonly resource: { readonly id: string; readonly name: string };
  readonly owner: { readonly orgId: string };
  readonly siteIds: readonly string[];
}

/** A membership that is gone, accepted or not; a partner's own one names no organization. */
export interface UserEvent extends Happened {
  readonly userId: string;
  readonly membershipId: string;
  readonly partnerId: string;
  readonly orgId: string | null;
  /** It was the last, so the account is closed with it. */
  readonly accountClosed: boolean;
}

/** What a room may need to act on an event. */
export interface EventServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly vault: Vault;
  readonly hooks: Hooks;
}

/** The transaction is unscoped: what hangs on a device may belong to people or to another organization. */
export interface DeviceEvent extends Happened {
  readonly services: EventServices;
  readonly deviceId: string;
  readonly orgId: string;
}

/** Of a device that is about to have another organization. */
export interface DeviceMovedEvent extends DeviceEvent {
  readonly toOrgId: string;
}

/** Of a device that stands at another site of its organization now; the handle is that of whoever moved it. */
export interface DeviceResitedEvent extends Happened {
  readonly services: EventServices;
  readonly deviceId: string;
  readonly orgId: string;
}

/** A command that has reached its end; the transaction is unscoped. */
export interface CommandEvent extends Happened {
  readonly services: EventServices;
  readonly command: {
    readonly id: string;
    readonly orgId: string;
    /** Null: the device has left the organization. */
    readonly deviceId: string | null;
    readonly hostname: string;
    readonly type: CommandType;
    readonly payload: Readonly<Record<string, unknown>>;
    readonly originKind: string | null;
    readonly originId: string | null;
    readonly status: string;
    readonly result: Readonly<Record<string, unknown>>;
  };
}

export interface CommandSentEvent extends Happened {
  readonly deviceId: string;
  readonly type: string;
}

/** Somebody asks an agent live; the transaction is unscoped. */
export interface LiveCallEvent extends Happened {
  readonly orgId: string;
  readonly deviceId: string;
  readonly type: CommandType;
}

/** Who sends a request, as far as nothing is looked up. */
export interface Asking {
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** A token that a device has replaced is used; the transaction is unscoped. */
export interface ReplacedTokenEvent extends Happened {
  readonly services: EventServices;
  readonly device: {
    readonly id: string;
    readonly orgId: string;
    readonly siteId: string | null;
    readonly hostname: string;
    readonly displayName: string | null;
  };
  readonly asking: Asking;
}

/** Found broken, for the first time or still on another day, or in order again; the transaction is unscoped. */
export interface ChainBrokenEvent extends Happened {
  readonly services: EventServices;
  readonly chain: ChainRef;
}

/** Why, as ended sessions keep it. */
interface Closing {
  readonly reason: string;
}

/** Of a key that was presented; the handle is unscoped, and each statement counts by itself. */
interface KeyEvent {
  readonly db: Db;
  readonly kind: "apiKey" | "partnerKey";
  readonly keyId: string;
  /** The material that was presented: what a rotation replaced meanwhile is no longer this key. */
  readonly keyHash: string;
}

/** Uses since the last event of this key. */
export interface KeyUsedEvent extends KeyEvent {
  readonly count: number;
  readonly lastUsedAt: string;
}

/** Presented past its end. */
export interface KeyExpiredEvent extends KeyEvent {
  readonly now: string;
}

/** A webhook that failed by itself, not by a person's hand; the transaction is unscoped. */
export interface WebhookFailedEvent extends Happened {
  readonly services: EventServices;
  readonly webhookId: string;
  readonly name: string;
  readonly orgId: string;
  readonly createdBy: string | null;
  readonly reason: "failed deliveries" | "waiting deliveries";
}

/**
 * What an event means for a room is said in that room: a file `hooks.ts` exports `hooks: RoomHooks`, which a generated
 * registry collects. The owner of the event calls them through `services.hooks` inside its transaction, so everything
 * they do commits with the event or not at all. What they return the owner may note in the event's audit entry.
 */
export interface RoomHooks {
  readonly onOrganizationCreated?: Hook<OrganizationEvent>;
  /** Deleted (docs/tenancy.md, "Deleting an organization"). */
  readonly onOrganizationClosed?: Hook<OrganizationEvent & Closing>;
  /** People and keys are refused while the status lasts (docs/tenancy.md, "Organization status"). */
  readonly onOrganizationChurned?: Hook<OrganizationEvent>;
  /** Deleted; its organizations stay (docs/tenancy.md, "Deleting a partner"). */
  readonly onPartnerClosed?: Hook<PartnerEvent & Closing>;
  /** Before anything leaves the site: what is about devices that are out of service there goes first. */
  readonly onSiteClearing?: Hook<SiteEvent>;
  /** Before its row goes, and with it what the database cascades. */
  readonly onSiteRemoved?: Hook<SiteRemovedEvent>;
  /** Left a tenant, or declined its invitation (docs/people.md, "Own memberships"). */
  readonly onUserRemoved?: Hook<UserEvent>;
  /** Whoever may verify it is told at once and daily (docs/audit.md, "Verification"). */
  readonly onChainBroken?: Hook<ChainBrokenEvent>;
  /** A chain that was found broken passed a verification. */
  readonly onChainHolds?: Hook<ChainBrokenEvent>;
  /** Its receiver is told nothing more until somebody arms it (docs/integrations.md, "Deliveries"). */
  readonly onWebhookFailed?: Hook<WebhookFailedEvent>;
  /** It is being wound down: its people and keys lose access, its agents are told to uninstall. */
  readonly onOrganizationDraining?: Hook<OrganizationEvent & { readonly services: EventServices }>;
  /** Quarantined or decommissioned: nothing reaches it any more, and nothing waits for it. */
  readonly onDeviceGone?: Hook<DeviceEvent & Closing>;
  /** Before its rows go to another organization: what happened under the old one stays there. */
  readonly onDeviceMoved?: Hook<DeviceMovedEvent>;
  readonly onDeviceResited?: Hook<DeviceResitedEvent>;
  /** Whatever its end: with a failure unless it is completed. Each room looks at its own types. */
  readonly onCommandEnded?: Hook<CommandEvent>;
  /** Completed, after the server had given it up. */
  readonly onLateResult?: Hook<CommandEvent>;
  /** A claim has handed them out. */
  readonly onCommandSent?: Hook<CommandSentEvent>;
  /** A room that does not allow it throws the refusal. */
  readonly onLiveCall?: Hook<LiveCallEvent>;
  /** At most once a day and device; the caller is refused. */
  readonly onReplacedToken?: Hook<ReplacedTokenEvent>;
  readonly onKeyUsed?: Hook<KeyUsedEvent>;
  readonly onKeyExpired?: Hook<KeyExpiredEvent>;
}

type Details = Record<string, unknown>;
type Hook<E> = (event: E) => Promise<Details> | Promise<void>;

/** Every event with all rooms behind it. */
export type Hooks = { readonly [E in keyof RoomHooks]-?: JoinedHook<RoomHooks[E]> };
type JoinedHook<H> = NonNullable<H> extends Hook<infer E> ? (event: E) => Promise<Details> : never;

/** One after the other, in the order of the rooms: within a transaction they could not run side by side. */
export function joinHooks(rooms: readonly RoomHooks[]): Hooks {
  const joined =
    <E>(pick: (room: RoomHooks) => Hook<E> | undefined) =>
    async (event: E): Promise<Details> => {
      const details: Details = {};
      for (const room of rooms) Object.assign(details, await pick(room)?.(event));
      return details;
    };
  return {
    onOrganizationCreated: joined((room) => room.onOrganizationCreated),
    onOrganizationClosed: joined((room) => room.onOrganizationClosed),
    onOrganizationChurned: joined((room) => room.onOrganizationChurned),
    onPartnerClosed: joined((room) => room.onPartnerClosed),
    onSiteClearing: joined((room) => room.onSiteClearing),
    onSiteRemoved: joined((room) => room.onSiteRemoved),
    onUserRemoved: joined((room) => room.onUserRemoved),
    onChainBroken: joined((room) => room.onChainBroken),
    onChainHolds: joined((room) => room.onChainHolds),
    onWebhookFailed: joined((room) => room.onWebhookFailed),
    onOrganizationDraining: joined((room) => room.onOrganizationDraining),
    onDeviceGone: joined((room) => room.onDeviceGone),
    onDeviceMoved: joined((room) => room.onDeviceMoved),
    onDeviceResited: joined((room) => room.onDeviceResited),
    onCommandEnded: joined((room) => room.onCommandEnded),
    onLateResult: joined((room) => room.onLateResult),
    onCommandSent: joined((room) => room.onCommandSent),
    onLiveCall: joined((room) => room.onLiveCall),
    onReplacedToken: joined((room) => room.onReplacedToken),
    onKeyUsed: joined((room) => room.onKeyUsed),
    onKeyExpired: joined((room) => room.onKeyExpired),
  };
}
